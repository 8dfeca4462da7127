"""A pool of daemon threads, as many as calls are in flight, that hands results back to the event loop."""

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import anyio
import anyio.lowlevel


class _Job:
    __slots__ = ("call", "done", "error", "result")

    def __init__(self, call: Callable[[], Any]) -> None:
        self.call = call
        self.done = anyio.Event()
        self.result: Any = None
        self.error: BaseException | None = None


class ThreadPool:
    """Runs blocking callables; grows to the number in flight, so that a hung call never blocks the others.

    The default pools of asyncio and anyio are capped below a run's concurrency, and their threads keep the process
    from ending while a call hangs; these are daemons.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._idle = 0
        self._threads = 0
        self._call_soon = _scheduler()

    async def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return the function's result; when cancelled, stop waiting and leave the thread to its end."""
        job = _Job(lambda: function(*args))
        if self._idle > 0:
            self._idle -= 1
        else:
            self._threads += 1
            threading.Thread(target=self._work, name=f"pipeline-{self._threads}", daemon=True).start()
        self._jobs.put(job)
        await job.done.wait()
        if job.error is not None:
            raise job.error
        return job.result

    def close(self) -> None:
        """Let idle threads end."""
        for _ in range(self._threads):
            self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job.result = job.call()
            except BaseException as error:  # noqa: BLE001 - handed over to the caller
                job.error = error
            try:
                self._call_soon(self._finish, job)
            except RuntimeError:
                return  # the loop has ended; nobody waits for this result

    def _finish(self, job: _Job) -> None:
        self._idle += 1
        job.done.set()


def _scheduler() -> Callable[..., Any]:
    """Return the running loop's thread-safe `call soon`, on asyncio or trio."""
    token: Any = anyio.lowlevel.current_token().native_token
    call_soon: Callable[..., Any] = getattr(token, "call_soon_threadsafe", None) or token.run_sync_soon
    return call_soon

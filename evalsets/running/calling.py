"""One call of a pipeline or judge: in place, awaited or on a thread, timed out, retried when the fault may pass."""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from evalsets.pipelines.faults import CallFailedError, TransientCallError, classify
from evalsets.running.budget import Budget
from evalsets.running.pace import Pace
from evalsets.running.settings import RunSettings
from evalsets.running.thread_pool import ThreadPool
from evalsets.running.watchdog import Watched

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 30.0


class Outcome(NamedTuple):
    """How a call ended: ok with its value, error or timeout with the reason."""

    status: str
    value: Any = None
    error: str = ""
    raw: str = ""
    seconds: float = 0.0
    attempts: int = 1


class PlannedCall(NamedTuple):
    """One call to make. `style` is inline, async or thread; `pace` is that of the endpoint it goes to."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    style: str
    pace: Pace


class BudgetExhaustedError(Exception):
    """No further call may start; the message says why."""


class Caller:
    """Makes calls under one run's timeouts, retries and budget. One object a run."""

    def __init__(self, settings: RunSettings, budget: Budget, threads: ThreadPool) -> None:
        self._timeout_s = settings.call_timeout_s
        self._retries = settings.retries
        self._retry_total_s = settings.retry_total_s
        self._budget = budget
        self._threads = threads

    async def call(self, planned: PlannedCall, watched: Watched) -> Outcome:
        """Return how the call ended; never raises for a failure of the call itself.

        A call that takes too long is cancelled from outside, by the watchdog. Raises BudgetExhaustedError when no call
        may start.
        """
        try:
            value = await self._tried(planned, watched)
        except CallFailedError as failure:
            tried = f" (tried {watched.attempts} times)" if watched.attempts > 1 else ""
            return Outcome("error", None, f"{failure}{tried}", failure.raw, watched.seconds, watched.attempts)
        return Outcome("ok", value, "", "", watched.seconds, watched.attempts)

    async def _tried(self, planned: PlannedCall, watched: Watched) -> Any:
        """Try once without the machinery of retries, which costs more than all else around a call."""
        try:
            return await self._attempt(planned, watched)
        except TransientCallError as failure:
            if self._retries == 0:
                raise
            return await self._tried_again(planned, watched, failure)

    async def _tried_again(self, planned: PlannedCall, watched: Watched, first: TransientCallError) -> Any:
        import stamina

        failed: TransientCallError | None = first
        async for attempt in stamina.retry_context(
            on=_backoff_or_refusal(self._retry_total_s),
            attempts=self._retries + 1,
            timeout=self._retry_total_s,
            wait_initial=FIRST_WAIT_S,
            wait_max=LONGEST_WAIT_S,
            wait_jitter=FIRST_WAIT_S,
        ):
            with attempt:
                if failed is not None:
                    failure, failed = failed, None
                    raise failure
                return await self._attempt(planned, watched)
        raise first

    async def _attempt(self, planned: PlannedCall, watched: Watched) -> Any:
        function, args, style, pace = planned
        async with pace as turn_at:
            if reason := self._budget.exhausted():
                raise BudgetExhaustedError(reason)
            self._budget.calls += 1
            watched.begin_attempt(self._timeout_s)
            try:
                if style == "async":
                    value = await function(*args)
                elif style == "inline":
                    value = function(*args)
                else:
                    value = await self._on_thread(function, args)
            except Exception as error:
                failure = classify(error)
                if isinstance(failure, TransientCallError) and failure.is_rate_limit:
                    pace.rate_limited(started_at=turn_at, retry_after_s=failure.retry_after_s)
                raise failure from error
            finally:
                watched.end_attempt()
            pace.succeeded()
            return value

    async def _on_thread(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Call on a thread; a plain function that hands back an awaitable is awaited here."""
        value = await self._threads.call(function, *args)
        return await value if inspect.isawaitable(value) else value


def _backoff_or_refusal(longest_wait_s: float) -> Callable[[Exception], float | bool]:
    """Return stamina's hook: no retry unless the fault may pass, and never sooner than the other side asked for."""

    def hook(error: Exception) -> float | bool:
        if not isinstance(error, TransientCallError):
            return False
        if error.retry_after_s is None:
            return True
        return error.retry_after_s if error.retry_after_s <= longest_wait_s else False

    return hook

"""The workers of a run: each takes the next item, makes its calls in order and journals every finished one."""

import signal
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import anyio
import anyio.lowlevel
from anyio.abc import TaskStatus

from evalsets.items import Item
from evalsets.pipelines.base import Asked, Retrieved
from evalsets.pipelines.faults import CallFailedError
from evalsets.pipelines.python_object import is_async
from evalsets.running.budget import Budget
from evalsets.running.call_cache import CallCache, open_cache
from evalsets.running.call_values import case_of, decode, encode, mix_in_planted, shaped
from evalsets.running.calling import BudgetExhaustedError, Caller, Outcome, PlannedCall
from evalsets.running.journal import CallKey, CallRecord, Journal, JournalIndex
from evalsets.running.pace import Pace
from evalsets.running.plan import JUDGE_STEP, RunPlan
from evalsets.running.thread_pool import ThreadPool
from evalsets.running.watchdog import Watchdog, Watched


class Progress(NamedTuple):
    """How far a run has come; an item counts once a repeat."""

    done: int
    total: int
    failed: int
    """Items that ended in an error or timeout."""
    calls: int
    reused: int
    """Calls taken from the journal or the cache."""
    slowed: int
    """How often a rate limit was answered by fewer calls at once."""
    stopping: str
    """Why no further item is started, or empty."""


Observer = Callable[[Progress], None]


class _Step(NamedTuple):
    """How one step is called: its function, its style (inline, async or thread) and the pace of its endpoint."""

    call: Callable[..., Any]
    style: str
    pace: Pace


class _Stopped(Exception):  # noqa: N818 - not an error: unwinds one item when the run is to end
    pass


class Workers:
    """Carries out the calls of one plan."""

    def __init__(
        self,
        plan: RunPlan,
        journal: Journal,
        known: JournalIndex,
        *,
        retry_failed: bool = False,
        observer: Observer | None = None,
    ) -> None:
        self._plan = plan
        self._settings = plan.settings
        self._journal = journal
        self._known = known
        self._retry_failed = retry_failed
        self._observer = observer
        self._budget = Budget(plan.settings)
        self._watchdog = Watchdog(
            call_timeout_s=plan.settings.call_timeout_s, item_timeout_s=plan.settings.item_timeout_s
        )
        self._cache: CallCache | None = open_cache(plan.settings)
        self._status = "complete"
        self._reason = ""
        self._total = len(plan.eval_set.items) * plan.settings.repeat
        self._done = self._failed = self._reused = 0
        self._steps: dict[str, _Step] = {}
        self._started_at = time.monotonic()

    async def carry_out(self, *, takes_signals: bool) -> None:
        """Run every item; return when all are done or the run was stopped."""
        threads = ThreadPool()
        self._caller = Caller(self._settings, self._budget, threads)
        self._steps = self._prepared_steps()
        self._journal.note("started", at=round(time.time(), 3), plan=self._plan.configs)
        jobs = ((item, repeat) for repeat in range(self._settings.repeat) for item in self._plan.eval_set.items)
        try:
            async with anyio.create_task_group() as watch:
                async with anyio.create_task_group() as workers:
                    if takes_signals:
                        await watch.start(self._watch_signals, workers.cancel_scope)
                    watch.start_soon(self._watchdog.keep_watch)
                    for _ in range(min(self._settings.concurrency, self._total)):
                        workers.start_soon(self._work, jobs)
                watch.cancel_scope.cancel()
        except BaseException:
            self.stop("interrupted", "the run was cancelled")
            raise
        finally:
            threads.close()

    def stop(self, status: str, reason: str) -> None:
        """Start no further call; the first reason stands."""
        if not self._reason:
            self._status, self._reason = status, reason

    def note_the_end(self) -> None:
        """Write how the run ended into the journal, and close the cache."""
        if self._cache is not None:
            self._cache.close()
        slowed = sum(pace.slowed for pace in {step.pace for step in self._steps.values()})
        self._journal.note(
            "ended",
            at=round(time.time(), 3),
            wall_s=round(time.monotonic() - self._started_at, 3),
            status=self._status,
            reason=self._reason,
            slowed=slowed,
        )

    def _prepared_steps(self) -> dict[str, _Step]:
        pipeline, judge = self._plan.pipeline, self._plan.judge
        calls_per_s = self._settings.calls_per_s
        pace = Pace(self._settings.concurrency, calls_per_s=calls_per_s)
        steps = {
            name: _Step(function, _style(function, is_inline=pipeline.is_inline), pace)
            for name in pipeline.steps
            if (function := getattr(pipeline, name))
        }
        judge_pace = Pace(self._settings.concurrency, calls_per_s=calls_per_s)
        style = _style(judge.judge, is_inline=getattr(judge, "is_inline", False))
        return steps | {JUDGE_STEP: _Step(judge.judge, style, judge_pace)}

    async def _watch_signals(
        self, workers: anyio.CancelScope, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        """At the first signal let the calls under way end; at the second drop them."""
        try:
            with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
                task_status.started()
                async for _ in signals:
                    if self._reason:
                        workers.cancel()
                    self.stop("interrupted", "it was interrupted")
                    self._report_progress()
        except NotImplementedError:  # no such receiver on Windows: there Ctrl-C ends the run at once
            task_status.started()

    async def _work(self, jobs: Iterator[tuple[Item, int]]) -> None:
        for item, repeat in jobs:
            if self._reason:
                return
            try:
                await self._run_item(item, repeat)
            except _Stopped:
                return
            self._done += 1
            self._report_progress()
            if self._plan.pipeline.is_inline:
                await anyio.lowlevel.checkpoint()  # nothing else would let a signal or the watchdog in

    async def _run_item(self, item: Item, repeat: int) -> None:
        with anyio.CancelScope() as scope:
            watched = self._watchdog.watch(scope)
            try:
                ended_well = await self._make_calls(item, repeat, watched)
            finally:
                self._watchdog.release(watched)
        if scope.cancelled_caught:
            key = self._plan.key(item, watched.step, repeat)
            self._journal.append(
                CallRecord(key, "timeout", None, watched.reason, "", watched.seconds, max(1, watched.attempts))
            )
            ended_well = False
        self._failed += not ended_well

    async def _make_calls(self, item: Item, repeat: int, watched: Watched) -> bool:
        retrieved: Retrieved | None = None
        answer = None
        for name in self._plan.pipeline.steps:
            given: Any = self._settings.k if name != "answer" else retrieved
            outcome = await self._step(item, repeat, name, given, watched)
            if outcome.status != "ok":
                return False
            match outcome.value:
                case Asked():
                    answer, retrieved = outcome.value
                case Retrieved():
                    retrieved = outcome.value
                case _:
                    answer = outcome.value
        texts = self._plan.texts_for(retrieved.chunks) if retrieved else None
        judged = await self._step(item, repeat, JUDGE_STEP, case_of(item, retrieved, answer, texts=texts), watched)
        return judged.status == "ok"

    async def _step(self, item: Item, repeat: int, name: str, given: Any, watched: Watched) -> Outcome:
        """Return how one step ended, taken from the journal or the cache when it was made before."""
        key = self._plan.key(item, name, repeat)
        watched.next_step(name)
        if (made := self._made_before(key)) is not None:
            self._reused += 1
            await anyio.lowlevel.checkpoint()
            return Outcome(made.status, decode(name, made.value) if made.is_ok else None)
        if self._reason:
            raise _Stopped
        outcome = await self._called(item, name, given, watched)
        record, outcome = _recorded(key, outcome)
        self._journal.append(record)
        if self._cache is not None and record.is_ok:
            self._cache.put(record)
        self._budget.spend(outcome.value)
        return outcome

    async def _called(self, item: Item, name: str, given: Any, watched: Watched) -> Outcome:
        step = self._steps[name]
        try:
            args = _arguments(name, item, given)
            return await self._caller.call(PlannedCall(step.call, args, step.style, step.pace), watched)
        except CallFailedError as fault:
            return Outcome("error", error=str(fault))
        except BudgetExhaustedError as reason:
            self.stop("incomplete", str(reason))
            raise _Stopped from reason

    def _made_before(self, key: CallKey) -> CallRecord | None:
        record = self._known.get(key)
        if record is not None and (record.is_ok or not self._retry_failed):
            return record
        if self._cache is not None and (cached := self._cache.get(key)) is not None:
            self._journal.append(cached)
            return cached
        return None

    def _report_progress(self) -> None:
        if self._observer is not None:
            slowed = sum(pace.slowed for pace in {step.pace for step in self._steps.values()})
            self._observer(
                Progress(self._done, self._total, self._failed, self._budget.calls, self._reused, slowed, self._reason)
            )


def _arguments(name: str, item: Item, given: Any) -> tuple[Any, ...]:
    if name == JUDGE_STEP:
        return (given,)
    return (item, mix_in_planted(item, given)) if name == "answer" else (item, given)


def _style(function: Callable[..., Any], *, is_inline: bool) -> str:
    if is_async(function):
        return "async"
    return "inline" if is_inline else "thread"


def _recorded(key: CallKey, outcome: Outcome) -> tuple[CallRecord, Outcome]:
    """Return the call as it is journalled, and what the next step is given: a value of the wrong shape is an error."""
    if outcome.status != "ok":
        record = CallRecord(key, outcome.status, None, outcome.error, outcome.raw, outcome.seconds, outcome.attempts)
        return record, outcome
    try:
        value = shaped(key.step, outcome.value)
    except CallFailedError as fault:
        failed = outcome._replace(status="error", value=None, error=str(fault))
        return _recorded(key, failed)
    record = CallRecord(key, "ok", encode(value), "", "", outcome.seconds, outcome.attempts)
    return record, outcome._replace(value=value)

"""Run a pipeline and a judge over an eval set: a pool of workers, every finished call journalled, then the report."""

import asyncio
import contextlib
import tempfile
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import anyio

from evalsets.errors import BadInputError
from evalsets.eval_set import EvalSet
from evalsets.judges.base import Judge
from evalsets.pipelines.base import Pipeline
from evalsets.report import Report
from evalsets.running.journal import Journal, JournalIndex, refuse_if_held
from evalsets.running.plan import CorpusState, RunPlan
from evalsets.running.report_building import build_report
from evalsets.running.settings import RunSettings
from evalsets.running.workers import Observer, Progress, Workers


def run(  # noqa: PLR0913 - the run and how to carry it out
    eval_set: EvalSet,
    pipeline: Pipeline,
    judge: Judge,
    settings: RunSettings | None = None,
    *,
    journal_path: Path | None = None,
    resume: bool = False,
    retry_failed: bool = False,
    observer: Observer | None = None,
    corpus: CorpusState | None = None,
) -> Report:
    """Run every item and return the report; works inside a running event loop (a notebook) too.

    `journal_path` is where finished calls are written (default: a temporary file). With `resume`, calls that stand in
    it are not made again; `retry_failed` makes those again that ended in an error or timeout. A run that is stopped
    by Ctrl-C or by its budget returns the report of what was finished; its `status` says so. `corpus` says what
    became of the gold chunks, when that was looked at: a gate and the diagnosis of failures read it.
    """
    task = partial(
        run_async,
        eval_set,
        pipeline,
        judge,
        settings,
        journal_path=journal_path,
        resume=resume,
        retry_failed=retry_failed,
        observer=observer,
        corpus=corpus,
    )
    if _is_loop_running():
        return _run_in_thread(task)
    takes_signals = threading.current_thread() is threading.main_thread()
    return anyio.run(partial(task, takes_signals=takes_signals))


async def run_async(  # noqa: PLR0913 - the run and how to carry it out
    eval_set: EvalSet,
    pipeline: Pipeline,
    judge: Judge,
    settings: RunSettings | None = None,
    *,
    journal_path: Path | None = None,
    resume: bool = False,
    retry_failed: bool = False,
    observer: Observer | None = None,
    corpus: CorpusState | None = None,
    takes_signals: bool = False,
) -> Report:
    """Run every item and return the report; see `run`. With `takes_signals`, SIGINT and SIGTERM stop it cleanly."""
    if not eval_set.items:
        raise BadInputError(f"the set {eval_set.name!r} has no items; there is nothing to score.")
    plan = RunPlan(eval_set, pipeline, judge, settings or RunSettings(), corpus=corpus)
    with _journal_at(journal_path) as path:
        if not resume:
            _set_aside(path)
        known = JournalIndex(path)
        journal = Journal(path)
        workers = Workers(plan, journal, known, retry_failed=retry_failed, observer=observer)
        try:
            await workers.carry_out(takes_signals=takes_signals)
        finally:
            workers.note_the_end()
            journal.close()
            known.close()
            with anyio.CancelScope(shield=True):
                await pipeline.close()
        return build_report(plan, path)


@contextmanager
def _journal_at(path: Path | None) -> Iterator[Path]:
    if path is not None:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="errata-run-") as folder:
        yield Path(folder) / "journal.jsonl"


def _set_aside(path: Path) -> None:
    """Keep an earlier journal beside the new one: its calls may have been paid for."""
    refuse_if_held(path)
    if path.is_file() and path.stat().st_size:
        path.replace(path.with_name(f"{path.stem}.previous{path.suffix}"))


def _is_loop_running() -> bool:
    with contextlib.suppress(RuntimeError):
        return asyncio.get_running_loop().is_running()
    return False


def _run_in_thread(task: Callable[[], Awaitable[Report]]) -> Report:
    """Run on a loop of its own in another thread, since a running loop cannot be entered a second time."""
    outcome: list[Report | BaseException] = []

    def work() -> None:
        try:
            outcome.append(anyio.run(task))
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            outcome.append(error)

    thread = threading.Thread(target=work, name="errata-run")
    thread.start()
    thread.join()
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


__all__ = ["CorpusState", "Observer", "Progress", "RunSettings", "run", "run_async"]

"""Looks at the held-out items of a set, in aggregates, written into its ledger: beside a run, or by themselves."""

from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from curation_app.service.running import (
    RunRequest,
    RunResult,
    carry_out,
    judge_of,
    pipeline_of,
    workspace_or_none,
)
from curation_app.service.set_references import folder_of
from evalsets.errors import BadInputError
from evalsets.eval_set import EvalSet
from evalsets.report import Report
from evalsets.running.runner import Observer, run
from evalsets.sets.folder import SetFolder
from evalsets.sets.holdout_ledger import Look, PartScores, gap_of, judged_gap, read_ledger, record_look


class RunSplit(StrEnum):
    """Which items a run is over; of the held-out ones only aggregates are ever kept."""

    DEV = "dev"
    HOLDOUT = "holdout"
    ALL = "all"


class Looked(NamedTuple):
    """A look, how many there have been, and what the gap means."""

    look: Look
    looks: int
    sentence: str


class SplitResult(NamedTuple):
    """What a run over a split left behind: a report of the dev items, a look at the held-out ones, or both."""

    run: RunResult | None
    looked: Looked | None


class LookRequest(NamedTuple):
    """Who looks, and where the held-out items are when it is not where errata.toml says."""

    by: str
    place: Path | None = None


def carry_out_split(
    request: RunRequest, folder: Path | None, split: RunSplit, asked: LookRequest, observer: Observer | None = None
) -> SplitResult:
    """Run the dev items and write their report, look at the held-out ones, or both; see `RunSplit`.

    The held-out items are not looked at after a run that did not come to its end: its figures would say nothing.
    """
    if split is RunSplit.DEV:
        return SplitResult(carry_out(request, folder, observer), None)
    if split is RunSplit.HOLDOUT:
        return SplitResult(None, look_at_holdout(request, folder, asked, observer))
    target, held = _held_out(request, folder, asked)
    done = carry_out(request, folder, observer)
    if done.report.status != "complete":
        return SplitResult(done, None)
    return SplitResult(done, _record(target, done.report, _scores(held, request, folder, observer), held, asked))


def look_at_holdout(
    request: RunRequest, folder: Path | None, asked: LookRequest, observer: Observer | None = None
) -> Looked:
    """Run a pipeline on both parts of a set, keep nothing of the held-out items but aggregates, and record the look."""
    target, held = _held_out(request, folder, asked)
    dev, holdout = (_scores(part, request, folder, observer) for part in (target.load_main(), held))
    return _record(target, dev, holdout, held, asked)


def held_out_count(target: SetFolder) -> int:
    """Return how many items the newest version of a set holds out."""
    path = target.head_path
    return _held_out_at(target, path.stat().st_mtime_ns) if path.is_file() else 0


@lru_cache(maxsize=50)
def _held_out_at(target: SetFolder, _mtime_ns: int) -> int:
    holdout = target.load_main().holdout
    return holdout.count if holdout else 0


def _held_out(request: RunRequest, folder: Path | None, asked: LookRequest) -> tuple[SetFolder, EvalSet]:
    """Return the set's folder and its held-out part; raises before anything is run when there is none to look at."""
    if "@" in request.set_ref or request.set_ref.isdigit():
        raise BadInputError(f"{request.set_ref!r}: held-out items are looked at with the newest version of a set only.")
    target = folder_of(request.set_ref, folder)
    target = target._replace(holdout_place=asked.place) if asked.place else target
    parts = target.load_parts()
    if parts.main.holdout is None:
        raise BadInputError(f"{target.name!r} holds nothing out; set holdout_share under [sets] in errata.toml.")
    if parts.holdout is None:
        raise BadInputError(
            f"the held-out items of {target.name!r} are not at {target.holdout_path}; name their file with --holdout."
        )
    return target, parts.holdout


def _record(target: SetFolder, dev: Report, holdout: Report, held: EvalSet, asked: LookRequest) -> Looked:
    gap = gap_of(_part(dev), _part(holdout))
    look = Look(
        looked_at=datetime.now(UTC).replace(microsecond=0),
        looked_by=asked.by,
        version=dev.eval_set.version,
        holdout_hash=held.content_hash,
        pipeline=dev.pipeline.name,
        judge=dev.judge.name,
        dev=_part(dev),
        holdout=_part(holdout),
        gap=gap.gap,
        low=gap.low,
        high=gap.high,
    )
    count = record_look(target.ledger_path, look)
    return Looked(look, count, judged_gap(read_ledger(target.ledger_path)))


def ledger_of(reference: str, folder: Path | None) -> list[Look]:
    """Return every look at the held-out items of a set."""
    return read_ledger(folder_of(reference, folder).ledger_path)


def _scores(eval_set: EvalSet, request: RunRequest, folder: Path | None, observer: Observer | None) -> Report:
    # No journal and no report are written: they would hold the held-out items one by one.
    workspace = workspace_or_none(folder)
    pipeline, judge = pipeline_of(request, workspace), judge_of(request, workspace)
    report = run(eval_set, pipeline, judge, request.settings, observer=observer)
    if report.status != "complete":
        raise BadInputError(f"no look was recorded, since the run did not end well: {report.status_reason}")
    return report


def _part(report: Report) -> PartScores:
    counted = [item for item in report.items if not item.is_known_failing]
    return PartScores(
        items=len(counted),
        passed=sum(item.pass_rate for item in counted),
        retrieval_recall=report.retrieval_recall,
        refusal_rate=report.refusal_rate,
    )

"""What `errata holdout` does: one look at the held-out items, in aggregates, written into the set's ledger."""

from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from curation_app.service.running import RunRequest, judge_of, pipeline_of, workspace_or_none
from curation_app.service.set_references import folder_of
from evalsets.errors import BadInputError
from evalsets.eval_set import EvalSet
from evalsets.holdout_ledger import Look, PartScores, gap_of, judged_gap, read_ledger, record_look
from evalsets.report import Report
from evalsets.runner import run
from evalsets.set_folder import SetFolder


class Looked(NamedTuple):
    """A look, how many there have been, and what the gap means."""

    look: Look
    looks: int
    sentence: str


def look_at_holdout(request: RunRequest, folder: Path | None, *, place: Path | None, by: str) -> Looked:
    """Run a pipeline on both parts of a set, keep nothing of the held-out items but aggregates, and record the look."""
    target = _target(request.set_ref, folder, place)
    parts = target.load_parts()
    if parts.main.holdout is None:
        raise BadInputError(f"{target.name!r} holds nothing out; set holdout_share under [sets] in errata.toml.")
    if parts.holdout is None:
        raise BadInputError(
            f"the held-out items of {target.name!r} are not at {target.holdout_path}; name their file with --holdout."
        )
    held = parts.holdout
    dev, holdout = (_scores(eval_set, request, folder) for eval_set in (parts.main, held))
    gap = gap_of(_part(dev), _part(holdout))
    look = Look(
        looked_at=datetime.now(UTC).replace(microsecond=0),
        looked_by=by,
        version=parts.main.version,
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


def _target(reference: str, folder: Path | None, place: Path | None) -> SetFolder:
    target = folder_of(reference, folder)
    return target._replace(holdout_place=place) if place else target


def _scores(eval_set: EvalSet, request: RunRequest, folder: Path | None) -> Report:
    # No journal and no report are written: they would hold the held-out items one by one.
    workspace = workspace_or_none(folder)
    return run(eval_set, pipeline_of(request, workspace), judge_of(request, workspace), request.settings)


def _part(report: Report) -> PartScores:
    counted = [item for item in report.items if not item.is_known_failing]
    return PartScores(
        items=len(counted),
        passed=sum(item.pass_rate for item in counted),
        retrieval_recall=report.retrieval_recall,
        refusal_rate=report.refusal_rate,
    )

"""The baseline of a set: the report a gate compares with, moved only on purpose, with who and why."""

import getpass
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from evalsets.atomic_files import write_over
from evalsets.errors import BadInputError
from evalsets.git_state import current_author
from evalsets.line_reading import numbered_lines
from evalsets.report import Report

BASELINE_NAME = "baseline.json"
HISTORY_NAME = "baselines.jsonl"


class BaselineMove(NamedTuple):
    """One move of the baseline: when, who, why, and the figures before and after."""

    moved_at: str
    moved_by: str
    reason: str
    figures: dict[str, Any]
    before: dict[str, Any] | None


def set_baseline(report: Report, folder: Path, *, reason: str, moved_by: str = "") -> BaselineMove:
    """Make a report the baseline of the set in `folder` and append who moved it and why to its history."""
    if not reason.strip():
        raise BadInputError("a baseline is moved for a reason; say it with --reason")
    if report.status != "complete":
        raise BadInputError(
            f"the run is {report.status} ({report.status_reason}); only a complete run can be a baseline"
        )
    author = moved_by or current_author() or getpass.getuser()
    path = folder / BASELINE_NAME
    before = _summary(Report.load(path)) if path.is_file() else None
    move = BaselineMove(
        datetime.now(UTC).isoformat(timespec="seconds"), author, reason.strip(), _summary(report), before
    )
    folder.mkdir(parents=True, exist_ok=True)
    write_over(path, report.to_bytes())
    with (folder / HISTORY_NAME).open("a", encoding="utf-8") as history:
        history.write(json.dumps(move._asdict(), ensure_ascii=False, sort_keys=True) + "\n")
    return move


def history(folder: Path) -> list[BaselineMove]:
    """Return the moves of a set's baseline, oldest first."""
    path = folder / HISTORY_NAME
    if not path.is_file():
        return []
    return [BaselineMove(**json.loads(line)) for _, line in numbered_lines(path.read_text(encoding="utf-8"))]


def _summary(report: Report) -> dict[str, Any]:
    return {
        "retrieval_recall": report.retrieval_recall,
        "answer_accuracy": report.answer_accuracy,
        "refusal_rate": report.refusal_rate,
        "by_mode": dict(report.by_mode),
        "set": f"{report.eval_set.name} version {report.eval_set.version}",
        "pipeline": f"{report.pipeline.name} {report.pipeline.fingerprint}",
    }

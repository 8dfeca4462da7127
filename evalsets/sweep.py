"""A sweep: one pipeline run over a grid of its settings, with what was expected written down before the first run."""

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from evalsets.comparison import Change, compare
from evalsets.errors import BadInputError
from evalsets.items import StrictModel
from evalsets.report import Report

PLAN_NAME = "sweep.json"
MOST_RUNS = 200


class SweepRow(StrictModel):
    """One point of the grid: its settings, its report, its figures, and what moved against the first point."""

    settings: dict[str, Any]
    report: str
    """File name of the report, in the sweep's folder."""
    status: str
    retrieval_recall: float | None
    answer_accuracy: float
    refusal_rate: float
    metrics: dict[str, float | None] = Field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    """Recall, accuracy and refusal rate against the first point, each with its paired test."""


class Sweep(StrictModel):
    """What was expected, and what came of it. Without rows, nothing was run yet."""

    set: str
    pipeline: str
    grid: dict[str, tuple[Any, ...]]
    expectation: str = Field(min_length=1)
    written_at: str
    rows: tuple[SweepRow, ...] = ()
    finding: str = ""

    def save(self, folder: Path) -> None:
        """Write the sweep into its folder."""
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n"
        (folder / PLAN_NAME).write_text(text, encoding="utf-8")


RunPoint = Callable[[Mapping[str, Any], Path], Report]
"""Runs the pipeline with these settings, writing report and journal to the path."""


def parse_grid(words: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    """Return the grid of words such as `top_k=1,3,5` and `padding=true,false`; values are JSON, else texts."""
    grid: dict[str, tuple[Any, ...]] = {}
    for word in words:
        name, separator, values = word.partition("=")
        if not separator or not values or not name:
            raise BadInputError(f"--grid {word!r}: write NAME=VALUE,VALUE,..., as in --grid top_k=1,3,5")
        grid[name] = tuple(_value(value) for value in values.split(","))
    if not grid:
        raise BadInputError("a sweep needs at least one --grid NAME=VALUE,VALUE,...")
    runs = len(list(points(grid)))
    if runs > MOST_RUNS:
        raise BadInputError(f"this grid has {runs} points; at most {MOST_RUNS} are run at once")
    return grid


def points(grid: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Yield every combination of the grid, the last name varying fastest."""
    for values in itertools.product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def run_sweep(plan: Sweep, folder: Path, run_point: RunPoint) -> Sweep:
    """Run every point and return the sweep with its rows; the plan stands in the folder before the first run."""
    plan.save(folder)
    rows: list[SweepRow] = []
    first: Report | None = None
    for number, settings in enumerate(points(plan.grid), 1):
        name = f"point-{number:03}.json"
        report = run_point(settings, folder / name)
        first = first or report
        rows.append(_row(settings, name, report, first))
        sweep = plan.model_copy(update={"rows": tuple(rows), "finding": finding_of(rows)})
        sweep.save(folder)
    return sweep


def load_sweep(folder: Path) -> Sweep:
    """Read the sweep of a folder."""
    from evalsets.json_files import read_json

    return Sweep.model_validate(read_json(folder / PLAN_NAME))


def finding_of(rows: Sequence[SweepRow]) -> str:
    """Return what the sweep found, in one sentence."""
    if not rows:
        return ""
    best = max(rows, key=lambda row: (row.answer_accuracy, row.retrieval_recall or 0.0))
    moved = [change for change in best.changes if change.movement == "moved"]
    said = ", ".join(f"{change.name} {change.before:.3f} to {change.after:.3f}" for change in moved)
    told = f"against the first point: {said}" if said else "no figure moved against the first point by more than chance"
    return f"highest accuracy {best.answer_accuracy:.3f} at {settings_words(best.settings)}; {told}"


def settings_words(settings: Mapping[str, Any]) -> str:
    """Return settings as they are typed: `top_k=3 padding=false`."""
    return " ".join(
        f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in settings.items()
    )


def _row(settings: Mapping[str, Any], name: str, report: Report, first: Report) -> SweepRow:
    changes = () if report is first else compare(first, report).headline
    return SweepRow(
        settings=dict(settings),
        report=name,
        status=report.status,
        retrieval_recall=report.retrieval_recall,
        answer_accuracy=report.answer_accuracy,
        refusal_rate=report.refusal_rate,
        metrics={name: figure.value for name, figure in report.metrics.items()},
        changes=changes,
    )


def _value(word: str) -> Any:
    try:
        return json.loads(word)
    except ValueError:
        return word

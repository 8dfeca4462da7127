"""How a set has gone over time: each stored run as a point, versions and baselines marked, known failures as a line."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from curation_app.service.run_history import stored_runs
from curation_app.service.run_summaries import HEADLINE_FIGURES, Measured, RunSummary
from curation_app.workspace import Workspace
from evalsets.baseline import history

SHOWN_RUNS = 300
FEWEST_FOR_A_SLIDE = 4


class TrendPoint(NamedTuple):
    """One run in order of time; `place` counts from 1."""

    place: int
    run_id: str
    started_at: str
    pipeline: str
    set_version: int
    measured: Measured | None


class TrendMark(NamedTuple):
    """Something that happened before the run at `place`."""

    place: int
    words: str


class Trends(NamedTuple):
    """The runs of one set, oldest first, and what can be drawn of them."""

    set_name: str
    runs: tuple[RunSummary, ...]
    figures: tuple[str, ...]
    marks: tuple[TrendMark, ...]
    known_failures: tuple[int, ...]
    """How many items were known to fail in each run."""


def read_trends(workspace: Workspace, set_name: str, *, pipeline: str = "") -> Trends:
    """Return the latest runs of a set, of one pipeline when it is named."""
    newest = [
        run.summary
        for run in stored_runs(workspace, set_name=set_name)
        if run.summary.status == "complete" and (not pipeline or run.summary.pipeline == pipeline)
    ]
    runs = tuple(reversed(newest[:SHOWN_RUNS]))
    moves = [move.moved_at for move in history(workspace.sets_folder / set_name)]
    return Trends(
        set_name=set_name,
        runs=runs,
        figures=_figures(runs),
        marks=(*_version_marks(runs), *_baseline_marks(runs, moves)),
        known_failures=tuple(len(run.known_failing) for run in runs),
    )


def points(trends: Trends, figure: str) -> list[TrendPoint]:
    """Return one figure over the runs; a mode's pass rate is named by the mode."""
    return [
        TrendPoint(
            place,
            run.run_id,
            run.started_at,
            run.pipeline,
            run.set_version,
            run.figures.get(figure) or run.modes.get(figure),
        )
        for place, run in enumerate(trends.runs, 1)
    ]


def slide(shown: Sequence[TrendPoint]) -> str:
    """Say whether a figure slides: the mean of the last third of the runs against the first third's interval."""
    values = [point.measured for point in shown if point.measured is not None and point.measured.value is not None]
    if len(values) < FEWEST_FOR_A_SLIDE:
        return "Too few runs to see a slide"
    third = max(len(values) // 3, 1)
    first, last = (_mean(part) for part in (values[:third], values[-third:]))
    low, high = values[0].low, values[0].high
    change = f"from {first:.0%} to {last:.0%}" if max(first, last) <= 1 else f"from {first:.3g} to {last:.3g}"
    if low is None or high is None or low <= last <= high:
        return f"No slide: {change}, within what one run's interval spans"
    return f"{'Rose' if last > first else 'Fell'} {change} over {len(values)} runs"


def _mean(values: Sequence[Measured]) -> float:
    return sum(one.value or 0.0 for one in values) / len(values)


def _figures(runs: Sequence[RunSummary]) -> tuple[str, ...]:
    modes = [mode for run in runs for mode in run.modes]
    metrics = [name for run in runs for name, one in run.figures.items() if one.value is not None]
    return tuple(dict.fromkeys([*HEADLINE_FIGURES, *modes, *metrics]))


def _version_marks(runs: Sequence[RunSummary]) -> list[TrendMark]:
    return [
        TrendMark(place, f"set v{after.set_version}")
        for place, (before, after) in enumerate(pairwise(runs), 2)
        if after.set_version != before.set_version
    ]


def _baseline_marks(runs: Sequence[RunSummary], moves: Sequence[str]) -> list[TrendMark]:
    """Mark the run after which each baseline was set."""
    marks = []
    for moved_at in moves:
        place = sum(run.started_at <= moved_at for run in runs)
        if place:
            marks.append(TrendMark(place, "baseline"))
    return list(dict.fromkeys(marks))

"""How a set has gone over time: each stored run as a point, versions and baselines marked, known failures as a line."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from curation_app.service.run_history import stored_runs
from curation_app.service.run_summaries import HEADLINE_FIGURES, Measured, RunSummary
from curation_app.workspace import Workspace
from evalsets.gating.baseline import history
from evalsets.statistics import monotone_trend

SHOWN_RUNS = 300
FEWEST_FOR_A_SLIDE = 5
"""Below five values no order is rare enough for the test to call it a trend."""
SURE_BELOW = 0.05


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


class Slide(NamedTuple):
    """Whether a figure drifts, in words; `ends` of the line to draw (place, value) when it does."""

    words: str
    ends: tuple[tuple[int, float], ...] = ()


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


def slide_of(shown: Sequence[TrendPoint]) -> Slide:
    """Return whether a figure drifts from run to run (Mann-Kendall), and by how much over the runs shown (Sen)."""
    drawn = [(point.place, value) for point in shown if (value := _value(point)) is not None]
    if len(drawn) < FEWEST_FOR_A_SLIDE:
        return Slide(f"Too few runs to see a slide: {len(drawn)} of the {FEWEST_FOR_A_SLIDE} that it takes")
    values = [value for _, value in drawn]
    if len(set(values)) == 1:
        return Slide(f"No slide: the same in each of {len(values)} runs")
    found = monotone_trend(values)
    steps = len(values) - 1
    middle = median(value - found.slope * step for step, value in enumerate(values))
    ends = ((drawn[0][0], middle), (drawn[-1][0], middle + found.slope * steps))
    scale, form, unit = (100, "+.1f", " points") if max(abs(value) for value in values) <= 1 else (1, "+.3g", "")
    drift, low, high = (one * steps * scale for one in (found.slope, found.low, found.high))
    tested = f"95% interval {low:{form}} to {high:{form}}, {_chance(found.p_value)}"
    if found.p_value >= SURE_BELOW:
        return Slide(f"No slide over {len(values)} runs (drift {drift:{form}}{unit}, {tested})")
    changed = " The set changed in between." if len({point.set_version for point in shown}) > 1 else ""
    word = "Rises" if found.slope > 0 else "Falls" if found.slope < 0 else "Drifts"
    return Slide(f"{word} by {abs(drift):{form[1:]}}{unit} over {len(values)} runs ({tested}).{changed}", ends)


def _chance(p_value: float) -> str:
    return f"p = {p_value:.2g}" if p_value >= 0.001 else "p < 0.001"  # noqa: PLR2004 - smaller ones say no more


def _value(point: TrendPoint) -> float | None:
    return point.measured.value if point.measured is not None else None


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

"""The figures that the monitor follows: how each is counted, compared and shown."""

from collections.abc import Callable
from typing import NamedTuple

from curation_app.service.changes import Amounts, Change, Share, latency_change, mean_change, rate_change
from ingest.daily_reading import DayFigures


class Measure(NamedTuple):
    """One figure of the monitor: how it is called, counted and shown, and which queue it opens."""

    name: str
    title: str
    kind: str
    """rate, daily, latency or cost."""
    meaning: str
    numerator: Callable[[DayFigures], int] = lambda _: 0
    denominator: Callable[[DayFigures], int] = lambda day: day.interactions
    denominator_name: str = "interactions"
    signal: str = ""
    """Signal that the Queue page is narrowed to; empty: the figure opens the interactions themselves."""
    is_good: bool = False
    """Whether more of it is better."""
    vote: str = ""
    """Vote that the list of interactions is narrowed to, where no signal tells them."""
    order: str = ""
    """Order in which the list of interactions shows what makes the figure, where no signal does."""

    def behind(self) -> dict[str, str]:
        """Return what narrows the queue, or the list of interactions, to what stands behind the figure."""
        named = {"signal": self.signal, "vote": self.vote, "order": self.order}
        return {name: value for name, value in named.items() if value}


def _flagged(signal: str) -> Callable[[DayFigures], int]:
    return lambda day: day.signals.get(signal, 0)


MEASURES = (
    Measure("interactions", "Interactions", "daily", "questions a day", lambda day: day.interactions, is_good=True),
    Measure("sessions", "Sessions", "daily", "sessions that began, a day", lambda day: day.sessions, is_good=True),
    Measure(
        "thumbs_up", "Thumbs up", "rate", "people said it helped", lambda day: day.thumbs_up, is_good=True, vote="up"
    ),
    Measure(
        "thumbs_down",
        "Thumbs down",
        "rate",
        "people said it did not help",
        lambda day: day.thumbs_down,
        signal="thumbs_down",
    ),
    Measure(
        "rephrased", "Asked again", "rate", "the next question says the same", _flagged("rephrased"), signal="rephrased"
    ),
    Measure(
        "abandoned",
        "Abandoned",
        "rate",
        "the session ended without an answer that helped",
        _flagged("abandoned"),
        lambda day: day.sessions,
        "sessions",
        signal="abandoned",
    ),
    Measure("declined", "Could not find it", "rate", "the answer declined", _flagged("declined"), signal="declined"),
    Measure("errors", "Errors", "rate", "the request broke off", lambda day: day.errors, signal="error"),
    Measure(
        "ungrounded",
        "Little support",
        "rate",
        "few words of the answer stand in what was retrieved",
        _flagged("ungrounded"),
        lambda day: day.compared,
        "answers compared",
        signal="ungrounded",
    ),
    Measure("p50", "Latency, median", "latency", "half come sooner", order="slowest"),
    Measure("p95", "Latency, 95th percentile", "latency", "19 of 20 come sooner", order="slowest"),
    Measure("cost", "Cost per question", "cost", "in the log's own currency", order="costliest"),
)


def change_between(measure: Measure, before: DayFigures, after: DayFigures) -> Change:
    """Compare a rate, latency or cost of two groups of turns."""
    if measure.kind == "rate":
        return rate_change(share_of(measure, before), share_of(measure, after))
    if measure.kind == "latency":
        return latency_change(before.latency, after.latency, quantile=measure.name)
    return mean_change(*(Amounts(side.priced, side.cost, side.cost_squares) for side in (before, after)))


def share_of(measure: Measure, figures: DayFigures) -> Share:
    """Return a rate as its two counts."""
    return Share(measure.numerator(figures), measure.denominator(figures))


def amount_of(measure: Measure, figures: DayFigures) -> float | None:
    """Return a latency in ms or a mean cost; None where none was logged."""
    if measure.kind == "latency":
        return figures.latency.p50 if measure.name == "p50" else figures.latency.p95
    return figures.cost / figures.priced if figures.priced else None


def shown(measure: Measure, value: float | None) -> str:
    """Return a value of a measure with its unit."""
    if value is None:
        return "not logged"
    if measure.kind == "rate":
        return f"{value:.1%}" if value < 0.1 else f"{value:.0%}"  # noqa: PLR2004 - one decimal below ten per cent
    if measure.kind == "latency":
        return f"{value / 1000:.2f} s"
    if measure.kind == "cost":
        return f"{value:.2g}" if value else "0"
    return f"{value:,.0f}"

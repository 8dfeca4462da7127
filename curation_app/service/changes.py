"""Whether a figure of production moved by more than noise between two spans of time."""

import math
from collections.abc import Sequence
from statistics import fmean, variance
from typing import NamedTuple

from evalsets.statistics import t_quantile, wilson_interval
from ingest.daily_reading import Latency

CONFIDENCE = 0.99
"""Many figures are looked at together, so each must be surer than the usual 95%."""
_Z = 2.5758
LEAST_DAYS = 5
"""Below this many days on either side, daily counts cannot be told from the rhythm of the week."""
LEAST_TURNS = 20
TOO_FEW = "too few to tell"


class Change(NamedTuple):
    """A figure before and after. `verdict` is moved, steady or too few to tell."""

    before: float | None
    after: float | None
    low: float | None = None
    high: float | None = None
    """Bounds of the difference after - before."""
    verdict: str = TOO_FEW

    @property
    def is_more_than_noise(self) -> bool:
        """Whether the figure moved."""
        return self.verdict == "moved"


class Share(NamedTuple):
    """A count out of a total."""

    part: int
    total: int

    @property
    def rate(self) -> float | None:
        """The share; None of nothing."""
        return min(self.part / self.total, 1.0) if self.total else None


def rate_change(before: Share, after: Share) -> Change:
    """Compare two shares by Newcombe's interval of their difference (Statistics in Medicine 17, 1998, method 10)."""
    if before.rate is None or after.rate is None:
        return Change(before.rate, after.rate)
    first = wilson_interval(min(before.part, before.total), before.total, confidence=CONFIDENCE)
    second = wilson_interval(min(after.part, after.total), after.total, confidence=CONFIDENCE)
    difference = after.rate - before.rate
    low = difference - math.hypot(after.rate - second.low, first.high - before.rate)
    high = difference + math.hypot(second.high - after.rate, before.rate - first.low)
    has_enough = min(before.total, after.total) >= LEAST_TURNS
    return Change(before.rate, after.rate, low, high, _verdict(low, high, has_enough=has_enough))


def daily_change(before: Sequence[float], after: Sequence[float]) -> Change:
    """Compare two runs of daily figures by the spread of the days themselves (Welch, Biometrika 34, 1947)."""
    if not before or not after:
        return Change(None, None)
    means = fmean(before), fmean(after)
    half_width = days_half_width(before, after)
    if half_width is None:
        return Change(*means)
    low, high = means[1] - means[0] - half_width, means[1] - means[0] + half_width
    return Change(*means, low, high, _verdict(low, high, has_enough=True))


def days_half_width(before: Sequence[float], after: Sequence[float]) -> float | None:
    """Return the half width of Welch's interval of the difference of two means of days; None of too few days."""
    if min(len(before), len(after)) < LEAST_DAYS:
        return None
    errors = [variance(days) / len(days) for days in (before, after)]
    if not sum(errors):
        return 0.0
    shares = sum(error**2 / (len(days) - 1) for error, days in zip(errors, (before, after), strict=True))
    return t_quantile(CONFIDENCE, sum(errors) ** 2 / shares) * math.sqrt(sum(errors))


def spread_half_width(spans: Sequence[Sequence[float]], numbers: tuple[int, int]) -> float | None:
    """Return the half width of the difference of two means of `numbers` of days, by the spread of days within spans."""
    if min(map(len, spans), default=0) < LEAST_DAYS:
        return None
    freedom = sum(len(days) - 1 for days in spans)
    pooled = sum(variance(days) * (len(days) - 1) for days in spans) / freedom
    return t_quantile(CONFIDENCE, freedom) * math.sqrt(pooled * (1 / numbers[0] + 1 / numbers[1]))


def widened(change: Change, half_width: float | None) -> Change:
    """Widen a change's interval to what days vary by themselves, where that is more and known.

    An interval from the turns alone narrows without end as a log grows, while one day goes on to differ from the next.
    """
    if half_width is None or change.low is None or change.high is None or change.before is None or change.after is None:
        return change
    difference = change.after - change.before
    low, high = min(change.low, difference - half_width), max(change.high, difference + half_width)
    return change._replace(low=low, high=high, verdict=_verdict(low, high, has_enough=change.verdict != TOO_FEW))


class Amounts(NamedTuple):
    """Number, sum and sum of squares of an amount, such as the cost of a question."""

    number: int
    total: float
    squares: float

    @property
    def mean(self) -> float | None:
        """The mean; None of nothing."""
        return self.total / self.number if self.number else None

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        if self.number <= 1:
            return math.inf
        spread = max(self.squares - self.total**2 / self.number, 0.0) / (self.number - 1)
        return math.sqrt(spread / self.number)


def mean_change(before: Amounts, after: Amounts) -> Change:
    """Compare two means."""
    if before.mean is None or after.mean is None:
        return Change(before.mean, after.mean)
    has_enough = min(before.number, after.number) >= LEAST_TURNS
    return _around(before.mean, after.mean, math.hypot(before.error, after.error), has_enough=has_enough)


def latency_change(before: Latency, after: Latency, *, quantile: str) -> Change:
    """Compare two medians (`p50`) or 95th percentiles (`p95`): moved when their bounds by rank do not meet."""
    old, new = getattr(before, quantile), getattr(after, quantile)
    old_bounds, new_bounds = getattr(before, f"{quantile}_bounds"), getattr(after, f"{quantile}_bounds")
    if old is None or new is None or old_bounds is None or new_bounds is None:
        return Change(old, new)
    low, high = new_bounds[0] - old_bounds[1], new_bounds[1] - old_bounds[0]
    has_enough = min(before.timed, after.timed) >= LEAST_TURNS
    return Change(old, new, low, high, _verdict(low, high, has_enough=has_enough))


def _around(before: float, after: float, error: float, *, has_enough: bool) -> Change:
    if not math.isfinite(error):
        return Change(before, after)
    low, high = after - before - _Z * error, after - before + _Z * error
    return Change(before, after, low, high, _verdict(low, high, has_enough=has_enough))


def _verdict(low: float, high: float, *, has_enough: bool) -> str:
    if not has_enough:
        return TOO_FEW
    return "moved" if low > 0 or high < 0 else "steady"

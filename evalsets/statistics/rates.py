"""Intervals of a pass rate without resampling: Wilson for every rate, Clopper-Pearson where a guarantee is wanted."""

from functools import lru_cache
from math import exp, lgamma, log, log1p, sqrt
from statistics import NormalDist
from typing import NamedTuple

from evalsets.errors import BadInputError

DEFAULT_CONFIDENCE = 0.95


class Interval(NamedTuple):
    """Bounds of an estimate, how they were found, and a warning when they are rough."""

    low: float
    high: float
    method: str
    warning: str = ""

    def overlaps(self, other: "Interval") -> bool:
        """Tell whether two intervals share a point: the plain rule, weaker than a paired test."""
        return self.low <= other.high and other.low <= self.high


def wilson_interval(passed: float, total: float, *, confidence: float = DEFAULT_CONFIDENCE) -> Interval:
    """Return the Wilson score interval of a rate; `total` may be an effective number of items.

    Source: Wilson 1927. Raises BadInputError when `total` is not positive or `passed` lies outside 0..total.
    """
    _check_counts(passed, total)
    z = normal_quantile((1 + confidence) / 2)
    rate = passed / total
    spread = 1 + z * z / total
    centre = (rate + z * z / (2 * total)) / spread
    half = z * sqrt(rate * (1 - rate) / total + z * z / (4 * total * total)) / spread
    return Interval(
        0.0 if passed == 0 else max(0.0, centre - half),
        1.0 if passed == total else min(1.0, centre + half),
        "Wilson",
    )


def clopper_pearson_interval(passed: int, total: int, *, confidence: float = DEFAULT_CONFIDENCE) -> Interval:
    """Return the exact interval of a rate, which never covers less than it says. Source: Clopper and Pearson 1934."""
    _check_counts(passed, total)
    tail = (1 - confidence) / 2
    low = 0.0 if passed == 0 else _beta_quantile(tail, passed, total - passed + 1)
    high = 1.0 if passed == total else _beta_quantile(1 - tail, passed + 1, total - passed)
    return Interval(low, high, "Clopper-Pearson")


def normal_quantile(probability: float) -> float:
    """Return the standard normal quantile; 0 and 1 give infinities."""
    if probability <= 0 or probability >= 1:
        return float("-inf") if probability <= 0 else float("inf")
    return NormalDist().inv_cdf(probability)


def normal_cdf(value: float) -> float:
    """Return the standard normal distribution function."""
    return NormalDist().cdf(value)


def _check_counts(passed: float, total: float) -> None:
    if total <= 0 or not 0 <= passed <= total:
        raise BadInputError(f"no rate can be made of {passed!r} passed of {total!r}; count at least one item")


@lru_cache(maxsize=1024)
def _beta_quantile(probability: float, a: float, b: float) -> float:
    """Return the beta quantile by bisection; 60 halvings reach the precision of a double."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if beta_cdf(middle, a, b) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def beta_cdf(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function by its continued fraction, on the side where it converges."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_cdf(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    return front / a / _continued_fraction(x, a, b)


def _continued_fraction(x: float, a: float, b: float) -> float:
    """Evaluate the fraction backwards from a depth that grows with the square root of the larger parameter."""
    value = 1.0
    for m in range(int(20 + 3 * sqrt(max(a, b))), 0, -1):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m - 1) * (a + b + m - 1) * x / ((a + 2 * m - 2) * (a + 2 * m - 1))
        value = 1 + odd / (1 + even / value)
    return value

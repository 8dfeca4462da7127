"""Whether a series of figures drifts: the Mann-Kendall test, and Sen's slope with its interval."""

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from statistics import NormalDist, median
from typing import NamedTuple

EXACT_UP_TO = 10
"""Series without ties are tested exactly up to this length."""


class Trend(NamedTuple):
    """A drift a step: the median slope over all pairs with its bounds, and the chance of such an order by itself."""

    slope: float
    low: float
    high: float
    p_value: float


def monotone_trend(values: Sequence[float], *, confidence: float = 0.95) -> Trend:
    """Return the trend of at least two evenly spaced values.

    Two-sided p of Mann (1945) and Kendall (1975), exact without ties up to ten values, else by the normal law with
    ties and continuity corrected; slope and bounds of Sen (1968).
    """
    pairs = list(combinations(enumerate(values), 2))
    rises = sum((later > earlier) - (later < earlier) for (_, earlier), (_, later) in pairs)
    slopes = sorted((later - earlier) / (at - before) for (before, earlier), (at, later) in pairs)
    spread = _variance(values)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    reach = z * math.sqrt(spread)
    low = slopes[max(math.floor((len(slopes) - reach) / 2) - 1, 0)]
    high = slopes[min(math.ceil((len(slopes) + reach) / 2), len(slopes) - 1)]
    return Trend(median(slopes), low, high, _p_value(rises, values, spread))


def _variance(values: Sequence[float]) -> float:
    """Return the variance of Kendall's S, less what ties take from it."""
    number = len(values)
    ties = sum(tied * (tied - 1) * (2 * tied + 5) for tied in Counter(values).values())
    return (number * (number - 1) * (2 * number + 5) - ties) / 18


def _p_value(rises: int, values: Sequence[float], spread: float) -> float:
    if rises == 0 or spread == 0:
        return 1.0
    number = len(values)
    if number <= EXACT_UP_TO and len(set(values)) == number:
        counts = _orders_by_falls(number)
        falls = (number * (number - 1) // 2 - abs(rises)) // 2
        return min(1.0, 2 * sum(counts[: falls + 1]) / math.factorial(number))
    return min(1.0, 2 * NormalDist().cdf(-(abs(rises) - 1) / math.sqrt(spread)))


@lru_cache(maxsize=EXACT_UP_TO)
def _orders_by_falls(number: int) -> tuple[int, ...]:
    """Return how many orders of `number` values have 0, 1, 2, ... pairs that fall."""
    counts = [1]
    for size in range(2, number + 1):
        grown = [0] * (len(counts) + size - 1)
        for falls, ways in enumerate(counts):
            for more in range(size):
                grown[falls + more] += ways
        counts = grown
    return tuple(counts)

"""What a set of a given size can see: the smallest drop of a pass rate that a paired test finds."""

from functools import lru_cache
from math import exp, lgamma, log, sqrt

from evalsets.statistics.rates import normal_cdf, normal_quantile

_COUNTED_ITEMS = 100
"""Up to here the power is counted exactly; above, the normal limit is within two points of power."""
_LARGEST_DROP = 0.9


@lru_cache(maxsize=256)
def smallest_detectable_drop(
    items: int,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    fixed_rate: float = 0.04,
) -> float | None:
    """Return the smallest drop of a pass rate that the mid-p McNemar test finds with the given power.

    `fixed_rate` of the items are taken to move the other way. The answer is a share in whole hundredths; None when
    even the largest drop would stay unseen. Source: Connor 1987 for the limit.
    """
    measure = _counted_power if items <= _COUNTED_ITEMS else _limit_power
    low, high = 0, round((_LARGEST_DROP - fixed_rate) * 100)
    if items < 1 or measure(items, high / 100, fixed_rate, alpha) < power:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if measure(items, middle / 100, fixed_rate, alpha) >= power:
            high = middle
        else:
            low = middle
    return high / 100


def _limit_power(items: int, drop: float, fixed_rate: float, alpha: float) -> float:
    discordant = drop + 2 * fixed_rate
    spread = sqrt(discordant - drop * drop)
    return normal_cdf((drop * sqrt(items) + normal_quantile(alpha / 2) * sqrt(discordant)) / spread)


def _counted_power(items: int, drop: float, fixed_rate: float, alpha: float) -> float:
    """Sum over the number of discordant items, and within it over the number fixed, what the test would call."""
    discordant = drop + 2 * fixed_rate
    power = 0.0
    for total in range(1, items + 1):
        most_fixed = _critical_fixed(total, alpha)
        if most_fixed >= 0:
            chance = _binomial(total, items, discordant)
            power += chance * sum(_binomial(fixed, total, fixed_rate / discordant) for fixed in range(most_fixed + 1))
    return power


@lru_cache(maxsize=1024)
def _critical_fixed(total: int, alpha: float) -> int:
    """Return the most items that may be fixed, of `total` discordant, for the drop to be significant; -1: none."""
    mass, below = 0.5**total, 0.0
    for fixed in range(total // 2 + 1):
        if 2 * below + mass > alpha:
            return fixed - 1
        below += mass
        mass *= (total - fixed) / (fixed + 1)
    return total // 2


def _binomial(count: int, total: int, rate: float) -> float:
    choose = lgamma(total + 1) - lgamma(count + 1) - lgamma(total - count + 1)
    return exp(choose + count * log(rate) + (total - count) * log(1 - rate))

"""Paired tests of two runs over the same items, their correction for many metrics, and what a set can see at all."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product
from math import comb, exp, lgamma, log, pi, sqrt
from typing import TYPE_CHECKING, NamedTuple

from evalsets.statistics.means import DEFAULT_ROUNDS, DEFAULT_SEED
from evalsets.statistics.rates import beta_cdf, normal_cdf

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ENUMERATED = 10
"""Up to here every assignment of signs is tried."""
_DRAWN_SIGNS = 200
"""Up to here signs are drawn one by one; all metrics of a run share one such table."""
_FLAT = 0.05
"""Excess kurtosis of the sum, without its sign, up to which its law is expanded."""
_ROUNDING = 1e-9


class Discordance(NamedTuple):
    """Items that passed before and fail now, and items that failed before and pass now."""

    broke: int
    fixed: int


def discordance(before: Sequence[bool], after: Sequence[bool]) -> Discordance:
    """Count the items whose verdict differs between two runs over the same items, in the same order."""
    pairs = Counter(zip(map(bool, before), map(bool, after), strict=True))
    return Discordance(pairs[True, False], pairs[False, True])


def mcnemar_exact(broke: int, fixed: int) -> float:
    """Return the two-sided exact McNemar p-value: the strict option. Source: McNemar 1947, by the binomial."""
    total = broke + fixed
    return min(1.0, 2 * _binomial_tail(min(broke, fixed), total)) if total else 1.0


def mcnemar_mid_p(broke: int, fixed: int) -> float:
    """Return the two-sided mid-p McNemar p-value. Source: Fagerland, Lydersen and Laake 2013."""
    total = broke + fixed
    if broke == fixed:
        return 1.0
    return mcnemar_exact(broke, fixed) - _binomial_mass(min(broke, fixed), total)


def sign_flip_p(
    differences: "Sequence[float] | NDArray[np.float64]",
    *,
    rounds: int = DEFAULT_ROUNDS,
    seed: int = DEFAULT_SEED,
) -> float:
    """Return the two-sided p-value of the mean difference when every sign is equally likely to be the other.

    Up to 10 differences every assignment is tried; else `rounds` are drawn by seed, and the observed one counts as one
    of them; above 200 differences the law of the sum is expanded by its kurtosis, unless a few of them outweigh the
    rest. Source: Fisher 1935; Phipson and Smyth 2010 for the count.
    """
    import numpy as np

    array = np.asarray(differences, dtype=float)
    sizes = np.abs(array[array != 0])
    if not len(sizes):
        return 1.0
    observed = abs(float(array.sum())) - _ROUNDING * max(1.0, float(sizes.sum()))
    if len(sizes) <= _ENUMERATED:
        signs = np.array(list(product((1, -1), repeat=len(sizes))))
        return float(np.mean(np.abs(signs @ sizes) >= observed))
    return _drawn_p(sizes, observed, rounds, seed)


def _drawn_p(sizes: "NDArray[np.float64]", observed: float, rounds: int, seed: int) -> float:
    import numpy as np

    squares = float((sizes**2).sum())
    excess = -2 * float((sizes**4).sum()) / squares**2
    if len(sizes) > _DRAWN_SIGNS and abs(excess) <= _FLAT:
        return _expanded_p(observed / sqrt(squares), excess)
    if len(sizes) <= _DRAWN_SIGNS:
        totals = np.einsum("ij,j->i", _signs(len(sizes), rounds, seed), sizes)
    else:
        distinct, counts = np.unique(sizes, return_counts=True)
        kept = np.random.default_rng(seed).binomial(counts, 0.5, size=(rounds, len(distinct)))
        totals = (2 * kept - counts) @ distinct
    return float((np.count_nonzero(np.abs(totals) >= observed) + 1) / (rounds + 1))


@lru_cache(maxsize=2)
def _signs(number: int, rounds: int, seed: int) -> "NDArray[np.float64]":
    import numpy as np

    heads = np.random.default_rng(seed).integers(0, 2, size=(rounds, number), dtype=np.int8)
    return (2 * heads - 1).astype(np.float64)


def _expanded_p(z: float, excess: float) -> float:
    """Return the two-sided tail of a symmetric sum: the first correction to the normal is the kurtosis."""
    density = exp(-z * z / 2) / sqrt(2 * pi)
    tail = 1 - normal_cdf(z) + density * excess / 24 * (z**3 - 3 * z)
    return min(1.0, max(0.0, 2 * tail))


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Return the p-values adjusted for testing several metrics at once, in the order given. Source: Holm 1979."""
    adjusted: dict[str, float] = {}
    floor = 0.0
    for rank, (name, p_value) in enumerate(sorted(p_values.items(), key=lambda pair: pair[1])):
        floor = max(floor, min(1.0, p_value * (len(p_values) - rank)))
        adjusted[name] = floor
    return {name: adjusted[name] for name in p_values}


def _binomial_tail(count: int, total: int) -> float:
    """Return the chance of at most `count` heads in `total` tosses, by the beta distribution where there are many."""
    if total <= _EXACT_TOSSES:
        return float(sum(comb(total, k) for k in range(count + 1)) / (1 << total))
    return beta_cdf(0.5, total - count, count + 1)


def _binomial_mass(count: int, total: int) -> float:
    if total <= _EXACT_TOSSES:
        return comb(total, count) / (1 << total)
    return exp(lgamma(total + 1) - lgamma(count + 1) - lgamma(total - count + 1) - total * log(2))


_EXACT_TOSSES = 1000
"""Up to here whole numbers are used; a power of two beyond it leaves the range of a double."""

"""The law of a resampled mean: drawn as counts, or expanded by its cumulants where that is closer than drawing."""

from functools import lru_cache
from math import pi, sqrt
from typing import TYPE_CHECKING, NamedTuple

from evalsets.statistics.rates import normal_cdf, normal_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

DRAWN_UNITS = 200
"""Up to here each round counts how often every unit is drawn; all metrics of a run share one such table."""
_SMOOTH_UNITS = 1000
"""From here the expansion is closer to the law than 10,000 draws of it, even where values are few."""
_FEW_DISTINCT = 16
"""Up to here a round is one multinomial draw over the distinct values, which is the same law."""
_SKEWED = 0.1
"""Skewness of the resampled mean above which it is drawn all the same."""
_ROUNDING = 1e-9


class Resampling(NamedTuple):
    """What is resampled: the sum and size of each unit, and each unit's influence on the mean."""

    sums: "Floats"
    sizes: "Floats"
    residuals: "Floats"
    rounds: int
    seed: int

    @property
    def mean(self) -> float:
        """The observed mean."""
        return float(self.sums.sum()) / float(self.sizes.sum())

    @property
    def is_grouped(self) -> bool:
        """Whether a unit can hold several items."""
        return bool(self.sizes.max() > 1)


def bca_ends(sample: Resampling, confidence: float) -> tuple[float, float]:
    """Return the ends of the bias-corrected and accelerated interval. Source: Efron 1987."""
    cubes, squares = float((sample.residuals**3).sum()), float((sample.residuals**2).sum())
    acceleration = cubes / (6 * squares**1.5)
    law = _law_of(sample)
    tails = ((1 - confidence) / 2, (1 + confidence) / 2)
    return law.quantiles([_shifted(normal_quantile(tail), law.bias, acceleration) for tail in tails])


def _shifted(z: float, bias: float, acceleration: float) -> float:
    return normal_cdf(bias + (bias + z) / (1 - acceleration * (bias + z)))


class _DrawnLaw:
    """The law of the resampled mean, as drawn."""

    def __init__(self, means: "Floats", observed: float) -> None:
        import numpy as np

        self._means = np.sort(means)
        # Sums of tenths differ in their last bits, so what is equal up to rounding counts as a tie.
        slack = _ROUNDING * max(1.0, abs(observed))
        below, up_to = np.searchsorted(self._means, [observed - slack, observed + slack])
        share = float(below + up_to) / 2 / len(means)
        self.bias = normal_quantile(min(max(share, 0.5 / len(means)), 1 - 0.5 / len(means)))

    def quantiles(self, shares: list[float]) -> tuple[float, float]:
        """Return the quantiles of the sorted means, interpolated between neighbours."""
        low, high = (self._quantile(share) for share in shares)
        return low, high

    def _quantile(self, share: float) -> float:
        place = share * (len(self._means) - 1)
        left = min(int(place), len(self._means) - 2)
        before, after = float(self._means[left]), float(self._means[left + 1])
        return before + (place - left) * (after - before)


class _ExpandedLaw:
    """The law of the resampled mean by its first four cumulants, known exactly. Source: Cornish and Fisher 1938."""

    def __init__(self, mean: float, residuals: "Floats") -> None:
        count, squares = len(residuals), residuals**2
        variance = float(squares.mean())
        self._mean, self._deviation = mean, sqrt(variance / count)
        self.skew = float((squares * residuals).mean()) / variance**1.5 / sqrt(count)
        self._excess = (float((squares * squares).mean()) / variance**2 - 3) / count
        self.bias = normal_quantile(0.5 + self.skew / 6 / sqrt(2 * pi))

    def quantiles(self, shares: list[float]) -> tuple[float, float]:
        """Return the expanded quantiles."""
        low, high = (self._quantile(share) for share in shares)
        return low, high

    def _quantile(self, share: float) -> float:
        z = normal_quantile(share)
        skewed = self.skew * (z * z - 1) / 6 - self.skew**2 * (2 * z**3 - 5 * z) / 36
        place: float = self._mean + self._deviation * (z + skewed + self._excess * (z**3 - 3 * z) / 24)
        return place


def _law_of(sample: Resampling) -> _DrawnLaw | _ExpandedLaw:
    import numpy as np

    units = len(sample.sums)
    if units <= DRAWN_UNITS:
        drawn = unit_counts(units, sample.rounds, sample.seed)
        # einsum, since BLAS wakes a thread a core for a product that takes a fifth of a millisecond on one.
        totals = np.einsum("ij,j->i", drawn, sample.sums)
        items = np.einsum("ij,j->i", drawn, sample.sizes) if sample.is_grouped else units
        return _DrawnLaw(totals / items, sample.mean)
    expanded = _ExpandedLaw(sample.mean, sample.residuals)
    if abs(expanded.skew) <= _SKEWED and units >= _SMOOTH_UNITS:
        return expanded
    values, counts = np.unique(sample.sums + 1j * sample.sizes, return_counts=True)
    if len(counts) > _FEW_DISTINCT and abs(expanded.skew) <= _SKEWED:
        return expanded
    by_value = np.random.default_rng(sample.seed).multinomial(units, counts / counts.sum(), size=sample.rounds)
    return _DrawnLaw((by_value @ values.real) / (by_value @ values.imag), sample.mean)


@lru_cache(maxsize=2)
def unit_counts(units: int, rounds: int, seed: int) -> "Floats":
    """Return how often each unit is drawn in each round, shape (rounds, units)."""
    import numpy as np

    drawn = np.random.default_rng(seed).integers(0, units, size=(rounds, units), dtype=np.int32)
    drawn += np.arange(0, rounds * units, units, dtype=np.int32)[:, None]
    return np.bincount(drawn.ravel(), minlength=rounds * units).reshape(rounds, units).astype(float)

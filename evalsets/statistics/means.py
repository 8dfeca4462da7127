"""BCa intervals of a mean, resampled as multinomial counts over the distinct values; groups resampled whole."""

from collections.abc import Hashable, Sequence
from functools import lru_cache
from math import pi, sqrt
from typing import TYPE_CHECKING, NamedTuple

from evalsets.errors import BadInputError
from evalsets.statistics.rates import DEFAULT_CONFIDENCE, Interval, normal_cdf, normal_quantile, wilson_interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

DEFAULT_ROUNDS = 10_000
DEFAULT_SEED = 20_260_101
FEW_GROUPS = 20
"""Below this number of groups a warning goes with the interval."""

_FEW_DISTINCT = 64
"""Up to here a round is one multinomial draw over the distinct values."""
_RESAMPLED_UNITS = 200
"""Above, with many distinct values, the bootstrap law is expanded by its cumulants: closer than 10,000 rounds are."""


_ROUNDING = 1e-9


def mean_interval(  # noqa: PLR0913 - one estimate, and each way to tune it by name
    values: Sequence[float],
    *,
    groups: Sequence[Hashable] | None = None,
    bounded: bool = True,
    confidence: float = DEFAULT_CONFIDENCE,
    rounds: int = DEFAULT_ROUNDS,
    seed: int = DEFAULT_SEED,
) -> Interval:
    """Return the BCa interval of the mean; the same seed gives the same bounds.

    Args:
        values: one figure an item, finite.
        groups: a label an item; items that share one are resampled together.
        bounded: values lie in [0, 1], so that a bound can be given when all are equal.
        confidence: share of such intervals that hold the true mean.
        rounds: number of resamples.
        seed: of the resampling.

    Source: Efron 1987; DiCiccio and Efron 1996. Raises BadInputError without values.
    """
    import numpy as np

    array = np.asarray(values, dtype=float)
    if array.size == 0 or not np.isfinite(array).all():
        raise BadInputError("an interval needs at least one value, and every value finite")
    sums, sizes = _group_sums(array, groups)
    warning = f"only {len(sums)} groups, so the interval is rough" if groups and len(sums) < FEW_GROUPS else ""
    residuals = (sums - array.mean() * sizes) / sizes.mean()
    if not residuals.any():
        return _without_spread(float(array.mean()), len(sums), bounded=bounded, confidence=confidence)
    ends = _bca_ends(_Resampling(sums, sizes, residuals, rounds, seed), confidence)
    return Interval(*ends, "BCa bootstrap over groups" if groups else "BCa bootstrap", warning)


def clustered_rate_interval(
    passed: Sequence[bool],
    groups: Sequence[Hashable],
    *,
    confidence: float = DEFAULT_CONFIDENCE,
) -> Interval:
    """Return the Wilson interval of a rate over the effective number of items, given that groups hang together.

    The effective number is that at which independent items would vary as much as the group totals do.
    """
    import numpy as np

    array = np.asarray(passed, dtype=float)
    sums, sizes = _group_sums(array, groups)
    rate = float(array.mean())
    variance = float(((sums - rate * sizes) ** 2).sum()) / len(array) ** 2
    variance *= len(sums) / max(1, len(sums) - 1)
    effective = min(len(array), rate * (1 - rate) / variance) if variance > 0 else len(sums)
    low, high, *_ = wilson_interval(rate * effective, effective, confidence=confidence)
    warning = f"only {len(sums)} groups, so the interval is rough" if len(sums) < FEW_GROUPS else ""
    return Interval(low, high, f"Wilson over {effective:.0f} effective items", warning)


class _Resampling(NamedTuple):
    """What is resampled: the sum and size of each unit, and each unit's influence on the mean."""

    sums: "Floats"
    sizes: "Floats"
    residuals: "Floats"
    rounds: int
    seed: int

    @property
    def mean(self) -> float:
        return float(self.sums.sum()) / float(self.sizes.sum())


def _group_sums(values: "Floats", groups: Sequence[Hashable] | None) -> tuple["Floats", "Floats"]:
    import numpy as np

    if groups is None:
        return values, np.ones(len(values))
    if len(groups) != len(values):
        raise BadInputError(f"{len(groups)} groups were given for {len(values)} values; give one label a value")
    codes = {label: code for code, label in enumerate(dict.fromkeys(groups))}
    index = np.fromiter((codes[label] for label in groups), dtype=np.intp, count=len(groups))
    return np.bincount(index, weights=values).astype(float), np.bincount(index).astype(float)


def _without_spread(value: float, units: int, *, bounded: bool, confidence: float) -> Interval:
    """Bound a mean of equal values: with more than this share of others, all being equal would be improbable."""
    if not bounded:
        return Interval(value, value, "no spread", "all values are equal")
    unseen = 1 - (1 - confidence) ** (1 / units)
    return Interval(value * (1 - unseen), value + (1 - value) * unseen, "rule of three", "all values are equal")


def _bca_ends(sample: _Resampling, confidence: float) -> tuple[float, float]:
    cubes, squares = float((sample.residuals**3).sum()), float((sample.residuals**2).sum())
    acceleration = cubes / (6 * squares**1.5)
    law = _resampled_law(sample)
    bias = law.bias
    shares = (_shifted(normal_quantile(tail), bias, acceleration) for tail in _tails(confidence))
    low, high = (law.quantile(share) for share in shares)
    return low, high


def _tails(confidence: float) -> tuple[float, float]:
    return (1 - confidence) / 2, (1 + confidence) / 2


def _shifted(z: float, bias: float, acceleration: float) -> float:
    return normal_cdf(bias + (bias + z) / (1 - acceleration * (bias + z)))


class _DrawnLaw:
    """The law of the resampled mean, as drawn."""

    def __init__(self, means: "Floats", observed: float) -> None:
        self._means = means
        # Sums of tenths differ in their last bits, so what is equal up to rounding counts as a tie.
        slack = _ROUNDING * max(1.0, abs(observed))
        below = float((means < observed - slack).mean() + (means <= observed + slack).mean()) / 2
        self.bias = normal_quantile(min(max(below, 0.5 / len(means)), 1 - 0.5 / len(means)))

    def quantile(self, share: float) -> float:
        import numpy as np

        return float(np.quantile(self._means, share))


class _ExpandedLaw:
    """The law of the resampled mean by its first four cumulants, known exactly. Source: Cornish and Fisher 1938."""

    def __init__(self, mean: float, residuals: "Floats") -> None:
        count = len(residuals)
        variance = float((residuals**2).mean())
        self._mean, self._deviation = mean, sqrt(variance / count)
        self._skew = float((residuals**3).mean()) / variance**1.5 / sqrt(count)
        self._excess = (float((residuals**4).mean()) / variance**2 - 3) / count
        self.bias = normal_quantile(0.5 + self._skew / 6 / sqrt(2 * pi))

    def quantile(self, share: float) -> float:
        z = normal_quantile(share)
        skewed = self._skew * (z * z - 1) / 6 - self._skew**2 * (2 * z**3 - 5 * z) / 36
        shifted: float = self._mean + self._deviation * (z + skewed + self._excess * (z**3 - 3 * z) / 24)
        return shifted


def _resampled_law(sample: _Resampling) -> _DrawnLaw | _ExpandedLaw:
    import numpy as np

    distinct, counts = np.unique(sample.sums + 1j * sample.sizes, return_counts=True)
    if len(counts) <= _FEW_DISTINCT:
        generator = np.random.default_rng(sample.seed)
        drawn = generator.multinomial(len(sample.sums), counts / counts.sum(), size=sample.rounds).astype(float)
        return _DrawnLaw((drawn @ distinct.real) / (drawn @ distinct.imag), sample.mean)
    if len(sample.sums) <= _RESAMPLED_UNITS:
        drawn = _unit_counts(len(sample.sums), sample.rounds, sample.seed)
        return _DrawnLaw((drawn @ sample.sums) / (drawn @ sample.sizes), sample.mean)
    return _ExpandedLaw(sample.mean, sample.residuals)


@lru_cache(maxsize=2)
def _unit_counts(units: int, rounds: int, seed: int) -> "Floats":
    """Return how often each unit is drawn in each round; all metrics of a run share one such table."""
    import numpy as np

    drawn = np.random.default_rng(seed).integers(0, units, size=(rounds, units))
    flat = (drawn + units * np.arange(rounds)[:, None]).ravel()
    return np.bincount(flat, minlength=rounds * units).reshape(rounds, units).astype(float)

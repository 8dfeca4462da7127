"""BCa intervals of a mean, resampled by counts; groups resampled whole; rates over groups."""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from evalsets.errors import BadInputError
from evalsets.statistics.bootstrap import Resampling, bca_ends
from evalsets.statistics.rates import DEFAULT_CONFIDENCE, Interval, wilson_interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

DEFAULT_ROUNDS = 10_000
DEFAULT_SEED = 20_260_101
FEW_GROUPS = 20
"""Below this number of groups a warning goes with the interval."""

_ROUNDING = 1e-9


def mean_interval(  # noqa: PLR0913 - one estimate, and each way to tune it by name
    values: "Sequence[float] | Floats",
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
    if np.abs(residuals).max() <= _ROUNDING:
        return _without_spread(float(array.mean()), len(sums), bounded=bounded, confidence=confidence)
    ends = bca_ends(Resampling(sums, sizes, residuals, rounds, seed), confidence)
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


def group_totals(values: "Floats", groups: Sequence[Hashable]) -> "Floats":
    """Return the sum of the values of each group, in the order in which groups first appear."""
    return _group_sums(values, groups)[0]


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

"""Whether a figure moved between two runs over the same items, said in words."""

from collections.abc import Hashable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from evalsets.errors import BadInputError
from evalsets.statistics.means import DEFAULT_ROUNDS, DEFAULT_SEED, group_totals, mean_interval
from evalsets.statistics.paired import mcnemar_exact, mcnemar_mid_p, sign_flip_p
from evalsets.statistics.power import smallest_detectable_drop
from evalsets.statistics.rates import Interval, wilson_interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FEWEST_ITEMS = 10
"""Below this number of items only counts are told."""


class Movement(StrEnum):
    """The verdict on a difference."""

    MOVED = "moved"
    STAYED = "did not move"
    UNKNOWN = "too few items to tell"


class PairedComparison(NamedTuple):
    """Two runs over the same items: means, paired difference with interval, test and verdict."""

    items: int
    before: float
    after: float
    difference: float
    interval: Interval
    p_value: float
    test: str
    movement: Movement
    broke: int
    fixed: int
    intervals_overlap: bool
    """The plain rule, shown because people know it: it misses most of what the paired test finds."""
    smallest_drop: float | None
    """Smallest drop of a pass rate that a set of this size shows with 80% power."""


def compare_rates(  # noqa: PLR0913 - two runs, and each way to tune the comparison by name
    before: Sequence[bool],
    after: Sequence[bool],
    *,
    groups: Sequence[Hashable] | None = None,
    margin: float = 0.05,
    alpha: float = 0.05,
    strict: bool = False,
    seed: int = DEFAULT_SEED,
) -> PairedComparison:
    """Compare pass and fail over the same items by McNemar's mid-p test (exact when `strict`).

    Items that share a group move together, so with groups the signs of whole groups are flipped instead. `margin` is
    the difference that would matter: an interval within it means that nothing moved.
    """
    differences = _differences(before, after)
    broke, fixed = int((differences < 0).sum()), int((differences > 0).sum())
    if groups is None:
        p_value, test = (mcnemar_exact if strict else mcnemar_mid_p)(broke, fixed), f"McNemar {_FORMS[strict]}"
    else:
        p_value, test = sign_flip_p(group_totals(differences, groups), seed=seed), _GROUPED_TEST
    passed_before, passed_after, items = sum(before), sum(after), len(differences)
    interval = _difference_interval(differences, groups, seed)
    overlap = wilson_interval(passed_before, items).overlaps(wilson_interval(passed_after, items))
    return PairedComparison(
        items=items,
        before=passed_before / items,
        after=passed_after / items,
        difference=float(differences.mean()),
        interval=interval,
        p_value=p_value,
        test=test,
        movement=_movement(len(differences), interval, p_value, margin=margin, alpha=alpha),
        broke=broke,
        fixed=fixed,
        intervals_overlap=overlap,
        smallest_drop=smallest_detectable_drop(len(differences)),
    )


def compare_means(  # noqa: PLR0913 - two runs, and each way to tune the comparison by name
    before: Sequence[float],
    after: Sequence[float],
    *,
    groups: Sequence[Hashable] | None = None,
    margin: float = 0.05,
    alpha: float = 0.05,
    rounds: int = DEFAULT_ROUNDS,
    seed: int = DEFAULT_SEED,
) -> PairedComparison:
    """Compare graded figures over the same items by a sign-flip permutation test and a BCa interval of differences."""
    differences = _differences(before, after)
    flipped = differences if groups is None else group_totals(differences, groups)
    p_value = sign_flip_p(flipped, rounds=rounds, seed=seed)
    interval = _difference_interval(differences, groups, seed, rounds=rounds)
    bounds = [mean_interval(values, rounds=rounds, seed=seed) for values in (before, after)]
    return PairedComparison(
        items=len(differences),
        before=sum(before) / len(before),
        after=sum(after) / len(after),
        difference=float(differences.mean()),
        interval=interval,
        p_value=p_value,
        test="sign-flip permutation" if groups is None else _GROUPED_TEST,
        movement=_movement(len(differences), interval, p_value, margin=margin, alpha=alpha),
        broke=int((differences < 0).sum()),
        fixed=int((differences > 0).sum()),
        intervals_overlap=bounds[0].overlaps(bounds[1]),
        smallest_drop=smallest_detectable_drop(len(differences)),
    )


_FORMS = {True: "exact", False: "mid-p"}
_GROUPED_TEST = "sign-flip permutation over groups"


def _differences(before: Sequence[float], after: Sequence[float]) -> "NDArray[np.float64]":
    import numpy as np

    if len(before) != len(after) or len(before) == 0:
        raise BadInputError(f"two runs are compared over the same items; got {len(before)} and {len(after)} figures")
    return np.subtract(np.asarray(after, dtype=np.float64), np.asarray(before, dtype=np.float64))


def _difference_interval(
    differences: "NDArray[np.float64]",
    groups: Sequence[Hashable] | None,
    seed: int,
    *,
    rounds: int = DEFAULT_ROUNDS,
) -> Interval:
    """Bound the mean difference; where nothing differs, by how often a change could have stayed unseen."""
    constant = float(differences[0])
    if (abs(differences - constant) > _ROUNDING).any():
        return mean_interval(differences, groups=groups, rounds=rounds, seed=seed)
    unseen = 1 - 0.05 ** (1 / len(differences))
    return Interval(constant - unseen, constant + unseen, "rule of three", "all differences are equal")


_ROUNDING = 1e-9


def _movement(items: int, interval: Interval, p_value: float, *, margin: float, alpha: float) -> Movement:
    if items < FEWEST_ITEMS:
        return Movement.UNKNOWN
    if p_value <= alpha:
        return Movement.MOVED
    within = -margin <= interval.low and interval.high <= margin
    return Movement.STAYED if within else Movement.UNKNOWN

"""Rates of production from a sample whose items were drawn with unequal, known probabilities."""

from collections.abc import Sequence
from typing import NamedTuple

from evalsets.errors import BadInputError
from evalsets.statistics.rates import DEFAULT_CONFIDENCE, Interval, wilson_interval


class WeightedRate(NamedTuple):
    """An estimated rate of the population, its interval, and how many equally likely draws it is worth."""

    rate: float
    interval: Interval
    items: int
    effective_items: float


def weighted_rate(
    passed: Sequence[bool],
    probabilities: Sequence[float],
    *,
    confidence: float = DEFAULT_CONFIDENCE,
) -> WeightedRate:
    """Estimate a rate by weighting each item with one over its inclusion probability, in (0, 1].

    The interval is Wilson's over the effective number of items. Source: Hájek 1971; Kish 1965.
    """
    faults = [probability for probability in probabilities if not 0 < probability <= 1]
    if faults or not passed:
        raise BadInputError(f"inclusion probabilities lie above 0 and up to 1, for at least one item; got {faults!r}")
    weights = [1 / probability for probability in probabilities]
    total = sum(weights)
    rate = sum(weight for weight, ok in zip(weights, passed, strict=True) if ok) / total
    effective = total * total / sum(weight * weight for weight in weights)
    interval = wilson_interval(min(1.0, rate) * effective, effective, confidence=confidence)
    return WeightedRate(rate, interval._replace(method="Wilson over the effective number"), len(passed), effective)

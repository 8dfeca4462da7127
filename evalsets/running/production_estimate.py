"""What a run says of production, when its items were drawn with known chances."""

from collections.abc import Sequence

from evalsets.eval_set import EvalSet
from evalsets.report import ItemResult, ProductionEstimate
from evalsets.statistics.weighted import weighted_rate

FEWEST_DRAWN = 10
CONTROL_SIGNAL = "control"
"""Name of the signal by which unflagged interactions are drawn: without them only failures are seen."""


def estimate_of(eval_set: EvalSet, results: Sequence[ItemResult]) -> ProductionEstimate | None:
    """Return pass and refusal rate of production, or None when the items do not say how they were drawn."""
    sampling = {item.id: item.sampling for item in eval_set.items if item.sampling is not None}
    drawn = [(result, sampling[result.id]) for result in results if result.id in sampling]
    if len(drawn) < FEWEST_DRAWN or all(sample.signal != CONTROL_SIGNAL for _, sample in drawn):
        return None
    chances = [sample.probability for _, sample in drawn]
    passed = weighted_rate([result.passed for result, _ in drawn], chances)
    declined = weighted_rate([result.declined for result, _ in drawn], chances)
    return ProductionEstimate(
        items=passed.items,
        effective_items=passed.effective_items,
        pass_rate=passed.rate,
        low=passed.interval.low,
        high=passed.interval.high,
        refusal_rate=declined.rate,
    )

"""Every metric by its name, and the choice a report makes."""

from collections.abc import Iterable

from evalsets.errors import FaultsError
from evalsets.metrics.answers import ANSWER_METRICS, words_within
from evalsets.metrics.base import Metric
from evalsets.metrics.groundedness import GROUNDEDNESS_METRICS
from evalsets.metrics.judged import JUDGED_METRICS, RAGAS_METRICS
from evalsets.metrics.operations import COST_METRICS, SAFETY_METRICS
from evalsets.metrics.retrieval import CUT, UNCUT
from evalsets.metrics.scorecard import SCORECARD_METRICS

_FIXED: tuple[Metric, ...] = (
    *UNCUT,
    *SCORECARD_METRICS,
    *ANSWER_METRICS,
    *GROUNDEDNESS_METRICS,
    *JUDGED_METRICS,
    *SAFETY_METRICS,
    *COST_METRICS,
)
_BY_NAME = {metric.name: metric for metric in (*_FIXED, *RAGAS_METRICS)}
_WORDS_WITHIN = "words_within"


def all_metrics(k: int = 10) -> tuple[Metric, ...]:
    """Return every metric, those with a cut-off at depth `k`, in the order of the halves."""
    return (*(metric(k) for metric in CUT.values()), *_FIXED)


def optional_metrics() -> tuple[Metric, ...]:
    """Return the metrics that are scored only when they are named."""
    return (words_within(1, 120), *RAGAS_METRICS)


def metric_named(name: str) -> Metric:
    """Return the metric that prints as `name`, such as `recall@5`, `mrr` or `words_within@5-120`.

    Raises FaultsError when there is none.
    """
    return metrics_named([name])[0]


def metrics_named(names: Iterable[str]) -> tuple[Metric, ...]:
    """Return the metrics of these names; every unknown one is named in one error."""
    found = {name: _parsed(name) for name in names}
    unknown = [name for name, metric in found.items() if metric is None]
    if unknown:
        known = ", ".join([*(f"{name}@K" for name in CUT), f"{_WORDS_WITHIN}@LEAST-MOST", *_BY_NAME])
        raise FaultsError("these are no metrics", [f"{name!r}: use one of {known}" for name in unknown])
    return tuple(metric for metric in found.values() if metric)


def _parsed(name: str) -> Metric | None:
    stem, at, depth = name.partition("@")
    if not at:
        return _BY_NAME.get(name)
    if stem in CUT and depth.isdecimal() and int(depth) > 0:
        return CUT[stem](int(depth))
    least, dash, most = depth.partition("-")
    if stem == _WORDS_WITHIN and dash and least.isdecimal() and most.isdecimal() and int(least) <= int(most):
        return words_within(int(least), int(most))
    return None

"""Which metrics a run scores, and which of them read the judge's verdict."""

from functools import lru_cache

from evalsets.metrics.base import Metric
from evalsets.metrics.judged import JUDGED_METRICS
from evalsets.metrics.operations import LATENCY
from evalsets.metrics.registry import all_metrics

JUDGED_NAMES = frozenset(metric.name for metric in JUDGED_METRICS)


@lru_cache(maxsize=8)
def metrics_at(k: int) -> tuple[Metric, ...]:
    """Return every metric of a report at depth `k`. Latency is no part of it: it differs from run to run."""
    return tuple(metric for metric in all_metrics(k) if metric is not LATENCY)

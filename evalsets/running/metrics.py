"""Which metrics a run scores, and which of them read the judge's verdict."""

from functools import lru_cache

from evalsets.metrics.base import Metric
from evalsets.metrics.judged import JUDGED_METRICS
from evalsets.metrics.operations import LATENCY
from evalsets.metrics.registry import all_metrics, metrics_named
from evalsets.running.settings import RunSettings

JUDGED_NAMES = frozenset(metric.name for metric in JUDGED_METRICS)


def metrics_of(settings: RunSettings) -> tuple[Metric, ...]:
    """Return every metric that a run with these settings scores."""
    return _metrics(settings.k, settings.metrics, settings.embeddings)


@lru_cache(maxsize=8)
def _metrics(k: int, names: tuple[str, ...], embeddings: str) -> tuple[Metric, ...]:
    always = {metric.name: metric for metric in metrics_at(k)}
    named = {metric.name: metric for metric in metrics_named(names)}
    return tuple((always | named | _by_meaning(embeddings)).values())


def _by_meaning(embeddings: str) -> dict[str, Metric]:
    if not embeddings:
        return {}
    from evalsets.embedding import load_embedder, passage_similarity
    from evalsets.metrics.groundedness import grounded_meaning

    metric = grounded_meaning(passage_similarity(load_embedder(embeddings)))
    return {metric.name: metric}


@lru_cache(maxsize=8)
def metrics_at(k: int) -> tuple[Metric, ...]:
    """Return every metric of a report at depth `k`. Latency is no part of it: it differs from run to run."""
    return tuple(metric for metric in all_metrics(k) if metric is not LATENCY)

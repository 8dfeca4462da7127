"""Which metrics a run scores."""

from evalsets.metrics.answers import ANSWER_METRICS
from evalsets.metrics.base import Metric
from evalsets.metrics.operations import COST, SAFETY_METRICS, TOKENS
from evalsets.metrics.retrieval import CUT, R_PRECISION, RETURNED_F1, RETURNED_PRECISION, mean_average_precision, mrr


def metrics_at(k: int) -> tuple[Metric, ...]:
    """Return every metric of a report at depth `k`. Latency is no part of it: it differs from run to run."""
    retrieval = [CUT[name](k) for name in ("hit", "recall", "precision", "f1", "ndcg", "fact_recall")]
    whole_list = (mrr(), mean_average_precision(), R_PRECISION, RETURNED_PRECISION, RETURNED_F1)
    return (*retrieval, *whole_list, *ANSWER_METRICS, *SAFETY_METRICS, TOKENS, COST)

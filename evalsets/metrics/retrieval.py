"""Retrieval metrics over chunk ids and fact recall over chunk texts, as units with a name."""

import sys
from collections.abc import Callable
from functools import partial

from evalsets.metrics import ranking
from evalsets.metrics.base import Half, Metric, Scale, ScoredCase
from evalsets.metrics.facts import share_of_facts

_TREC = "trec_eval {}"
_NO_GOLD = "the item has no gold chunks"
_WHOLE_LIST = sys.maxsize


def precision(k: int) -> Metric:
    """Return precision@k: over k, so that a short result list is not rewarded."""
    return _over_ids(f"precision@{k}", ranking.precision_at(k), f"gold among the first {k} / {k}", f"P_{k}")


def recall(k: int) -> Metric:
    """Return recall@k."""
    return _over_ids(f"recall@{k}", ranking.recall_at(k), f"gold among the first {k} / all gold", f"recall_{k}")


def hit(k: int) -> Metric:
    """Return hit@k, a rate."""
    formula = f"1 if a gold chunk is among the first {k}, else 0"
    return _over_ids(f"hit@{k}", ranking.hit_at(k), formula, f"success_{k}", Scale.RATE)


def f1(k: int) -> Metric:
    """Return the harmonic mean of precision@k and recall@k."""
    return _over_ids(f"f1@{k}", ranking.f1_at(k), f"2 · hits among the first {k} / ({k} + all gold)", "")


def mrr(k: int | None = None) -> Metric:
    """Return the reciprocal rank of the first gold chunk; its mean is MRR."""
    measure = ranking.reciprocal_rank_at(k or _WHOLE_LIST)
    return _over_ids(_cut("mrr", k), measure, "1 / rank of the first gold chunk, else 0", "recip_rank")


def ndcg(k: int | None = None) -> Metric:
    """Return nDCG with gains of 0 and 1."""
    formula = "Σ 1/log2(rank + 1) over gold found / the same of the best order"
    return _over_ids(_cut("ndcg", k), ranking.ndcg_at(k or _WHOLE_LIST), formula, f"ndcg_cut_{k}" if k else "ndcg")


def mean_average_precision(k: int | None = None) -> Metric:
    """Return average precision; its mean is MAP."""
    measure = ranking.average_precision_at(k or _WHOLE_LIST)
    return _over_ids(
        _cut("map", k), measure, "Σ precision at each gold chunk's rank / all gold", f"map_cut_{k}" if k else "map"
    )


def fact_recall(k: int) -> Metric:
    """Return the share of the item's facts that stand in the text of the first k chunks, whatever their ids."""
    return Metric(
        f"fact_recall@{k}",
        Half.RETRIEVAL,
        f"facts standing in the text of one of the first {k} chunks / all facts",
        "own; whole words, with case, white space, Unicode form and number formats folded",
        lambda case: _facts_found(case, k),
        undefined_when="the item has no facts, or no retrieved text is known",
    )


CUT: dict[str, Callable[[int], Metric]] = {
    "precision": precision,
    "recall": recall,
    "hit": hit,
    "f1": f1,
    "mrr": mrr,
    "ndcg": ndcg,
    "map": mean_average_precision,
    "fact_recall": fact_recall,
}
"""Metrics that take a cut-off, by the name that stands before the `@`."""


def _facts_found(case: ScoredCase, k: int) -> float | None:
    texts = [chunk.text for chunk in case.retrieved[:k]]
    return None if texts and not any(texts) else share_of_facts(case.item.answer_facts, *texts)


def _over_ids(name: str, measure: ranking.RankFormula, formula: str, trec: str, scale: Scale = Scale.GRADED) -> Metric:
    source = _TREC.format(trec) if trec else "own, from the two"
    return Metric(
        name,
        Half.RETRIEVAL,
        formula,
        source,
        partial(_by_formula, measure),
        scale,
        undefined_when=_NO_GOLD,
    )


def _by_formula(measure: ranking.RankFormula, case: ScoredCase) -> float | None:
    gold, hits, returned = case.placement
    return measure(hits, len(gold), returned) if gold else None


def _cut(name: str, k: int | None) -> str:
    return f"{name}@{k}" if k else name


R_PRECISION = Metric(
    "r_precision",
    Half.RETRIEVAL,
    "precision at rank R, R = number of gold chunks",
    _TREC.format("Rprec"),
    partial(_by_formula, ranking.r_precision),
    undefined_when=_NO_GOLD,
)
RETURNED_PRECISION = Metric(
    "returned_precision",
    Half.RETRIEVAL,
    "gold returned / distinct chunks returned (context precision over ids)",
    _TREC.format("set_P"),
    partial(_by_formula, ranking.returned_precision),
    undefined_when=_NO_GOLD,
)
RETURNED_RECALL = Metric(
    "returned_recall",
    Half.RETRIEVAL,
    "gold returned at any rank / all gold (context recall over ids)",
    _TREC.format("set_recall"),
    partial(_by_formula, ranking.returned_recall),
    undefined_when=_NO_GOLD,
)
RETURNED_F1 = Metric(
    "returned_f1",
    Half.RETRIEVAL,
    "2 · gold returned / (distinct chunks returned + all gold)",
    _TREC.format("set_F"),
    partial(_by_formula, ranking.returned_f1),
    undefined_when=_NO_GOLD,
)

UNCUT = (mrr(), ndcg(), mean_average_precision(), R_PRECISION, RETURNED_PRECISION, RETURNED_RECALL, RETURNED_F1)

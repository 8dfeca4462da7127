"""Retrieval metrics: known figures, edge cases, and equality with trec_eval on random cases."""

import random
from itertools import count

import pytest
import pytrec_eval

from evalsets.metrics import ranking, retrieval
from evalsets.metrics.base import Metric
from tests.evalsets.cases import answered, item, ranked

CUTS = (1, 3, 5, 10, 30)


def test_known_figures_of_precision_and_recall() -> None:
    case = ranked(["doc7", "doc3", "doc9"], gold=["doc7", "doc12"])

    assert retrieval.precision(3).score(case) == pytest.approx(1 / 3)
    assert retrieval.recall(3).score(case) == 0.5
    assert retrieval.RETURNED_PRECISION.score(case) == pytest.approx(1 / 3)


def test_every_id_metric_equals_trec_eval_on_a_thousand_random_cases() -> None:
    cases = _random_cases(1000)
    figures = _trec_eval(cases)
    pairs = _metrics_beside_trec_names()

    for name, (found, gold) in cases.items():
        case = ranked(found, gold)
        for metric, trec_name in pairs:
            assert metric.score(case) == pytest.approx(figures[name][trec_name], abs=1e-9), (metric.name, found, gold)


def test_scoring_many_rankings_at_once_gives_what_each_metric_gives() -> None:
    cases = [*_random_cases(200).values(), (["a", "a", "b"], ["b"]), (["a"], []), ([], ["a"])]
    metrics = [
        metric(k) for k in CUTS for metric in (retrieval.recall, retrieval.precision, retrieval.ndcg, retrieval.f1)
    ]
    formulas = [
        formula(k)
        for k in CUTS
        for formula in (ranking.recall_at, ranking.precision_at, ranking.ndcg_at, ranking.f1_at)
    ]

    rows = ranking.score_rankings([set(gold) for _, gold in cases], [found for found, _ in cases], formulas)

    for row, (found, gold) in zip(rows, cases, strict=True):
        one_by_one = [metric.score(ranked(found, gold)) for metric in metrics]
        assert list(row or [None] * len(metrics)) == one_by_one


def test_empty_gold_is_undefined_for_every_id_metric() -> None:
    case = ranked(["a", "b"], gold=[])

    assert {metric.score(case) for metric, _ in _metrics_beside_trec_names()} == {None}


def test_an_empty_result_scores_zero() -> None:
    case = ranked([], gold=["a"])

    assert {metric.score(case) for metric, _ in _metrics_beside_trec_names()} == {0.0}


def test_a_repeated_id_counts_at_its_first_rank_and_is_counted() -> None:
    case = ranked(["b", "a", "a", "c"], gold=["a", "c"])

    assert case.ranking == ("b", "a", "c")
    assert case.duplicates == 1
    assert retrieval.recall(3).score(case) == 1.0


def test_rank_is_list_order_whatever_the_scores_say() -> None:
    low_first = ranked(["gold", "other"], gold=["gold"])
    chunks = tuple(chunk._replace(score=score) for chunk, score in zip(low_first.retrieved, (0.1, 0.9), strict=True))
    case = type(low_first)(item=low_first.item, retrieved=chunks)

    assert retrieval.mrr().score(case) == 1.0


@pytest.mark.parametrize("written", [" a ", "a\n", "\ta"])
def test_ids_are_stripped(written: str) -> None:
    assert retrieval.recall(1).score(ranked([written], gold=["a"])) == 1.0


def test_ids_of_different_unicode_forms_are_one() -> None:
    assert retrieval.recall(1).score(ranked(["cafe\u0301"], gold=["caf\u00e9"])) == 1.0


def test_a_leading_zero_makes_another_id() -> None:
    assert retrieval.recall(1).score(ranked(["01"], gold=["1"])) == 0.0


def test_precision_at_k_divides_by_k_and_returned_precision_by_what_came_back() -> None:
    case = ranked(["a"], gold=["a"])

    assert retrieval.precision(5).score(case) == 0.2
    assert retrieval.RETURNED_PRECISION.score(case) == 1.0


def test_fact_recall_finds_a_fact_in_the_text_of_any_chunk_whatever_its_id() -> None:
    case = answered(
        None,
        texts=["Delivery takes  3\u20135 days.", "The fee is \u20ac1,200.00 a year."],
        answer_facts=("1200 \u20ac", ("5 days", "five days"), "free of charge"),
    )

    assert retrieval.fact_recall(1).score(case) == pytest.approx(1 / 3)
    assert retrieval.fact_recall(2).score(case) == pytest.approx(2 / 3)
    assert retrieval.fact_recall(2).score(answered(None, texts=["x"])) is None


def test_a_number_is_not_found_inside_a_longer_one() -> None:
    case = answered(None, texts=["Refunds take 130 days."], answer_facts=("30 days",))

    assert retrieval.fact_recall(1).score(case) == 0.0


def test_units_print_their_names() -> None:
    assert [str(metric(5)) for metric in retrieval.CUT.values()] == [
        "precision@5",
        "recall@5",
        "hit@5",
        "f1@5",
        "mrr@5",
        "ndcg@5",
        "map@5",
        "fact_recall@5",
    ]
    assert item().gold_chunk_ids == ()


def _random_cases(number: int) -> dict[str, tuple[list[str], list[str]]]:
    draw = random.Random(20261130)  # noqa: S311 - a seeded draw of cases, nothing secret
    cases = {}
    for name in map("q{}".format, range(number)):
        pool = [f"d{n}" for n in range(draw.randint(1, 60))]
        found = draw.sample(pool, draw.randint(1, len(pool)))
        gold = draw.sample(pool, draw.randint(1, min(len(pool), 40)))
        cases[name] = (found, gold)
    return cases


def _trec_eval(cases: dict[str, tuple[list[str], list[str]]]) -> dict[str, dict[str, float]]:
    qrel = {name: dict.fromkeys(gold, 1) for name, (_, gold) in cases.items()}
    run = {name: dict(zip(found, map(float, count(0, -1)), strict=False)) for name, (found, _) in cases.items()}
    cuts = ",".join(map(str, CUTS))
    cut = {f"{measure}.{cuts}" for measure in ("P", "recall", "success", "ndcg_cut", "map_cut")}
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrel, cut | {"recip_rank", "map", "ndcg", "Rprec", "set_P", "set_recall", "set_F"}
    )
    figures: dict[str, dict[str, float]] = evaluator.evaluate(run)
    return figures


def _metrics_beside_trec_names() -> list[tuple[Metric, str]]:
    cut = {
        "P": retrieval.precision,
        "recall": retrieval.recall,
        "success": retrieval.hit,
        "ndcg_cut": retrieval.ndcg,
        "map_cut": retrieval.mean_average_precision,
    }
    at_cuts = [(metric(k), f"{trec}_{k}") for trec, metric in cut.items() for k in CUTS]
    return [
        *at_cuts,
        (retrieval.mrr(), "recip_rank"),
        (retrieval.mean_average_precision(), "map"),
        (retrieval.ndcg(), "ndcg"),
        (retrieval.R_PRECISION, "Rprec"),
        (retrieval.RETURNED_PRECISION, "set_P"),
        (retrieval.RETURNED_RECALL, "set_recall"),
        (retrieval.RETURNED_F1, "set_F"),
    ]

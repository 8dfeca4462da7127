from evalsets.comparison import compare
from evalsets.gating.gate import Tolerances, evaluate
from evalsets.playground import run_five_questions


def test_recall_and_groundedness_fall_while_correctness_holds() -> None:
    baseline = run_five_questions(top_k=3, padding=False)
    candidate = run_five_questions(top_k=1, padding=True)
    assert (baseline.retrieval_recall, candidate.retrieval_recall) == (1.0, 0.8)
    assert baseline.metrics["grounded_tokens"].value == 1.0
    assert (candidate.metrics["grounded_tokens"].value or 0.0) < 0.5
    assert baseline.answer_accuracy == candidate.answer_accuracy == 1.0


def test_the_near_duplicate_is_what_pushes_the_gold_chunk_out() -> None:
    candidate = run_five_questions(top_k=1, padding=True)
    missed = [item for item in candidate.items if item.scores["hit@1"] == 0.0]
    assert [(item.id, item.retrieved[0].chunk_id) for item in missed] == [("pg-return-parcel", "orders-archive-01")]


def test_the_gate_names_the_retriever_and_with_proxies_the_prompt_too() -> None:
    baseline = run_five_questions(top_k=3, padding=False)
    candidate = run_five_questions(top_k=1, padding=True)
    assert evaluate(baseline, candidate).halves_to_fix == ("retrieval",)
    asked = Tolerances(metrics={"grounded_tokens": 0.03}, allow_proxy=True)
    assert evaluate(baseline, candidate, asked).halves_to_fix == ("retrieval", "generation")
    assert len(compare(baseline, candidate).broken) == 0

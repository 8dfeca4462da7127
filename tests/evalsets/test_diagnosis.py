"""The first cause of a failure."""

import pytest

from evalsets.chunks import Chunk
from evalsets.diagnosis import HALF_OF, LOOK_AT, Cause, cause_counts, diagnose
from evalsets.metrics.base import Half, ScoredCase
from tests.evalsets.cases import item

GOLD_TEXT = "Refunds are issued to the original payment method within 30 days."


def case(answer: str | None, *, ranked: tuple[str, ...] = ("gold",), **fields: object) -> ScoredCase:
    texts = {"gold": GOLD_TEXT}
    retrieved = tuple(Chunk(chunk_id, texts.get(chunk_id, "Parking is behind the house.")) for chunk_id in ranked)
    labelled = item(**{"gold_chunk_ids": ("gold",), "expected": GOLD_TEXT, **fields})
    return ScoredCase(item=labelled, retrieved=retrieved, answer=answer)


@pytest.mark.parametrize(
    ("failed", "cause"),
    [
        (case(None), Cause.NO_ANSWER),
        (case("Parking costs 5.", mode="out_of_scope", gold_chunk_ids=()), Cause.NOT_IN_CORPUS),
        (case("Something.", gold_chunk_ids=("gone",)), Cause.NOT_IN_CORPUS),
        (case("Something.", ranked=("x", "y")), Cause.NOT_RETRIEVED),
        (case("Something.", ranked=("a", "b", "c", "d", "e", "gold")), Cause.RANKED_TOO_LOW),
        (case("Refunds are not issued to the original payment method."), Cause.CONTRADICTED),
        (case("It takes 45 days."), Cause.CONTRADICTED),
        (case("I don't know."), Cause.DECLINED),
        (case("Within 30 days.", answer_facts=("30 days",)), Cause.JUDGED_WRONGLY),
        (case("Refunds issued: the original payment method, within 30 days"), Cause.JUDGED_WRONGLY),
        (case("Ask at the desk."), Cause.LEFT_OUT),
    ],
)
def test_the_first_cause_that_applies_is_given_with_evidence(failed: ScoredCase, cause: Cause) -> None:
    found = diagnose(failed, corpus_ids={"gold", "a", "b", "c", "d", "e", "x", "y"})

    assert found.cause is cause
    assert found.evidence
    assert found.look_at == LOOK_AT[cause]


def test_without_a_corpus_gold_is_taken_to_be_in_it() -> None:
    assert diagnose(case("Something.", gold_chunk_ids=("gone",))).cause is Cause.NOT_RETRIEVED


def test_causes_are_counted_most_frequent_first() -> None:
    found = [diagnose(case(answer)) for answer in ("I don't know.", None, "I don't know.")]

    assert list(cause_counts(found).items()) == [(Cause.DECLINED, 2), (Cause.NO_ANSWER, 1)]


def test_causes_before_the_answer_speak_of_the_retrieval_half() -> None:
    assert {cause for cause, half in HALF_OF.items() if half is Half.RETRIEVAL} == {
        Cause.NOT_IN_CORPUS,
        Cause.NOT_RETRIEVED,
        Cause.RANKED_TOO_LOW,
    }

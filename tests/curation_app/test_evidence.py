from dataclasses import replace
from pathlib import Path

import pytest

from curation_app.labels import LabelContent
from curation_app.service.evidence import Standing, contradictions, unsupported_sentences, weigh_evidence
from evalsets.chunks import Chunk
from evalsets.items import GoldChunk, Mode
from ingest.corpus.index import CorpusIndex
from ingest.mining.candidates import CandidateChunk, CandidateTurn

TURN = CandidateTurn(
    interaction_id="t",
    question="how many days for a refund",
    answer="Refunds are granted within 14 days.",
    retrieved=(CandidateChunk(chunk_id="kb-1", text="Refunds for annual plans take 30 days."),),
)
DECLINED = replace(TURN, answer="I'm sorry, I don't have information about that.")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> CorpusIndex:
    index = CorpusIndex(Path(tmp_path_factory.mktemp("index")))
    index.refresh(
        [
            Chunk("kb-1", "Refunds for annual plans take 30 days.", "kb"),
            Chunk("kb-2", "A refund by mail costs 5 euros.", "kb"),
            Chunk("kb-3", "The cafeteria opens at eight.", "kb"),
        ]
    )
    return index


def facts(*each: str) -> LabelContent:
    return LabelContent(answer_facts=tuple((fact,) for fact in each))


def gold(mode: Mode, *chunk_ids: str) -> LabelContent:
    return LabelContent(mode=mode, gold_chunks=tuple(GoldChunk(chunk_id=each) for each in chunk_ids))


def test_facts_in_a_retrieved_chunk_point_to_grounding(corpus: CorpusIndex) -> None:
    evidence = weigh_evidence(facts("30 days"), TURN, corpus)
    assert (evidence.suggested, evidence.statements[0].chunk_id) == (Mode.GROUNDING_FAILURE, "kb-1")


def test_facts_in_a_retrieved_chunk_under_a_declining_answer_point_to_refusal(corpus: CorpusIndex) -> None:
    assert weigh_evidence(facts("30 days"), DECLINED, corpus).suggested is Mode.REFUSAL


def test_facts_elsewhere_in_the_corpus_point_to_a_miss_and_offer_the_chunk(corpus: CorpusIndex) -> None:
    evidence = weigh_evidence(facts("5 euros", "30 days"), TURN, corpus)
    assert evidence.suggested is Mode.RETRIEVAL_MISS
    assert evidence.offered is not None
    assert evidence.offered.chunk_id == "kb-2"


def test_facts_nowhere_point_out_of_scope_or_to_a_correction(corpus: CorpusIndex) -> None:
    evidence = weigh_evidence(facts("within 99 years"), TURN, corpus)
    assert evidence.suggested is Mode.OUT_OF_SCOPE
    mixed = weigh_evidence(facts("30 days", "99 years"), TURN, corpus)
    assert mixed.suggested is None
    assert "“99 years” stands nowhere" in mixed.sentence


def test_without_facts_the_sentences_of_the_expected_answer_are_looked_up(corpus: CorpusIndex) -> None:
    evidence = weigh_evidence(LabelContent(expected="Annual plans: refunds take 30 days."), TURN, corpus)
    assert [each.standing for each in evidence.statements] == [Standing.RETRIEVED]
    wrong_number = weigh_evidence(LabelContent(expected="Annual plans: refunds take 31 days."), TURN, corpus)
    assert [each.standing for each in wrong_number.statements] == [Standing.NOWHERE]


def test_nothing_typed_suggests_nothing(corpus: CorpusIndex) -> None:
    assert weigh_evidence(LabelContent(), TURN, corpus).suggested is None


@pytest.mark.parametrize(
    ("content", "turn", "words"),
    [
        (gold(Mode.RETRIEVAL_MISS, "kb-1"), TURN, "gold chunk kb-1 was retrieved"),
        (gold(Mode.GROUNDING_FAILURE, "kb-2"), TURN, "gold chunk kb-2 was not retrieved"),
        (gold(Mode.OUT_OF_SCOPE, "kb-1"), TURN, "gold chunk kb-1 is picked"),
        (gold(Mode.REFUSAL, "kb-1"), TURN, "does not decline"),
        (facts("14 days"), TURN, "already says “14 days”"),
    ],
)
def test_a_label_that_contradicts_the_log_is_named(content: LabelContent, turn: CandidateTurn, words: str) -> None:
    (named,) = contradictions(content, turn)
    assert words in named


def test_a_label_that_fits_the_log_is_not_questioned() -> None:
    assert contradictions(gold(Mode.REFUSAL, "kb-1"), DECLINED) == []
    assert contradictions(gold(Mode.RETRIEVAL_MISS, "kb-2"), TURN) == []


def test_only_sentences_that_stand_in_no_retrieved_chunk_are_marked() -> None:
    answer = "Refunds for annual plans take 30 days. Refunds for annual plans take 14 days. You get a coupon."
    turn = replace(TURN, answer=answer)
    assert unsupported_sentences(turn) == ("Refunds for annual plans take 14 days.", "You get a coupon.")

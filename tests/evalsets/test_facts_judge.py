"""The offline judge, on the cases a whole loop hangs on."""

import pytest

from evalsets.judges.base import FactsJudge
from evalsets.metrics.facts import missing_facts
from tests.evalsets.cases import answered


def test_an_answer_passes_when_every_fact_stands_in_it() -> None:
    facts = ("30 days", ("original payment method", "same card"))
    verdict = FactsJudge().judge(answered("Within 30\u00a0days, to the same card.", answer_facts=facts))

    assert verdict.passed
    assert verdict.note == "every fact stands in the answer"


def test_the_note_names_what_is_missing() -> None:
    verdict = FactsJudge().judge(answered("Within 14 days.", answer_facts=("30 days", ("card", "bank"))))

    assert not verdict.passed
    assert verdict.note == "missing: '30 days'; 'card / bank'"


def test_without_facts_the_expected_text_must_stand_in_the_answer() -> None:
    assert FactsJudge().judge(answered("Use  the PORTAL.", expected="Use the portal.")).passed
    assert FactsJudge().judge(answered("Please: use the portal!", expected="Use the portal.")).passed
    assert not FactsJudge().judge(answered("Refunds take 30 days.", expected="Refunds take 14 days.")).passed


@pytest.mark.parametrize("answer", [None, "", "  \n"])
def test_an_empty_answer_fails(answer: str | None) -> None:
    verdict = FactsJudge().judge(answered(answer, expected="Use the portal."))

    assert (verdict.passed, verdict.note) == (False, "the answer is empty")


def test_an_item_with_nothing_to_compare_fails_with_the_reason() -> None:
    verdict = FactsJudge().judge(answered("Anything."))

    assert not verdict.passed
    assert "no facts" in verdict.note


@pytest.mark.parametrize(
    ("answer", "passes"),
    [("I do not have information on parental leave.", True), ("The cafeteria opens at 8.", False)],
)
def test_an_item_the_corpus_does_not_cover_passes_by_declining(answer: str, *, passes: bool) -> None:
    verdict = FactsJudge().judge(answered(answer, mode="out_of_scope"))

    assert verdict.passed is passes
    assert verdict.declined is passes


def test_a_fact_without_words_is_never_found() -> None:
    assert missing_facts((("...",),), "anything ...") == (("...",),)

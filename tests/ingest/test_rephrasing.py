import tomllib
from functools import lru_cache
from pathlib import Path

import duckdb
import pytest

from evalsets.refusals import RefusalKind, read_refusal
from ingest.signals.decline_hints import decline_hints
from ingest.signals.rephrasing import rephrase_verdicts
from tests.evalsets import declining_phrases as phrases


def kind(earlier: str, later: str) -> str | None:
    verdict = rephrase_verdicts([earlier], [later])[0]
    return verdict.kind if verdict else None


@pytest.mark.parametrize(
    ("earlier", "later", "expected"),
    [
        ("How do I cancel it?", "How do I cancel the Studio plan?", "restated"),
        ("What are its symptoms?", "What are the symptoms of lung cancer?", "restated"),
        ("party boats at the pier", "I meant boats that I can join alone", "corrected"),
        ("How can I get there?", "No, by train.", "corrected"),
        ("How can I get there?", "No, I meant by train\u2019s night line.", "corrected"),
        ("How do I cancel?", "Hm. how do I cancel??", "repeated"),
        ("How do I cancel?", "How do I cancel?", "repeated"),
    ],
)
def test_each_kind_of_rephrase_is_named(earlier: str, later: str, expected: str) -> None:
    assert kind(earlier, later) == expected


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("How do I cancel my plan?", "Where do I upload a receipt?"),
        ("What plans are there?", "What about the discount for charities?"),
        ("Who founded the company?", "And when did that happen?"),
        ("", "How do I cancel?"),
        ("How do I cancel?", ""),
    ],
)
def test_a_follow_up_a_topic_shift_and_an_empty_question_are_no_rephrase(earlier: str, later: str) -> None:
    assert kind(earlier, later) is None


@lru_cache
def pairs(name: str) -> list[list[str]]:
    lists = tomllib.loads(Path(__file__).with_name("question_pairs.toml").read_text("utf-8"))
    return [line.split(" | ") for line in lists[name].strip().splitlines()]


@pytest.mark.parametrize(("earlier", "later"), pairs("corrected"))
def test_corrections_and_doubts_in_seven_languages_are_named_corrected(earlier: str, later: str) -> None:
    assert kind(earlier, later) == "corrected"


@pytest.mark.parametrize(("earlier", "later"), pairs("asked_again"))
def test_questions_asked_again_in_seven_languages_are_rephrases(earlier: str, later: str) -> None:
    assert kind(earlier, later) in {"restated", "reworded"}


@pytest.mark.parametrize(("earlier", "later"), pairs("goes_on"))
def test_follow_ups_and_other_topics_in_seven_languages_are_none(earlier: str, later: str) -> None:
    assert kind(earlier, later) is None


def test_a_very_long_question_is_compared_by_its_beginning() -> None:
    assert kind("How do I cancel my plan? " + "x " * 200_000, "How do I cancel my plan? " + "y " * 200_000) is not None


def hinted(texts: list[str], hint: str) -> set[str]:
    query = "SELECT t FROM unnest(?) AS u(t) WHERE regexp_matches(t, ?)"
    return {text for (text,) in duckdb.execute(query, [texts, hint]).fetchall()}


def test_an_answer_the_detector_calls_declining_is_never_passed_over_by_the_hint() -> None:
    texts = [*phrases.DECLINES, *phrases.REFUSES, *phrases.ANSWERS_A_PART, *phrases.DECLINES_IN_SIX_LANGUAGES]
    hints = decline_hints()
    found = {name: hinted(texts, hint) for name, hint in hints.items()}

    for text in texts:
        verdict = read_refusal(text)
        if verdict.kind is not RefusalKind.NONE:
            assert text in found["decline_cue"]
            assert text in found[f"decline_{verdict.language}"]


def test_the_hint_lets_ordinary_answers_pass() -> None:
    answers = ["Open Billing and choose Cancel.", "The plan costs 10 euros a month.", "Which plan are you on?"]
    assert hinted(answers, decline_hints(["en"])["decline_cue"]) == set()

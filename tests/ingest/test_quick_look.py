from collections.abc import Sequence
from functools import cache

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as some

from evalsets.languages import LANGUAGES
from ingest.settings import SignalSettings
from ingest.signals import quick_look
from ingest.signals.columns import SignalColumns
from ingest.signals.cues import ANY_CUE, expression
from ingest.signals.decline_hints import hint_of
from ingest.signals.needed_letters import needed_groups
from ingest.signals.phrase_parts import UnknownExpressionError
from ingest.signals.quick_look import IS_PADDED, MAY_MATCH, QuickLook
from tests.evalsets.declining_phrases import DECLINES, DECLINES_IN_SIX_LANGUAGES, REFUSES

CONNECTION = duckdb.connect()
EXPRESSIONS = {"cues": expression(ANY_CUE), **{code: hint_of(code) for code in LANGUAGES}}
USUAL = ["How do I cancel the plan for the team?", "The invoice is in your account, under what you paid."] * 20


def is_matched(expression: str, texts: list[str]) -> list[bool]:
    """Let the engine say which texts an expression matches."""
    rows = CONNECTION.execute("SELECT regexp_matches(unnest($1::VARCHAR[]), $2)", [texts, expression]).fetchall()
    return [is_so for (is_so,) in rows]


@cache
def look_for(name: str) -> QuickLook:
    """Return a look that has learned from USUAL which letters to look for."""
    look = QuickLook([EXPRESSIONS[name]], worth_from=1)
    look._groups = needed_groups(EXPRESSIONS[name], USUAL)
    return look


def found(look: QuickLook, texts: Sequence[str | None]) -> list[bool]:
    result: list[bool] = (look.said_of(pa.array(texts, pa.string())) & MAY_MATCH != 0).tolist()
    return result


@pytest.mark.skipif(not quick_look.IS_COMPILED, reason="the loop that looks for letters was not compiled")
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_few_usual_texts_need_to_be_read_by_an_expression(name: str) -> None:
    assert found(look_for(name), ["Thursday."]) == [False]


PIECES = [
    *("no", "not", "n't", "n\u2019t", "can", "i", "mean", "it", "is", "that", "what", "you", "sure", "the", "a person"),
    *("real", "really", "?", "!", ",", ".", " ", "  ", "\n", "*", "n/a", "na", "info", "documents", "unable", "to"),
    *("nicht", "ich", "k.a.", "ne", "pas", "je", "no", "no s\u00e9", "non", "n\u00e3o", "niet", "geen", "Ich meine"),
    *("\u00e9", "\U0001f600", "\u017f", "\u212a", "NO", "Wrong", "answer", "speak", "12", "_", "\u0301", "told me"),
]


@pytest.mark.parametrize("name", EXPRESSIONS)
@given(some.lists(some.sampled_from(PIECES), max_size=12), some.sampled_from(["", " "]))
def test_a_text_that_an_expression_matches_is_always_found(name: str, pieces: list[str], space: str) -> None:
    text = space.join(pieces)
    if is_matched(EXPRESSIONS[name], [text])[0]:
        assert found(look_for(name), [text]) == [True]


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_answers_that_decline_are_found_where_an_expression_matches_them(name: str) -> None:
    texts = [*DECLINES, *DECLINES_IN_SIX_LANGUAGES, *REFUSES]
    matched = np.array(is_matched(EXPRESSIONS[name], texts))
    assert matched.any()
    assert np.array(found(look_for(name), texts))[matched].all()


PARTS = [
    "a",
    "bc",
    ".",
    r"\b",
    r"\w",
    r"\s",
    "[ab]",
    "[^a-z]",
    "[a-c]",
    "(?:ab|c)",
    "(?:|d)",
    "^",
    "$",
    "['\u2019]",
    "\u00e9",
]


@given(
    some.lists(some.tuples(some.sampled_from(PARTS), some.sampled_from(["", "", "?", "*", "+", "{0,2}"])), max_size=6),
    some.lists(some.text("aabcd '\u2019\u00e9_1?.", max_size=30), min_size=1, max_size=20),
)
def test_whatever_an_expression_is_made_of_a_text_it_matches_is_found(
    parts: list[tuple[str, str]], texts: list[str]
) -> None:
    made = "(?i)" + "".join(part if part in {r"\b", "^", "$"} else part + times for part, times in parts)
    look = QuickLook([made], worth_from=1)
    for is_there, is_found in zip(is_matched(made, texts), found(look, texts), strict=True):
        assert is_found or not is_there


def test_only_the_first_letters_are_looked_at_and_a_missing_text_matches_nothing() -> None:
    look = QuickLook(["(?i)refused"], longest=10, worth_from=1)
    texts = ["\u00e9\u00e9 refused", "\u00e9\u00e9\u00e9\u00e9 refused", "it REFUSED", None, ""]
    assert found(look, texts) == ([True, False, True, False, False] if quick_look.IS_COMPILED else [True] * 5)


def test_texts_with_spaces_around_them_and_empty_ones_are_told_from_others() -> None:
    texts = pa.array(["a", " a", "a ", "", None, " ", "a b", "\u00e9"])
    said = QuickLook(["refused"], worth_from=1).said_of(texts)
    expected = [0, 1, 1, 1, 1, 1, 0, 0] if quick_look.IS_COMPILED else [1] * 8
    assert (said & IS_PADDED != 0).tolist() == [bool(each) for each in expected]


def test_few_texts_are_not_worth_working_out_which_letters_are_needed() -> None:
    look = QuickLook(["refused"], worth_from=4)
    assert found(look, ["a", "b"]) == [True, True]
    assert found(look, ["a", "refused"]) == ([False, True] if quick_look.IS_COMPILED else [True, True])


@pytest.mark.skipif(not quick_look.IS_COMPILED, reason="the loop that looks for letters was not compiled")
def test_what_one_look_learned_serves_another_of_the_same_expressions_alone() -> None:
    first = QuickLook(["refused"], worth_from=2)
    assert first.learned == ""
    found(first, ["a", "b"])
    assert found(QuickLook(["refused"], learned=first.learned), ["a", "refused"]) == [False, True]
    assert found(QuickLook(["denied"], learned=first.learned), ["a", "denied"]) == [True, True]


@pytest.mark.parametrize("unknown", [r"a(?=b)", r"(a)", r"\d", r"(?:a"])
def test_an_expression_with_what_is_not_understood_is_an_error(unknown: str) -> None:
    with pytest.raises(UnknownExpressionError, match=r"known|closed"):
        needed_groups(unknown, USUAL)


@pytest.mark.skipif(not quick_look.IS_COMPILED, reason="the loop that looks for letters was not compiled")
@given(some.lists(some.binary(max_size=30), min_size=1, max_size=10))
def test_bytes_that_are_no_text_are_read_within_their_bounds(texts: list[bytes]) -> None:
    texts = [*texts, b"\xe2\x84", b"\xc5", b"ab\xf0\x9f"]
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    column = pa.Array.from_buffers(
        pa.string(), len(texts), [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(texts))]
    )
    look = QuickLook(["refused"], worth_from=1)
    look._groups = needed_groups("refused", USUAL)
    assert look.said_of(column)[-1] == 0


def test_the_first_look_tells_of_question_and_answer_in_bits() -> None:
    columns = SignalColumns(SignalSettings(), ["en"], looks_from=1)
    questions, answers = [" Thursday", "Thursday", "are you sure?", None], ["Friday.", "I do not know.", "Friday. ", ""]
    looks = columns.first_look(pa.array(questions, pa.string()), pa.array(answers, pa.string())).to_pylist()
    assert looks == ([2, 4, 1 | 8, 2 | 8] if quick_look.IS_COMPILED else [15] * 4)

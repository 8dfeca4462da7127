"""Folding, tokens and sentences."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsets.words import (
    contains_phrase,
    content_words,
    fold,
    numbers,
    sentences,
    tokens,
    without_citations,
    without_markdown,
)


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("1,000.50", "1000.50"),
        ("1.000,50", "1000.50"),
        ("1 000", "1000"),
        ("1\u202f000", "1000"),
        ("1'000'000", "1000000"),
        ("10.000.000", "10000000"),
        ("2,5 l", "2.5 l"),
        ("30.00", "30"),
        ("30 percent", "30%"),
        ("$1,200.00", "1200$"),
        ("1200 $", "1200 $"),
        ("2.50 \u20ac", "2.5 \u20ac"),
        ("\uff11\uff10 days", "10 days"),
        ("in 2024 300 items", "in 2024 300 items"),
        ("1, 2 and 3", "1, 2 and 3"),
        ("1.000", "1.000"),
        ("Python 3.10", "python 3.10"),
    ],
)
def test_number_formats_are_made_one_where_they_can_mean_only_one_thing(written: str, folded: str) -> None:
    assert fold(written) == folded


def test_case_white_space_quotes_dashes_and_unicode_forms_are_made_one() -> None:
    assert fold("  \u201cCafe\u0301\u201d\u00a0\u2013\tSTRASSE ") == fold('"caf\u00e9" - stra\u00dfe')
    assert fold("zero\u200bwidth soft\u00adhyphen") == "zerowidth softhyphen"


def test_a_price_is_one_price_whichever_side_the_sign_stands() -> None:
    assert tokens("costs $30.00 now") == tokens("costs 30 $ now")


def test_a_phrase_stands_only_as_whole_words() -> None:
    assert contains_phrase("Within 30\u00a0Days, please", "30 days")
    assert not contains_phrase("Within 130 days", "30 days")
    assert not contains_phrase("30% off", "30 off")
    assert not contains_phrase("anything", "  ")


def test_scripts_without_spaces_and_with_vowel_signs_have_words() -> None:
    assert tokens("\u6771\u4eac30\u65e5") == ["\u6771", "\u4eac", "30", "\u65e5"]
    assert tokens("\u0939\u093f\u0928\u094d\u0926\u0940 \u0939\u0948") == [
        "\u0939\u093f\u0928\u094d\u0926\u0940",
        "\u0939\u0948",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("How do I get a refund for the portal?", ["get", "refund", "portal"]),
        ("Wie bekomme ich eine Erstattung im Portal?", ["bekomme", "erstattung", "portal"]),
        ("Comment puis-je obtenir un remboursement ?", ["obtenir", "remboursement"]),
    ],
)
def test_function_words_go_by_the_language_guessed(text: str, words: list[str]) -> None:
    assert [word for word in content_words(text) if word != "je"] == words


def test_abbreviations_initials_and_decimals_end_no_sentence() -> None:
    text = "Ask Dr. Weber, e.g. by mail. It costs 3.5 EUR! Really?\n\n- First point\n- Second point"

    assert sentences(text) == [
        "Ask Dr. Weber, e.g. by mail.",
        "It costs 3.5 EUR!",
        "Really?",
        "- First point",
        "- Second point",
    ]


def test_markdown_is_dropped_and_its_words_kept() -> None:
    assert without_markdown("## Refunds\n**Within** `30` days, see [the policy](http://x).").split() == [
        "Refunds",
        "Within",
        "30",
        "days,",
        "see",
        "the",
        "policy.",
    ]


def test_numbers_are_listed_folded_and_in_order() -> None:
    assert numbers("From 1,000 to 2.50 in 2024, v3") == ["1000", "2.50", "2024"]


@given(st.text(max_size=200))
@settings(max_examples=150)
def test_folding_twice_changes_nothing_and_any_text_has_sentences_and_tokens(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert all(sentence.strip() == sentence != "" for sentence in sentences(text))
    assert all(token for token in tokens(text))


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126), max_size=80))
@settings(max_examples=150)
def test_the_quick_way_for_ascii_finds_the_same_tokens(text: str) -> None:
    from evalsets.words import _TOKEN

    assert tokens(text) == _TOKEN.findall(fold(text))


def test_words_with_marks_inside_and_numbers_are_cut_the_quick_way_too() -> None:
    text = "It's 2.50 (v3.5). 'Quoted' a1b, 1ab; don't stop... 30% of $5! e.g. x'y'"
    assert tokens(text) == [
        *("it's", "2.50", "v3", "5", "quoted", "a1b", "1", "ab", "don't", "stop"),
        *("30", "%", "of", "5", "$", "e", "g", "x'y"),
    ]


@pytest.mark.parametrize("part", ["[1", "![", "[", "1", "1,", "1 000 ", "a'", "*", "`", '"', "a or ", "i do not "])
def test_a_hundred_thousand_characters_of_one_thing_repeated_are_read(part: str) -> None:
    """What grows with the square of the length would not end here."""
    text = "[" + part * (100_000 // len(part))

    assert len(sentences(without_citations(without_markdown(text)))) <= 1
    assert isinstance(tokens(text), list)

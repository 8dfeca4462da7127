import re

import pytest

from evalsets.phrase_patterns import any_of

FRAGMENTS = (
    r"\b(?:i|we) (?:can't|cannot) (?:say|tell)\b",
    r"\b(?:i|we) do(?:n't| not) know\b",
    r"\bdocs? do(?:es)? not (?:say|tell)|\bthe docs are silent",
    r"\bno+ idea\b",
    r"^(?:sorry|regrettably),? no\b",
    "n't enough",
    r"\b(?:[a-z]+|x) is unclear\b",
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("well, we don't know", "we don't know"),
        ("i cannot tell", "i cannot tell"),
        ("the docs do not say", "docs do not say"),
        ("sadly the docs are silent", "the docs are silent"),
        ("noooo idea", "noooo idea"),
        ("sorry, no", "sorry, no"),
        ("so sorry, no", None),
        ("that isn't enough", "n't enough"),
        ("this is unclear", "this is unclear"),
        ("wiki cannot tell", None),
        ("(|", None),
    ],
)
def test_each_fragment_is_found_where_it_begins_a_text_a_word_or_anywhere(text: str, found: str | None) -> None:
    match = re.search(any_of(FRAGMENTS), text)
    assert (match.group() if match else None) == found


def test_marks_inside_sets_of_letters_and_escaped_ones_part_nothing() -> None:
    pattern = re.compile(any_of([r"\b[|(]?a[)|]b", r"\bc\|d", r"\bc\(e"]))
    assert [pattern.fullmatch(text) is not None for text in ("a|b", "c|d", "c(e", "d", "b")] == [True] * 3 + [False] * 2


def test_fragments_that_begin_alike_share_their_beginning() -> None:
    assert any_of([r"\b(?:i|we) say", r"\bit", r"\b(?:i|we) tell"]).count("(?:i|we)") == 1

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from evalsets import refusals
from evalsets.languages import LANGUAGES, language_table
from evalsets.refusals import read_refusal
from evalsets.words import without_markdown
from ingest.signals import declining
from ingest.signals.arrow_arrays import text_buffers
from ingest.signals.declining import DeclineColumns
from ingest.signals.phrase_parts import UnknownExpressionError, parsed
from tests.evalsets import declining_phrases as phrases

if TYPE_CHECKING:
    from ingest.compiled.declining import RefusalReader

PHRASES = [
    *(phrases.DECLINES + phrases.REFUSES + phrases.ANSWERS_A_PART + phrases.ANSWERS),
    *phrases.DECLINES_IN_SIX_LANGUAGES,
]
CUES = [cue for code in LANGUAGES for cue in language_table(code).cues]
SIGNS = [
    *(
        " ",
        " ",
        " ",
        ". ",
        "? ",
        "! ",
        "\n",
        "\n\n",
        ", ",
        ": ",
        "; ",
        ".) ",
        ".' ",
        ".\u2019 ",
        " - ",
        "\t",
        "\r\n",
        "  ",
    ),
    *(
        " etc. ",
        " z.B. ",
        " a. ",
        "\u00df. ",
        '"',
        "\u201c",
        "\u201d",
        "\u00bb",
        "*",
        "**",
        "_",
        "`",
        "\n- ",
        "\n2) ",
        "# ",
    ),
    *(
        " 1 000 ",
        " 5",
        "5 percent",
        "$5",
        "1,5",
        "%",
        "\u2026",
        "\u2022 ",
        "\u00a0",
        "\u0301",
        "\u00c9",
        "\U0001f600",
        "\x02",
    ),
    *("but ", "However, ", "while ", "the ", "you can ", "please ", "costs ", "shipping ", "within ", "it ", "[a](b)"),
]
needs_loop = pytest.mark.skipif(not declining.IS_COMPILED, reason="the loop that reads refusals was not compiled")


@cache
def in_a_loop(languages: tuple[str, ...]) -> DeclineColumns:
    return DeclineColumns(languages, worth_from=1)


def loop_reader() -> "RefusalReader":
    kinds(["a"])
    reader = in_a_loop(LANGUAGES)._reader
    assert reader is not None
    return reader


def kinds(texts: list[str | None], languages: tuple[str, ...] = LANGUAGES) -> list[str | None]:
    found: list[str | None] = in_a_loop(languages).kinds(pa.array(texts, pa.string())).to_pylist()
    return found


def read_one_by_one(texts: list[str], languages: tuple[str, ...] = LANGUAGES) -> list[str | None]:
    found = [str(read_refusal(text, languages).kind) for text in texts]
    return [None if kind == "none" else kind for kind in found]


def test_each_answer_gets_its_kind_and_a_missing_or_empty_one_none() -> None:
    answers = ["I don't know.", None, "", "It costs 5 euros.", "I won't help with that.", "\u00abI don't know.\u00bb"]
    for columns in (in_a_loop(LANGUAGES), DeclineColumns(LANGUAGES)):
        found = columns.kinds(pa.array(answers, pa.string())).to_pylist()
        assert found == ["abstention", None, None, None, "policy", "abstention"]


def test_a_slice_of_a_column_is_read_where_it_begins() -> None:
    answers = pa.array(["I don't know.", "It is free.", "Ich darf dazu keine Auskunft geben."], pa.string())
    assert in_a_loop(LANGUAGES).kinds(answers.slice(1)).to_pylist() == [None, "policy"]


def test_a_column_without_rows_has_no_kinds() -> None:
    assert kinds([]) == []


@pytest.mark.parametrize("languages", [LANGUAGES, *((code,) for code in LANGUAGES)])
def test_the_loop_reads_known_phrases_as_the_detector_does(languages: tuple[str, ...]) -> None:
    assert kinds([*PHRASES], languages) == read_one_by_one(PHRASES, languages)


@given(some.lists(some.text(max_size=80), max_size=4))
def test_the_loop_reads_any_text_as_the_detector_does(texts: list[str]) -> None:
    assert kinds([*texts]) == read_one_by_one(texts)


@given(some.lists(some.sampled_from(PHRASES) | some.sampled_from(CUES) | some.sampled_from(SIGNS), max_size=14))
def test_the_loop_reads_what_is_put_together_of_phrases_and_signs_as_the_detector_does(pieces: list[str]) -> None:
    texts = ["".join(pieces), " ".join(pieces)]
    assert kinds([*texts]) == read_one_by_one(texts)


@given(some.lists(some.sampled_from(PHRASES), min_size=1, max_size=5), some.data())
def test_the_loop_reads_phrases_that_are_cut_short_as_the_detector_does(
    pieces: list[str], data: some.DataObject
) -> None:
    text = " ".join(pieces)
    first = data.draw(some.integers(0, len(text)))
    last = data.draw(some.integers(first, len(text)))
    texts = [text[first:last], text[:first] + text[last:]]
    for code in LANGUAGES:
        assert kinds([*texts], (code,)) == read_one_by_one(texts, (code,))


def test_the_loop_reads_real_answers_as_the_detector_does(shared_folder: Path) -> None:
    texts = [
        value[:2000]
        for path in sorted((shared_folder / "data").glob("refusal_*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
        for value in json.loads(line).values()
        if isinstance(value, str)
    ]
    assert len(texts) > 1000
    assert kinds([*texts]) == read_one_by_one(texts)


LETTERS = [
    *(
        "a",
        "b",
        "No",
        "etc",
        "z.B",
        "word ",
        "x",
        "1",
        "23",
        "4567",
        "p",
        "per cent",
        "\u00e9",
        "\u00c0",
        "\u00df",
        " ",
        " ",
        "\n",
    ),
    *(
        "*",
        "**",
        "_",
        "__",
        "`",
        "#",
        "##",
        "#######",
        ">",
        "-",
        "+",
        ".",
        ")",
        "(",
        "[",
        "]",
        ",",
        "?",
        "!",
        ":",
        ";",
        "%",
    ),
    *(
        '"',
        "\u201c",
        "\u201d",
        "\u201e",
        "\u00ab",
        "\u00bb",
        "'",
        "\u2018",
        "\u2019",
        "\u2013",
        "\t",
        "\r",
        "\r\n",
        "\u00a0",
    ),
    *("\x02", "\x03", "$", "\u2026", '"' + "y" * 200 + '"', '"' + "y" * 201 + '"'),
]


@needs_loop
@settings(max_examples=400)
@given(some.lists(some.sampled_from(LETTERS), min_size=1, max_size=6, unique=True), some.data())
def test_a_text_that_is_read_has_the_sentences_of_the_detector(letters: list[str], data: some.DataObject) -> None:
    text = "".join(data.draw(some.lists(some.sampled_from([*letters, "a", " "]), min_size=1, max_size=25)))
    found = loop_reader().sentences(text.encode())
    assert found in (None, refusals._folded_sentences(without_markdown(refusals._without_quotations(text))))


@needs_loop
def test_quotations_markdown_and_dashes_are_read() -> None:
    text = "## Result\r\n1. **I don't know** - see `the \u201cfees\u201d`.\n- It\u2019s 5% \u2013 \u00abroughly\u00bb."
    assert loop_reader().sentences(text.encode()) == ["result", 'i don\'t know - see the "".', 'it\'s 5% - "".']


@needs_loop
def test_the_loop_leaves_few_phrases_to_the_detector() -> None:
    numbers = np.empty(len(PHRASES), dtype=np.uint8)
    reader = loop_reader()
    reader.read(*text_buffers(pa.array(PHRASES, pa.string())), in_a_loop(LANGUAGES)._a_memory(), numbers)
    assert np.count_nonzero(numbers == declining._UNREAD) < len(PHRASES) / 50


@needs_loop
@given(some.lists(some.binary(max_size=60), max_size=5))
def test_bytes_that_are_no_text_do_no_harm(blobs: list[bytes]) -> None:
    numbers = np.full(len(blobs), 9, dtype=np.uint8)
    offsets = np.cumsum([0, *map(len, blobs)], dtype=np.int32)
    loop_reader().read(
        np.frombuffer(b"".join(blobs), dtype=np.uint8), offsets, in_a_loop(LANGUAGES)._a_memory(), numbers
    )
    assert numbers.max(initial=0) <= declining._UNREAD


@needs_loop
@pytest.mark.parametrize("text", ["I can't " * 3000, "a" * 70_000, "sorry, " * 280, "no. " * 1000, "\u00df" * 3000])
def test_a_very_long_answer_is_read_or_left_to_the_detector(text: str) -> None:
    assert kinds([text]) == read_one_by_one([text])


@needs_loop
def test_more_answers_than_are_remembered_get_their_own_kinds_whenever_they_come() -> None:
    columns, times = DeclineColumns(LANGUAGES, worth_from=1), 65_536 // len(PHRASES) + 1
    answers = [f"{phrase} ({number})" for number in range(times) for phrase in PHRASES]
    found = [columns.kinds(pa.array(each, pa.string())).to_pylist() for each in (answers, answers[::-1], answers)]
    assert found[0] == read_one_by_one(answers[: len(PHRASES)]) * times
    assert found == [found[0], found[0][::-1], found[0]]


@needs_loop
def test_programs_that_were_kept_read_few_answers_as_they_would_be_read_one_by_one() -> None:
    made = in_a_loop(LANGUAGES)
    kinds(["a"])
    again = DeclineColumns(LANGUAGES, learned=made.learned)
    assert again.learned == made.learned != ""
    assert again._reader is not None
    assert again.kinds(pa.array(PHRASES, pa.string())).to_pylist() == read_one_by_one(PHRASES)


@needs_loop
def test_programs_of_other_languages_or_that_are_not_whole_are_not_read() -> None:
    kinds(["a"])
    kept = in_a_loop(LANGUAGES).learned
    for other in (kept[:-8], kept[:400] + "0000" + kept[404:], "0" + kept[1:], "of an older version"):
        assert DeclineColumns(LANGUAGES, learned=other).learned == ""
    assert DeclineColumns(("en",), learned=kept).learned == ""


@needs_loop
def test_places_beyond_a_column_are_refused() -> None:
    reader = loop_reader()
    letters, numbers = np.zeros(4, dtype=np.uint8), np.zeros(1, dtype=np.uint8)
    for offsets in ([0, 5], [3, 2], [0], [-1, 2]):
        with pytest.raises(ValueError, match="not as long"):
            reader.read(letters, np.array(offsets, dtype=np.int32), in_a_loop(LANGUAGES)._a_memory(), numbers)


@pytest.mark.parametrize("expression", ["(a)", "(?<=a)b", r"\d\Z", "(?:a", "a)", "(?:a?)*"])
def test_an_expression_that_is_not_understood_is_told(expression: str) -> None:
    with pytest.raises(UnknownExpressionError, match=r"has|repeats"):
        parsed(expression)

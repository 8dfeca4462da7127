"""How much of an answer stands in its passages: the compiled loop says what the plain way says."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as some

from ingest.signals import support_columns as columns
from ingest.signals.arrow_arrays import text_buffers
from ingest.signals.support import answer_support
from ingest.signals.support_columns import support_columns

needs_compiled = pytest.mark.skipif(
    not columns.IS_COMPILED, reason="the loop that looks for an answer's words was not compiled"
)
PIECES = (
    *("refund", "Plan", "the", "der", "für", "is", "don't", "été", "x1", "b", "per", "percent", "cent", "por ciento"),
    *(
        "5",
        "10",
        "000",
        "12",
        "0.5",
        " ",
        " ",
        " ",
        ",",
        ", ",
        ".",
        ". ",
        "'",
        "\u2019",
        "-",
        "—",
        "…",
        "•",
        "®",
        "ß",
        "日",
        "²",
    ),
    *("%", "$", " $", "€", "\n", "_", "`", "**", "*", "\u00a0", "\x00", "\x1c", "[1]", "1. ", "2) ", "K", "&", "#"),
)
written = some.lists(some.sampled_from(PIECES), max_size=16).map("".join)


def columns_of(answers: Sequence[str], texts: Sequence[Sequence[str]]) -> tuple[pa.StringArray, pa.ListArray]:
    return pa.array(answers, pa.string()), pa.array(texts, pa.list_(pa.string()))


def test_words_are_counted_with_repeats_but_for_function_words() -> None:
    answers, texts = columns_of(["The refund, the refund takes days."], [["A refund is quick.", "Days pass."]])
    assert support_columns(answers, texts).to_pylist() == [{"share": 0.75, "figure": None}]


@pytest.mark.parametrize(
    ("answer", "figure"),
    [
        ("Refunds take 14 days.", "14"),
        ("Refunds take 5 days, at most 14.", "14"),
        ("Refunds take 5 days [2].", None),
        ("1. Open refunds.\n2) Wait 5 days.", None),
        ("**Refunds** take **5** days.", None),
        ("Refunds of 1,000 $ take 5 days.", "1000"),
    ],
)
def test_a_figure_is_missed_unless_it_is_a_citation_or_numbers_a_list(answer: str, figure: str | None) -> None:
    found = support_columns(*columns_of([answer], [["Refunds take 5 days."]]))
    assert found.to_pylist()[0]["figure"] == figure


@needs_compiled
@given(some.lists(some.tuples(written, some.lists(written, max_size=3)), max_size=8))
def test_the_compiled_loop_says_of_any_texts_what_the_plain_way_says(
    rows: list[tuple[str, list[str]]],
) -> None:
    answers, texts = [row[0] for row in rows], [row[1] for row in rows]
    assert columns._measured(*columns_of(answers, texts)) == answer_support(answers, texts)


@needs_compiled
def test_most_english_is_read_by_the_compiled_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> list[None]:
        raise AssertionError("left to the plain way")

    monkeypatch.setattr(columns, "answer_support", never)
    answer = (
        "It\u2019s **easy**: open “Billing”, choose the café's plan — 2 users for $30 — and you're done… (by May 5)."
    )
    passage = "Billing · plans from 10$ at a café; users don't pay 1000 in May. 24h support, 99.9% up."
    assert columns._measured(*columns_of([answer, ""], [[passage], [passage]]))[1] is None


def test_without_the_compiled_loop_shares_and_figures_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = columns_of(["Refunds take 14 days.", "Ask us [1].", ""], [["Refunds take days"], [], ["Nothing"]])
    found = support_columns(*rows)
    monkeypatch.setattr(columns, "IS_COMPILED", False)
    assert support_columns(*rows).equals(found)


def test_a_slice_of_a_column_is_measured_as_the_whole() -> None:
    answers, texts = columns_of(["Refund 1", "Plan 22", "Fee 333"], [["refund"], ["plan", "fee"], ["fee 333"]])
    whole = support_columns(answers, texts).to_pylist()
    assert support_columns(answers.slice(1), texts.slice(1)).to_pylist() == whole[1:]


@needs_compiled
@given(some.lists(some.binary(max_size=40), min_size=1, max_size=12), some.integers(0, 3000))
def test_bytes_that_are_no_text_are_read_within_their_bounds(texts: list[bytes], long: int) -> None:
    from ingest.compiled.support import measure_support

    texts = [*texts, b"refund \xe2\x80", b"it'\xc3", b"a b " * long, b"refund 5 \xc3"]
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    letters = np.frombuffer(b"".join(texts), dtype=np.uint8)
    rows = len(texts)
    words, found, figures = (np.empty(shape, dtype=np.int32) for shape in (rows, rows, (rows, 2)))
    every = np.arange(rows + 1, dtype=np.int32)
    measure_support(letters, offsets, letters, offsets, every, columns._function_words(), words, found, figures)
    assert (words >= -1).all()
    assert (found <= np.maximum(words, 0)).all()
    assert words[-1] == -1


@needs_compiled
def test_offsets_beyond_the_bytes_are_an_error() -> None:
    from ingest.compiled.support import measure_support

    letters, offsets = text_buffers(pa.array(["refund", "plan"]))
    sizes = np.empty(2, dtype=np.int32), np.empty(2, dtype=np.int32), np.empty((2, 2), dtype=np.int32)
    every = np.arange(3, dtype=np.int32)
    words = columns._function_words()
    for wrong in (offsets + 1, offsets[::-1].copy(), offsets[:2]):
        with pytest.raises(ValueError, match="column"):
            measure_support(letters, wrong, letters, offsets, every, words, *sizes)
        with pytest.raises(ValueError, match="column"):
            measure_support(letters, offsets, letters, wrong, every, words, *sizes)
    with pytest.raises(ValueError, match="column"):
        measure_support(letters, offsets, letters, offsets, every + 1, words, *sizes)

"""The compiled scanner reads what is strictly OTLP and nothing else, and never beside the bytes it is given."""

import json
import random
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.adapters.otlp_messages import spans_of
from tests.ingest.alike_traces import as_lines, usual_trace

spans = pytest.importorskip("ingest.compiled.spans", reason="the extension is not built here")
LINES = as_lines([usual_trace(random.Random(1), number, oddity=0.1) for number in range(6)], 3)  # noqa: S311 - made up
PIECES = (
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b'"',
        b"\\",
        b"\\u",
        b"\\ud83d\\ude00",
        b"\\udc00",
        b"\n",
        b" ",
        b"\t",
        b"0",
        b"-",
    ),
    *(b"1e5", b"1e999", b"01", b"null", b"true", b'"resourceSpans"', b'"scopeSpans"', b'"spans"', b'"attributes"'),
    *(b'"key"', b'"value"', b'{"stringValue":"x"}', b'"status":{"code":1}', b"\x00", b"\xff", "é".encode()),
)


def assert_told_rightly(content: bytes) -> None:
    """Assert that the typed reader finds as many spans in each line of which the scanner takes any."""
    found = spans.scan(content)
    rows = np.frombuffer(found.spans, np.int64).reshape(-1, spans.SPAN_COLUMNS)
    lines = content.split(b"\n")
    for line in np.unique(rows[:, 0]).tolist():
        if _is_unicode(lines[line]) and _has_good_scopes(found, content):
            assert len(list(spans_of(lines[line]))) == int((rows[:, 0] == line).sum())


def _is_unicode(line: bytes) -> bool:
    try:
        return bool(line.decode())
    except UnicodeDecodeError:
        return False


def _has_good_scopes(found: Any, content: bytes) -> bool:
    rows = np.frombuffer(found.resources + found.scopes, np.int64).reshape(-1, spans.ENVELOPE_COLUMNS)
    try:
        return all(json.loads(content[start : start + length] or b"null") is not Ellipsis for _, start, length in rows)
    except ValueError:
        return False


@given(st.binary(max_size=300))
@example(b"")
@example(b"\n\n")
def test_arbitrary_bytes_are_passed_over(content: bytes) -> None:
    assert_told_rightly(content)


@given(
    line=st.sampled_from(LINES),
    cuts=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 40), st.sampled_from(PIECES)), max_size=3),
)
def test_what_the_scanner_takes_the_typed_reader_takes_too(line: bytes, cuts: list[tuple[float, int, bytes]]) -> None:
    for at, length, put in cuts:
        start = int(at * len(line))
        line = line[:start] + put + line[start + length :]
    assert_told_rightly(line + b"\n" + LINES[0])


@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_pieces_of_json_in_any_order_are_passed_over(pieces: list[bytes]) -> None:
    assert_told_rightly(b"".join(pieces))


def rows_of(content: bytes) -> tuple[Any, Any]:
    """Return the rows of spans and of values."""
    found = spans.scan(content)
    columns = ((found.spans, spans.SPAN_COLUMNS), (found.values, spans.VALUE_COLUMNS))
    read, values = (np.frombuffer(rows, np.int64).reshape(-1, many) for rows, many in columns)
    return read, values


@given(
    line=st.sampled_from(LINES),
    cuts=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 40), st.sampled_from(PIECES)), max_size=3),
)
def test_values_are_read_the_same_whatever_stood_before_others(
    line: bytes, cuts: list[tuple[float, int, bytes]]
) -> None:
    for at, length, put in cuts:
        start = int(at * len(line))
        line = line[:start] + put.replace(b"\n", b"") + line[start + length :]
    before = b"\n".join(LINES) + b"\n"
    alone, behind = rows_of(line)[1], rows_of(before + line)[1]
    moved = alone + np.array([len(before), 0, len(before), 0, 0])
    assert len(behind) == len(rows_of(before)[1]) + len(alone)
    assert (behind[len(behind) - len(alone) :] == moved).all()


def test_spans_of_one_number_have_the_same_keys_and_kinds_of_values() -> None:
    content = b"\n".join([*LINES, *LINES])
    read, values = rows_of(content)
    keys: dict[int, list[tuple[bytes, int]]] = {}
    for _, _, first, count, *_, number in read.tolist():
        listed = [(content[at : at + size], max(kind, spans.ESCAPED_TEXT)) for at, size, _, _, kind in
                  values[first : first + count].tolist()]  # fmt: skip
        assert number > 0
        assert keys.setdefault(number, listed) == listed
    assert len({tuple(listed) for listed in keys.values()}) == len(keys) <= len(read) // 2


@pytest.mark.parametrize("cut", range(0, 120, 7))
def test_a_line_that_is_cut_anywhere_has_no_spans(cut: int) -> None:
    line = LINES[0][: len(LINES[0]) * cut // 120]
    assert not spans.scan(line).spans


def test_all_spans_of_whole_lines_are_found() -> None:
    found = spans.scan(b"\n".join(LINES))
    assert len(found.spans) == 18 * 8 * spans.SPAN_COLUMNS
    assert len(found.line_ends) == 8 * len(LINES)


@given(st.integers(-5, 30), st.integers(-5, 30))
def test_a_place_outside_the_block_is_refused(start: int, length: int) -> None:
    texts = spans.Texts(b"0123456789")
    assert texts.add(b"abc") == 10
    places = np.array([start], np.int64), np.array([length], np.int64)
    whole = b"0123456789abc"
    is_inside = start >= 0 and (start + length <= 10 or (start >= 10 and start + length <= 13))
    if length < 0:
        assert texts.listed(*places) == [None]
    elif is_inside:
        assert texts.listed(*places) == [whole[start : start + length]]
        assert texts.woven([(b"<", *places, b">", b"")], 1)[1] == b"<" + whole[start : start + length] + b">"
    else:
        for use in (texts.listed, texts.joined) if length else (texts.listed,):
            with pytest.raises(IndexError):
                use(*places)


def test_columns_of_different_lengths_are_refused() -> None:
    texts = spans.Texts(b"0123456789")
    one, two = np.zeros(1, np.int64), np.zeros(2, np.int64)
    for use in (texts.listed, texts.joined):
        with pytest.raises(IndexError):
            use(one, two)
    with pytest.raises(IndexError):
        texts.equal(one, one, two, two)
    with pytest.raises(IndexError):
        texts.woven([(b"", one, one, b"", b"")], 2)
    with pytest.raises(IndexError):
        texts.counts(one, one, two)


@given(
    st.one_of(
        st.floats(allow_nan=False, allow_infinity=False).map(repr),
        st.from_regex(r"-?(0|[1-9][0-9]{0,8})\.[0-9]{1,9}", fullmatch=True),
        st.from_regex(r"[0-9]{1,3}", fullmatch=True),
    )
)
@example("0.0")
@example("-0.0")
@example("1.0")
@example("0.00012")
@example("123456789012.5")
def test_numbers_are_read_as_python_reads_them_and_the_shortest_spelling_is_known(number: str) -> None:
    written = number.encode()
    found = np.empty(1, np.float64)
    places = np.zeros(1, np.int64), np.array([len(written)], np.int64)
    (is_unusual,) = spans.Texts(written).decimals(*places, found)
    assert found[0] == float(number)
    assert is_unusual or msgspec.json.encode(float(number)) == written


def test_a_text_is_found_wherever_it_stands() -> None:
    texts = spans.Texts(b"user-1")
    starts, lengths = np.zeros(4, np.int64), np.array([6, 6, 0, -1], np.int64)
    rows = [b"user-1 asks", b"user-", b"user-1", b"user-1"]
    ends = np.cumsum([0, *map(len, rows)]).astype(np.int32)
    assert list(texts.held(starts, lengths, ends, b"".join(rows))) == [1, 0, 0, 0]


def test_what_is_known_of_a_text_is_asked_once_until_there_is_too_much_of_it() -> None:
    asked: list[bytes] = []

    def read(text: bytes) -> tuple[bytes | None, ...]:
        asked.append(text)
        return (text[::-1], None if text == b"bb" else b"")

    known = spans.Known(read, 2, 2)
    for block in (b"abbaab", b"xxabyy"):
        texts = spans.Texts(block)
        starts, lengths = np.array([0, 1, 2, 4, 0]), np.array([2, 2, 2, 2, -1])
        out = np.empty((4, 5), np.int64)
        known.tell(texts, starts, lengths, out)
        parts = [block[start : start + length] for start, length in zip(starts[:4], lengths[:4], strict=True)]
        assert texts.listed(out[0], out[1]) == [*(part[::-1] for part in parts), None]
        assert texts.listed(out[2], out[3]) == [*(None if part == b"bb" else b"" for part in parts), None]
    assert asked == [b"ab", b"bb", b"ba", b"xx", b"xa", b"ab", b"yy"]


@given(st.lists(st.binary(max_size=20), max_size=200))
def test_all_texts_are_told_apart(listed: list[bytes]) -> None:
    texts = spans.Texts(b"".join(listed))
    lengths = np.array(list(map(len, listed)), np.int64)
    known = spans.Known(lambda text: (b"<" + text + b">",), 1, 1000)
    out = np.empty((2, len(listed)), np.int64)
    known.tell(texts, np.cumsum(lengths) - lengths, lengths, out)
    assert texts.listed(out[0], out[1]) == [b"<" + text + b">" for text in listed]

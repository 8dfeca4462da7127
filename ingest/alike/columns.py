"""Takes the values of spans that are written alike out of their block, as Arrow columns."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingest.alike.quotes import Array, Ints, QuotedBlock
from ingest.alike.templates import NumberPlace
from ingest.traces.dialects.values import name_in
from ingest.traces.texts import SPACES, UNPLAIN_STARTS

_encode_lines = msgspec.json.Encoder().encode_lines
_decode_texts = msgspec.json.Decoder(list[str]).decode
_decode_numbers = msgspec.json.Decoder(list[float]).decode
_decode_counts = msgspec.json.Decoder(list[int]).decode
_EXACT = 1 << 53
UNREADABLE = (msgspec.DecodeError, msgspec.EncodeError, UnicodeError, pa.ArrowException, OverflowError, ValueError)
"""Raised for values that are not as they should be: their lines are left to the other readers."""


def _marks(characters: Any, place: int) -> Any:
    table = np.zeros(256, bool)
    table[[character.encode()[place] for character in characters if character]] = True
    return table


_LETTERS = frozenset(start for start in UNPLAIN_STARTS if start.isalpha())
"""What a word that stands for nothing begins with, as nearly any text may."""
_DOUBTFUL_STARTS = _marks({*UNPLAIN_STARTS, "\\"} - _LETTERS, 0)
_LETTER_STARTS = _marks(_LETTERS, 0)
_DOUBTFUL_ENDS = _marks(SPACES, -1)
_LONGEST_WORD = 40
"""More than any word that stands for nothing has."""


class Column:
    """Values, null where there is none, and how each is written in JSON, without quotes."""

    def __init__(self, values: Array, written: Array, changed: Ints | None = None) -> None:
        """Take how values are written, all but those that are `changed`."""
        self.values = values
        self._written, self._changed = written, changed

    @property
    def nulls(self) -> int:
        """How many values there are not."""
        return int(self.values.null_count)

    @property
    def written(self) -> Array:
        """How the values are written, null where there is none."""
        if self._changed is not None:
            mask = pa.array(self._changed)
            texts = self.values.filter(mask).to_pylist()
            lines = _encode_lines([text or "" for text in texts]).decode().split("\n")
            shown = [None if text is None else line[1:-1] for text, line in zip(texts, lines, strict=False)]
            self._written = pc.replace_with_mask(self._written, mask, pa.array(shown, pa.string()))
            self._changed = None
        return self._written

    def known(self) -> Ints:
        """Return where there are values."""
        return self.values.is_valid().to_numpy(zero_copy_only=False)

    def with_texts(self, rows: Ints, texts: Sequence[str | None]) -> "Column":
        """Return the column with other texts in some rows, given as a mask."""
        values = pc.replace_with_mask(self.values, pa.array(rows), pa.array(texts, pa.string()))
        return Column(values, self._written, rows if self._changed is None else self._changed | rows)

    def slice(self, start: int, size: int) -> "Column":
        """Return some of the values."""
        return Column(self.values.slice(start, size), self.written.slice(start, size))

    def or_else(self, other: "Column") -> "Column":
        """Return the column with the values of another one in its gaps."""
        return Column(pc.coalesce(self.values, other.values), pc.coalesce(self.written, other.written))


ReadText = Callable[[str], str | None]


class Strings:
    """The strings of some spans at one place."""

    def __init__(self, block: QuotedBlock, strings: Ints) -> None:
        """Take the places of the strings in the block; raises one of UNREADABLE."""
        self.size = len(strings)
        self._block, self._places = block, 2 * strings
        found = block.strings.take(pa.array(self._places))
        self.column = Column(found, found)
        self._escaped = block.has_escape[strings]
        if self._escaped.any():
            self._replace(self._escaped, unescaped(found.filter(pa.array(self._escaped)).to_pylist()))

    def _replace(self, rows: Ints, texts: Sequence[str | None]) -> None:
        self.column = self.column.with_texts(rows, texts)

    def _is_doubtful(self) -> Ints:
        """Return which texts may be blank, hide their content, or be JSON."""
        block, opens, closes = self._block, self._block.quotes[self._places], self._block.quotes[self._places + 1]
        starts = block.data[opens + 1]
        may_be_word = _LETTER_STARTS[starts] & ((closes - opens < _LONGEST_WORD) | self._is_odd_end())
        return _DOUBTFUL_STARTS[starts] | may_be_word | (closes - opens == 1)

    def _is_odd_end(self) -> Ints:
        return _DOUBTFUL_ENDS[self._block.data[self._block.quotes[self._places + 1] - 1]]

    def plain(self) -> Column:
        """Return the texts as they are, blank ones as none."""
        is_blank = self._block.quotes[self._places + 1] - self._block.quotes[self._places] == 1
        return self._read(is_blank, lambda text: text or None)

    def said(self, read: ReadText) -> Column:
        """Return the texts; `read` reads those that may be blank, hide their content, or be JSON."""
        return self._read(self._is_doubtful(), read)

    def names(self) -> Column:
        """Return what the texts name."""
        doubtful = self._is_doubtful() | self._is_odd_end() | self._escaped
        return self._read(doubtful, lambda text: name_in({"": text}, ("",)))

    def _read(self, doubtful: Ints, read: ReadText) -> Column:
        if doubtful.any():
            texts = self.column.values.filter(pa.array(doubtful)).to_pylist()
            self._replace(doubtful, list(map(read, texts)))
        return self.column


def unescaped(strings: Sequence[str]) -> list[str]:
    """Return the texts of strings as they are written; raises one of UNREADABLE."""
    return _decode_texts("".join(['["', '","'.join(strings), '"]']).encode()) if strings else []


def counts(block: QuotedBlock, strings: Ints) -> Column:
    """Return whole numbers that stand in strings; raises one of UNREADABLE."""
    return _as_counts(block.strings.take(pa.array(2 * strings)).cast(pa.int64()))


def plain_counts(block: QuotedBlock, firsts: Ints, place: NumberPlace) -> Column:
    """Return whole numbers that stand for themselves; raises one of UNREADABLE."""
    return _as_counts(pa.array(_decode_counts(b"[%b]" % _listed(block, firsts, place)), pa.int64()))


def _as_counts(values: Array) -> Column:
    span = pc.min_max(values).as_py()
    if span["min"] <= -_EXACT or span["max"] >= _EXACT:
        raise ValueError("not exact")
    return Column(values, values.cast(pa.string()))


def numbers(block: QuotedBlock, firsts: Ints, places: Sequence[NumberPlace]) -> Column:
    """Return the numbers at one place after the other; raises one of UNREADABLE."""
    found = _decode_numbers(b"[%b]" % b",".join([_listed(block, firsts, place) for place in places]))
    if len(found) != len(firsts) * len(places):
        raise ValueError("more numbers than places")
    return Column(pa.array(found, pa.float64()), pa.array(_encode_lines(found).decode().split("\n")[: len(found)]))


def _listed(block: QuotedBlock, firsts: Ints, place: NumberPlace) -> bytes:
    starts = (block.quotes[firsts + place.quote] + place.before).tolist()
    ends = (block.quotes[firsts + place.quote + 1] - place.after).tolist()
    content = block.content
    return b",".join([content[start:end] for start, end in zip(starts, ends, strict=True)])


def first_known(columns: Sequence[Array]) -> Array | None:
    """Return of each row the first value that there is; None without columns."""
    found: Array | None = None
    for column in columns:
        found = column if found is None else pc.coalesce(found, column)
        if not found.null_count:
            break
    return found

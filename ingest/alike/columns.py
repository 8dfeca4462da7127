"""Reads the values of spans that are written alike as columns of texts, which stay where they stand until the end."""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from ingest.alike.blocks import Array, Block, Ints, Slices
from ingest.compiled.spans import ESCAPED_TEXT, Known
from ingest.traces.dialects.values import name_in
from ingest.traces.texts import PRINTED_STARTS, SPACES, UNPLAIN_STARTS

_encode_lines = msgspec.json.Encoder().encode_lines
_decode_texts = msgspec.json.Decoder(list[str]).decode
_NEWLINE = 10
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
_PRINTED_STARTS, _PRINTED_SECONDS, _PRINTED_THIRDS = (_marks(PRINTED_STARTS, place) for place in range(3))
_LONGEST_WORD = 40
"""More than any word that stands for nothing has."""


class Column(NamedTuple):
    """Texts of one place of many spans, and how each is written in JSON, without quotes."""

    block: Block
    values: Slices
    written: Slices

    @property
    def has_gaps(self) -> bool:
        """Whether a text is missing."""
        return bool((self.values.lengths < 0).any())

    def known(self) -> Ints:
        """Return where there are texts."""
        return self.values.known()

    def array(self) -> Array:
        """Return the texts as an Arrow array."""
        return self.block.array(self.values)

    def with_texts(self, rows: Ints, texts: Sequence[str | None]) -> "Column":
        """Return the column with other texts in some rows, given as a mask."""
        shown = _encode_lines([text or "" for text in texts]).split(b"\n")
        written = [None if text is None else line[1:-1] for text, line in zip(texts, shown, strict=False)]
        encoded = [None if text is None else text.encode() for text in texts]
        values, spelled = (
            _replaced(old, rows, self.block.add(new)) for old, new in ((self.values, encoded), (self.written, written))
        )
        return Column(self.block, values, spelled)

    def take(self, rows: Any) -> "Column":
        """Return some of the texts."""
        return Column(self.block, self.values.take(rows), self.written.take(rows))

    def or_else(self, other: "Column") -> "Column":
        """Return the column with the texts of another one in its gaps."""
        return Column(self.block, self.values.or_else(other.values), self.written.or_else(other.written))


def _replaced(old: Slices, rows: Ints, new: Slices) -> Slices:
    starts, lengths = old.starts.copy(), old.lengths.copy()
    starts[rows], lengths[rows] = new
    return Slices(starts, lengths)


class Numbers(NamedTuple):
    """Numbers of one place of many spans, and how each is written in JSON."""

    values: Ints
    written: Slices


ReadText = Callable[[str], str | None]


class Strings:
    """The strings of some spans at one place."""

    def __init__(self, block: Block, rows: Ints) -> None:
        """Take the places of the values in the block; raises one of UNREADABLE."""
        self._block = block
        self._raw = found = slices_at(block, rows)
        self.column = Column(block, found, found)
        self.escaped = block.values[:, 4][rows] == ESCAPED_TEXT
        if self.escaped.any():
            self._replace(self.escaped, unescaped(block.strings(found.take(self.escaped))))

    def _replace(self, rows: Ints, texts: Sequence[str | None]) -> None:
        self.column = self.column.with_texts(rows, texts)

    def _is_doubtful(self) -> Ints:
        """Return which texts may be blank, hide their content, or be JSON or the print of a message."""
        starts = self._block.data[self._raw.starts]
        may_be_word = _LETTER_STARTS[starts] & ((self._raw.lengths < _LONGEST_WORD) | self._is_odd_end())
        doubtful = _DOUBTFUL_STARTS[starts] | may_be_word | self._is_blank()
        return doubtful | self._may_be_print()

    def _may_be_print(self) -> Ints:
        data, found = self._block.data, _PRINTED_STARTS[self._block.data[self._raw.starts]]
        rows = np.flatnonzero(found)
        starts = self._raw.starts[rows]
        found[rows] = _PRINTED_SECONDS[data[starts + 1]] & _PRINTED_THIRDS[data[starts + 2]]
        return found

    def _is_blank(self) -> Ints:
        return self._raw.lengths == 0

    def _is_odd_end(self) -> Ints:
        return _DOUBTFUL_ENDS[self._block.data[self._raw.starts + self._raw.lengths - 1]]

    def plain(self) -> Column:
        """Return the texts as they are, blank ones as none."""
        return self._read(self._is_blank(), lambda text: text or None)

    def said(self, read: ReadText) -> Column:
        """Return the texts; `read` reads those that may be blank, hide their content, or be JSON."""
        return self._read(self._is_doubtful(), read)

    def names(self) -> Column:
        """Return what the texts name."""
        doubtful = self._is_doubtful() | self._is_odd_end() | self.escaped
        return self._read(doubtful, lambda text: name_in({"": text}, ("",)))

    def _read(self, doubtful: Ints, read: ReadText) -> Column:
        if doubtful.any():
            self._replace(doubtful, list(map(read, self._block.strings(self.column.values.take(doubtful)))))
        return self.column


def slices_at(block: Block, rows: Ints) -> Slices:
    """Return where the values of some attributes stand."""
    # One index at a time, for which numpy has a faster way than for two.
    return Slices(block.values[:, 2][rows], block.values[:, 3][rows])


def unescaped(strings: Sequence[str]) -> list[str]:
    """Return the texts of strings as they are written; raises one of UNREADABLE."""
    return _decode_texts("".join(['["', '","'.join(strings), '"]']).encode()) if strings else []


def counts(block: Block, rows: Ints) -> Numbers:
    """Return whole numbers; raises one of UNREADABLE."""
    written = slices_at(block, rows)
    values = np.empty(len(rows), np.int64)
    block.texts.counts(*written, values)
    return Numbers(values, written)


def decimals(block: Block, rows: Ints) -> Numbers:
    """Return numbers; raises one of UNREADABLE."""
    values = np.empty(len(rows), np.float64)
    written = slices_at(block, rows)
    unusual = np.frombuffer(block.texts.decimals(*written, values), bool)
    if unusual.any():
        shown = _encode_lines(values[unusual].tolist()).split(b"\n")[: int(unusual.sum())]
        written = _replaced(written, unusual, block.add(list(shown)))
    return Numbers(values, written)


def told(known: Known, block: Block, found: Slices) -> list[Slices]:
    """Return what is known of texts, field by field."""
    out = np.empty((2 * known.fields, len(found.starts)), np.int64)
    known.tell(block.texts, *found, out)
    return [Slices(out[2 * field], out[2 * field + 1]) for field in range(known.fields)]


def first_known(columns: Iterable[Slices]) -> Slices | None:
    """Return of each row the first text that there is; None without columns."""
    listed = list(columns)
    return (
        reduce(lambda found, other: found if found.known().all() else found.or_else(other), listed) if listed else None
    )

"""How spans of one shape are written: the bytes that they share, and where in between their values stand."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import numpy as np

from ingest.adapters.otlp_messages import UNUSUAL_ERRORS, UsualSpan
from ingest.alike.quotes import PADDING, Ints, QuotedBlock
from ingest.traces.dialects.openinference_shapes import Shape, shape_of

_decode = msgspec.json.Decoder(UsualSpan).decode
_scan = json.JSONDecoder().raw_decode
_NUMBER = re.compile(rb'"\s*:\s*(-?[0-9][0-9.eE+-]*)')
_IS_KEY = re.compile(rb"\s*:")
_UNFAILED = (1, 0, None)
_WORD = 8
_ROWS = 512
"""How many spans are compared at a time: what that takes stays near the processor."""
FIELDS = ("trace_id", "span_id", "parent_span_id", "name", "start_time_unix_nano", "end_time_unix_nano")


class _Segment(NamedTuple):
    """Bytes that all spans share, by the quote they stand beside."""

    quote: int
    offset: int
    text: bytes


class NumberPlace(NamedTuple):
    """Where a number stands: behind a quote, before the next one."""

    quote: int
    before: int
    after: int


class Template:
    """Spans that are written alike; quotes and strings are counted from that of the first key."""

    def __init__(self, shape: Shape, kind: str, constants: dict[int, str], sample: "_Sample") -> None:
        self.shape, self.kind, self.constants = shape, kind, constants
        self.fields = sample.fields
        """The string of each of FIELDS that a span has."""
        self.texts = sample.texts
        """The string of each attribute that has one, by its place."""
        self.counts = sample.counts
        """The string of each attribute that has a whole number in one."""
        self.numbers = sample.numbers
        self.strings = sample.size
        segments = list(sample.segments())
        self._end = segments[-1].quote, segments[-1].offset + len(segments[-1].text)
        words = [word for segment in segments for word in _words(segment)]
        self._quotes, self._offsets = (np.array([word[at] for word in words], np.int64) for at in (0, 1))
        self._expected, self._masks = (np.array([word[at] for word in words], np.uint64) for at in (2, 3))
        self._last = int(self._quotes.max())

    def matches(self, block: QuotedBlock, firsts: Ints) -> Ints:
        """Return which of the spans, given by the place of their first quote, are written like this."""
        found = firsts + self._last < len(block.quotes)
        rows = np.flatnonzero(found)
        for start in range(0, len(rows), _ROWS):
            some = rows[start : start + _ROWS]
            places = block.quotes[firsts[some][:, None] + self._quotes] + self._offsets
            found[some] = ((block.words[places] & self._masks) == self._expected).all(axis=1)
        return found

    def ends(self, block: QuotedBlock, firsts: Ints) -> Ints:
        """Return where spans of this template end."""
        return block.quotes[firsts + self._end[0]] + self._end[1]


def _words(segment: _Segment) -> Iterator[tuple[int, int, int, int]]:
    for at in range(0, len(segment.text), _WORD):
        part = segment.text[at : at + _WORD]
        value = int.from_bytes(part.ljust(_WORD, b"\0"), "little")
        yield segment.quote, segment.offset + at, value, (1 << 8 * len(part)) - 1


class _Sample:
    """A span, string by string."""

    def __init__(self, text: bytes, quotes: list[int]) -> None:
        """Take the bytes of a span from its first quote on, and where its quotes are."""
        self.text, self._quotes = text, quotes
        self.size = len(quotes) // 2
        self.fields: dict[str, int] = {}
        self.texts: dict[int, int] = {}
        self.counts: dict[int, int] = {}
        self.numbers: dict[int, NumberPlace] = {}
        self._fixed: set[int] = set()

    def string(self, at: int) -> bytes:
        """Return a string as it is written."""
        return self.text[self._quotes[2 * at] + 1 : self._quotes[2 * at + 1]]

    def _behind(self, at: int) -> bytes:
        """Return what stands between the end of a string and the next one, its quote included."""
        following = 2 * at + 2
        return self.text[self._quotes[2 * at + 1] : self._quotes[following] if following < len(self._quotes) else None]

    def read(self) -> UsualSpan | None:
        """Find where each value stands; return the span, or None when it has a value that has no place."""
        attribute = -1
        values = []
        for at in range(self.size):
            if _IS_KEY.match(self._behind(at), 1):
                if self.string(at) in (b"doubleValue", b"intValue") and (found := _NUMBER.match(self._behind(at))):
                    self.numbers[attribute] = NumberPlace(
                        2 * at + 1, found.start(1), len(self._behind(at)) - found.end(1)
                    )
                self._fixed.add(at)
            elif at and at - 1 in self._fixed and self.string(at - 1) == b"key":
                attribute += 1
                self._fixed.add(at)
            else:
                values.append(at)
        marked = _decode(b"{" + self._marked(values))
        if not self._place(marked, set(values)):
            return None
        return _decode(b"{" + self.text)

    def _marked(self, values: list[int]) -> bytes:
        parts: list[bytes] = []
        start = 0
        for at in values:
            parts += self.text[start : self._quotes[2 * at] + 1], b"~%d~" % at
            start = self._quotes[2 * at + 1]
        return b"".join([*parts, self.text[start:]])

    def _place(self, marked: UsualSpan, values: set[int]) -> bool:
        for name in FIELDS:
            if (at := _mark(getattr(marked, name))) is not None:
                self.fields[name] = at
        if (root := self.fields.get("parent_span_id")) is not None and not self.string(root):
            del self.fields["parent_span_id"]  # all spans of this template are roots
            values.discard(root)
        for place, attribute in enumerate(marked.attributes or ()):
            value = attribute.value
            if value is None:
                return False
            if (at := _mark(value.string_value)) is not None:
                self.texts[place] = at
            elif (at := _mark(value.int_value)) is not None:
                self.counts[place] = at
            elif (value.double_value is None and value.int_value is None) is (place in self.numbers):
                return False
        placed = [*self.fields.values(), *self.texts.values(), *self.counts.values()]
        return len(placed) == len(values) and values == set(placed) and self._has_numbers_inside()

    def _has_numbers_inside(self) -> bool:
        return all(place.quote + 1 < len(self._quotes) for place in self.numbers.values())

    def fix(self, attribute: int) -> str | None:
        """Make the text of an attribute one of those that all spans share; return it."""
        at = self.texts.pop(attribute, None)
        if at is None:
            return None
        self._fixed.add(at)
        found: str = msgspec.json.decode(b'"' + self.string(at) + b'"')
        return found

    def segments(self) -> Iterator[_Segment]:
        """Yield what all spans share, in order."""
        variable = sorted([*self.fields.values(), *self.texts.values(), *self.counts.values()])
        cuts = [(2 * at, 2 * at + 1, 1, 0) for at in variable]
        cuts += [(place.quote, place.quote + 1, place.before, place.after) for place in self.numbers.values()]
        quote, offset = 0, 0
        for opening, closing, before, after in sorted(cuts):
            start = self._quotes[quote] + offset
            end = self._quotes[opening] + before
            yield _Segment(quote, offset, self.text[start:end])
            quote, offset = closing, -after
        yield _Segment(quote, offset, self.text[self._quotes[quote] + offset :])


def _mark(value: Any) -> int | None:
    return int(value[1:-1]) if isinstance(value, str) and value[:1] == "~" and value[-1:] == "~" else None


def learned(block: QuotedBlock, first: int, limit: int) -> Template | None:
    """Return the template of the span with this first quote, which ends before `limit`; None for an unusual one."""
    start = int(block.quotes[first])
    try:
        written = "{" + block.content[start:limit].decode()
        _, end = _scan(written)
        text = written[1:end].encode()
        last = int(np.searchsorted(block.quotes, start + len(text)))
        sample = _Sample(text, [int(at) - start for at in block.quotes[first:last]])
        span = sample.read()
    except (*UNUSUAL_ERRORS, ValueError):
        return None
    return _template(span, sample) if span is not None else None


def _template(span: UsualSpan, sample: _Sample) -> Template | None:
    is_failed = span.status is not None and span.status.code not in _UNFAILED
    needed = {"trace_id", "span_id", "start_time_unix_nano"}
    if not span.attributes or is_failed or span.dropped_attributes_count or not needed.issubset(sample.fields):
        return None
    shape = shape_of(tuple(attribute.key for attribute in span.attributes))
    if shape is None:
        return None
    kind = sample.fix(shape.kind)
    roles = [message.role for message in (*(shape.asked or ()), *(shape.replied or ()))]
    constants = {place: sample.fix(place) for place in (*roles, shape.input_type, shape.output_type) if place >= 0}
    if kind is None or None in constants.values():
        return None
    is_short = all(len(segment.text) < PADDING // 2 for segment in sample.segments())
    if not _has_usual_values(shape, sample) or not is_short:
        return None
    return Template(shape, kind, constants, sample)  # type: ignore[arg-type] # mypy does not see the check


def _has_usual_values(shape: Shape, sample: _Sample) -> bool:
    """Return whether each attribute that is read has a value of the kind that it mostly has."""
    documents, messages = shape.documents or [], [*(shape.asked or ()), *(shape.replied or ())]
    texts = {shape.session, shape.user, shape.version, shape.input, shape.output, *shape.models}
    texts.update(message.content for message in messages)
    texts.update(at for found in documents for at in (found.chunk_id, found.content, found.metadata))
    numbers = {shape.cost, *(found.score for found in documents)}
    counts = {shape.tokens_in, shape.tokens_out}
    return (
        texts - {-1} <= sample.texts.keys()
        and numbers - {-1} <= sample.numbers.keys()
        and counts - {-1} <= sample.counts.keys() | sample.numbers.keys()
        and shape.metadata < 0
        and shape.tags < 0
    )

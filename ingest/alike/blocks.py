"""Finds the spans of a block of OTLP lines, and which of them are written alike."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ingest.adapters.guarding import ODD_VALUE_ERRORS
from ingest.adapters.otlp_messages import UNUSUAL_ERRORS, resource_of_text, scope_of_text
from ingest.alike.templates import Template, fixed_places, template_of
from ingest.compiled.spans import ENVELOPE_COLUMNS, SPAN_COLUMNS, VALUE_COLUMNS, Shapes, Texts, scan

Ints = Any
"""A numpy array of whole numbers, or of truth values."""
Array = Any
"""An Arrow array."""
_MOST_SHAPES = 1 << 12
_LONGEST = 1 << 30
_NO_JSON = (*UNUSUAL_ERRORS, *ODD_VALUE_ERRORS)


class Slices(NamedTuple):
    """Texts by where they stand in a block, and how long they are: -1 for none."""

    starts: Ints
    lengths: Ints

    def take(self, rows: Ints) -> "Slices":
        """Return some of the texts."""
        return Slices(self.starts[rows], self.lengths[rows])

    def known(self) -> Ints:
        """Return where there are texts."""
        return self.lengths >= 0

    def or_else(self, other: "Slices") -> "Slices":
        """Return the texts, and in their gaps those of another column."""
        known = self.known()
        return Slices(np.where(known, self.starts, other.starts), np.where(known, self.lengths, other.lengths))


class Block(NamedTuple):
    """The spans of a block that are read strictly, in order, and what the block holds."""

    texts: Texts
    data: Ints
    """The bytes of the block."""
    line_ends: Ints
    spans: Ints
    """A row a span, as the scanner gives it."""
    values: Ints
    """A row an attribute, as the scanner gives it."""
    numbers: Ints
    """Which of the templates each span has; -1 for none."""
    resources: list[dict[str, Any] | None]
    """What each resource says; None for all of a line in which a resource or a scope is no JSON."""
    resource_texts: list[bytes]
    """The resources as they are written, nothing for one that is not there."""

    def array(self, found: Slices) -> Array:
        """Return texts as an Arrow array."""
        offsets, written = self.texts.joined(*found)
        known = found.known()
        mask = None if known.all() else pa.py_buffer(np.packbits(known, bitorder="little"))
        return pa.StringArray.from_buffers(len(known), pa.py_buffer(offsets), pa.py_buffer(written), mask)

    def strings(self, found: Slices) -> list[str]:
        """Return texts, '' for what is none."""
        return [text.decode() if text else "" for text in self.texts.listed(*found)]

    def add(self, listed: list[bytes | None]) -> Slices:
        """Add texts to the block, and return where they stand."""
        lengths = np.array([-1 if text is None else len(text) for text in listed], np.int64)
        sizes = np.maximum(lengths, 0)
        first = self.texts.add(b"".join([text for text in listed if text]))
        return Slices(first + np.cumsum(sizes) - sizes, lengths)

    def equal(self, one: Slices, other: Slices) -> Ints:
        """Return where two columns say the same, or both nothing."""
        return np.frombuffer(self.texts.equal(*one, *other), bool)


class BlockReader:
    """Finds spans, and remembers how they are written."""

    def __init__(self) -> None:
        """Know no way of writing yet."""
        self.templates: list[Template] = []
        self._shapes = Shapes(fixed_places, partial(template_of, self.templates), _MOST_SHAPES)

    def read(self, content: bytes) -> Block | None:
        """Return the spans of the lines that hold nothing unusual; None when there are none, or for no Unicode."""
        if len(content) > _LONGEST or not _is_unicode(content):
            return None
        found = scan(content)
        spans, values = _rows(found.spans, SPAN_COLUMNS), _rows(found.values, VALUE_COLUMNS)
        if not len(spans):
            return None
        texts = Texts(content)
        numbers = np.empty(len(spans), np.int64)
        self._shapes.numbers(texts, spans, values, numbers)
        envelopes = _rows(found.resources, ENVELOPE_COLUMNS)
        resource_texts = _json_of(texts, envelopes)
        read = list(map(_resource, resource_texts))
        lines = envelopes[:, 0].tolist()
        bad = _bad_lines(texts, _rows(found.scopes, ENVELOPE_COLUMNS))
        bad.update(line for line, resource in zip(lines, read, strict=True) if resource is None)
        resources = [None if line in bad else resource for line, resource in zip(lines, read, strict=True)]
        line_ends = np.frombuffer(found.line_ends, np.int64)
        data = np.frombuffer(content, np.uint8)
        return Block(texts, data, line_ends, spans, values, numbers, resources, resource_texts)


def _rows(numbers: bytes, columns: int) -> Ints:
    return np.frombuffer(numbers, np.int64).reshape(-1, columns)


def _is_unicode(content: bytes) -> bool:
    try:
        return content.isascii() or bool(content.decode())
    except UnicodeDecodeError:
        return False


def _bad_lines(texts: Texts, scopes: Ints) -> set[int]:
    listed = zip(scopes[:, 0].tolist(), _json_of(texts, scopes), strict=True)
    return {line for line, text in listed if not _is_read(text)}


def _json_of(texts: Texts, rows: Ints) -> list[bytes]:
    return texts.listed(np.ascontiguousarray(rows[:, 1]), np.ascontiguousarray(rows[:, 2]))  # type: ignore[return-value]


def _is_read(scope: bytes) -> bool:
    try:
        scope_of_text(scope)
    except _NO_JSON:
        return False
    return True


def _resource(text: bytes) -> dict[str, Any] | None:
    try:
        return resource_of_text(text or b"null")
    except _NO_JSON:
        return None

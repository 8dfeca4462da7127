"""Reads a block of OTLP lines: the traces that are written alike as columns, and which lines are left."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ingest.adapters.guarding import ODD_VALUE_ERRORS
from ingest.alike.blocks import Block, BlockReader, Ints
from ingest.alike.columns import UNREADABLE
from ingest.alike.left import left_lines
from ingest.alike.places import Memory, Place
from ingest.alike.traces import AlikeTraces, traces_of
from ingest.alike.turns import MadeBy, Turns, turns_of
from ingest.columnar import Tables, joined, without
from ingest.spans.packs import packed_columns
from ingest.spans.privacy import SpanRedactor
from ingest.spans.staging import TRACE_SCHEMA
from ingest.traces.dialects.openinference import offline
from ingest.traces.plain_forms import Place as FormPlace
from ingest.traces.plain_forms import form_of_places

_MOST_IN_VAIN = 4


class AlikeBlock(NamedTuple):
    """What was read of a block as columns."""

    made: Tables
    traces: pa.Table
    texts: dict[str, str]
    """Passages by their hash, not redacted: those that were not met before."""
    lines: int
    """How many lines were read to their end."""
    all_lines: int
    """How many ends of lines there are."""
    left: list[tuple[int, bytes]]
    """What is left of the other lines that are not blank, with their numbers."""


class AlikeReader:
    """Reads block after block and remembers how spans are written."""

    def __init__(self, adapter: str, source: str, redactor: SpanRedactor) -> None:
        """Make interactions of `source` from spans that `adapter` would read."""
        self._made_by, self._redactor = MadeBy(adapter, source, redactor), redactor
        self._blocks, self._memory = BlockReader(), Memory()
        self._in_vain = 0
        """How many more blocks gave nothing than gave something."""

    def read(self, content: bytes) -> AlikeBlock | None:
        """Return what can be read as columns; None when that is nothing, and soon without a look if it always is."""
        if self._redactor.walks_all or self._in_vain > _MOST_IN_VAIN:
            return None
        try:
            found = self._read(content)
        except ODD_VALUE_ERRORS:  # the other readers look at every line on its own
            found = None
        self._in_vain = max(0, self._in_vain + (1 if found is None else -1))
        return found

    def _read(self, content: bytes) -> AlikeBlock | None:
        block = self._blocks.read(content)
        if block is None:
            return None
        traces = traces_of(block, _numbered(block))
        odd = traces.odd
        turns: list[tuple[AlikeTraces, Turns]] = []
        for alike in traces.alike:
            found = self._turns(block, alike)
            if found is None:
                odd[alike.spans] = True
            else:
                odd[alike.spans[found.odd]] = True
                turns.append((alike, found))
        is_bad = np.array([resource is None for resource in block.resources])[block.spans[:, 1]]
        _spread(odd, [alike.spans for alike in traces.alike])
        kept = [result for alike, made in turns if (result := _kept(alike, made, odd)) is not None]
        if not kept:
            return None
        left = left_lines(block, odd, is_bad)
        ends = len(block.line_ends) - (not content.endswith(b"\n"))
        made = joined([stored.made for stored in kept])
        lines = len(np.setdiff1d(block.spans[:, 0], block.spans[odd, 0]))
        return AlikeBlock(made, _together(kept), self._memory.take_passages(), lines, ends, left)

    def _turns(self, block: Block, alike: AlikeTraces) -> Turns | None:
        spans = alike.spans
        templates = [self._blocks.templates[number] for number in block.numbers[spans[0]].tolist()]
        resources = [block.resources[at] or {} for at in block.spans[spans[0], 1].tolist()]
        form = form_of_places(
            FormPlace(template.kind, parent, template.kind == "retriever")
            for template, parent in zip(templates, alike.parents, strict=True)
        )
        if form is None or form.may_be_turns:
            return None
        try:
            places = [
                Place(block, template, spans[:, at], resource, self._memory)
                for at, (template, resource) in enumerate(zip(templates, resources, strict=True))
            ]
            return turns_of(block, form, places, self._made_by)
        except UNREADABLE:
            return None


def _numbered(block: Block) -> Ints:
    """Return for each span a number that is the same for equal resources; -1 for one that is not read."""
    known: dict[int, int] = {}
    numbers = [
        -1 if resource is None or offline(resource) else known.setdefault(id(resource), len(known))
        for resource in block.resources
    ]
    return np.array(numbers, np.int64)[block.spans[:, 1]]


class _Kept(NamedTuple):
    """What is stored of alike traces."""

    made: Tables
    rows: list[pa.Array]
    """The columns of their rows but for what is packed together."""
    texts: list[memoryview]
    """The JSON texts of their spans."""


def _kept(alike: AlikeTraces, turns: Turns, odd: Ints) -> _Kept | None:
    """Return what is stored of the traces that are not left; None when all are."""
    is_left = odd[alike.spans[:, 0]]
    if is_left.all():
        return None
    tables = turns.tables
    ids = tables.interactions.column("interaction_id").combine_chunks()
    if is_left.any():
        tables = without(tables, ids.filter(pa.array(is_left)).to_pylist())
    rows = np.flatnonzero(~is_left)
    return _Kept(tables, _rows(turns, ids, rows, alike.spans.shape[1]), turns.spans.of(rows))


def _rows(turns: Turns, ids: pa.Array, kept: Ints, spans: int) -> list[pa.Array]:
    places = pa.array(kept)
    offsets = pa.array(np.arange(len(kept) + 1, dtype=np.int32))
    return [
        turns.trace_ids.take(places),
        pa.array(np.full(len(kept), spans, np.int32)),
        pa.array(turns.last_ns[kept]),
        turns.users.take(places),
        pa.ListArray.from_arrays(offsets, ids.take(places)),
    ]


def _together(kept: list[_Kept]) -> pa.Table:
    """Return the rows of all traces."""
    columns = [pa.chunked_array(parts) for parts in zip(*(stored.rows for stored in kept), strict=True)]
    texts = [text for stored in kept for text in stored.texts]
    return pa.Table.from_arrays([*columns, *packed_columns(texts)], schema=TRACE_SCHEMA)


def _spread(odd: Ints, traces: list[Ints]) -> None:
    """Leave all spans of a trace of which one is left."""
    for spans in traces:
        odd[spans[odd[spans].any(axis=1)]] = True

"""Reads a block of OTLP lines: the traces that are written alike as columns, and which lines are left."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ingest.adapters.guarding import ODD_VALUE_ERRORS
from ingest.alike.columns import UNREADABLE, unescaped
from ingest.alike.places import Place, kind_of
from ingest.alike.quotes import Ints, QuotedBlock, quoted
from ingest.alike.spans import FoundSpans, SpanFinder
from ingest.alike.traces import AlikeTraces, traces_of
from ingest.alike.turns import MadeBy, Turns, turns_of
from ingest.columnar import Tables, joined, without
from ingest.span_privacy import SpanRedactor
from ingest.span_staging import trace_table
from ingest.trace_rows import packed
from ingest.traces.dialects.openinference import offline
from ingest.traces.plain_forms import Place as FormPlace
from ingest.traces.plain_forms import form_of_places

ALIKE_PART_BYTES = 4 << 20
"""How much is best read at a time: every step has a price, and what it works on should stay near the processor."""

_MOST_IN_VAIN = 4


class AlikeBlock(NamedTuple):
    """What was read of a block as columns."""

    made: Tables
    traces: pa.Table
    texts: dict[str, str]
    """Passages by their hash, not redacted."""
    lines: int
    """How many lines were read."""
    all_lines: int
    """How many ends of lines there are."""
    left: list[tuple[int, bytes]]
    """The other lines that are not blank, with their numbers."""


class AlikeReader:
    """Reads block after block and remembers how spans are written."""

    def __init__(self, adapter: str, source: str, redactor: SpanRedactor) -> None:
        """Make interactions of `source` from spans that `adapter` would read."""
        self._made_by, self._redactor = MadeBy(adapter, source, redactor), redactor
        self._finder = SpanFinder()
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
        block = quoted(content)
        if block is None or not _has_good_escapes(block):
            return None
        found = self._finder.find(block)
        if not len(found.firsts):
            return None
        templates = self._finder.templates
        traces = traces_of(block, found, templates)
        texts: dict[str, str] = {}
        odd = traces.odd
        turns: list[tuple[AlikeTraces, Turns]] = []
        for alike in traces.alike:
            made = self._turns(block, found, alike, texts)
            if made is None:
                odd[alike.spans] = True
            else:
                odd[alike.spans[made.odd]] = True
                turns.append((alike, made))
        _spread(odd, found.lines, [alike.spans for alike in traces.alike])
        result = self._result(block, found.lines, odd, turns, texts)
        return result and result._replace(all_lines=content.count(b"\n"))

    def _turns(self, block: QuotedBlock, found: FoundSpans, alike: AlikeTraces, texts: dict[str, str]) -> Turns | None:
        numbers = found.templates[alike.spans[0]].tolist()
        resources = [found.resources[at] for at in found.resource[alike.spans[0]].tolist()]
        templates = [self._finder.templates[number] for number in numbers]
        kinds = list(map(kind_of, templates))
        if None in kinds or any(map(offline, resources)):
            return None
        try:
            form = form_of_places(
                FormPlace(kind or "", parent, kind == "retriever")
                for kind, parent in zip(kinds, alike.parents, strict=True)
            )
            if form is None:
                return None
            places = [
                Place(block, template, found.firsts[alike.spans[:, at]], resource)
                for at, (template, resource) in enumerate(zip(templates, resources, strict=True))
            ]
            made = turns_of(form, places, places[0].ids("trace_id"), self._made_by)
        except UNREADABLE:
            return None
        for place in places:
            texts.update(place.texts)
        return made

    def _result(
        self,
        block: QuotedBlock,
        lines: Ints,
        odd: Ints,
        turns: list[tuple[AlikeTraces, Turns]],
        texts: dict[str, str],
    ) -> AlikeBlock | None:
        made, rows = [], []
        for alike, found in turns:
            is_left = odd[alike.spans[:, 0]]
            if is_left.all():
                continue
            tables = found.tables
            ids = tables.interactions.column("interaction_id")
            if is_left.any():
                tables = without(tables, ids.filter(pa.array(is_left)).to_pylist())
            made.append(tables)
            last = found.last_ns.tolist()
            size = alike.spans.shape[1]
            named = zip(
                is_left.tolist(),
                found.trace_ids.to_pylist(),
                last,
                found.users,
                found.texts,
                ids.to_pylist(),
                strict=True,
            )
            rows += [
                (trace_id, size, last_ns, users, packed(text), [made_of])
                for left, trace_id, last_ns, users, text, made_of in named
                if not left
            ]
        if not made:
            return None
        taken = np.unique(lines[~odd])
        return AlikeBlock(joined(made), trace_table(rows), texts, len(taken), len(block.line_ends), _left(block, taken))


def _has_good_escapes(block: QuotedBlock) -> bool:
    """Return whether all strings with a backslash are JSON, also those that nobody reads."""
    places = np.flatnonzero(block.has_escape[:-1])
    try:
        unescaped(block.strings.take(pa.array(2 * places)).to_pylist())
    except UNREADABLE:
        return False
    return not block.has_escape[-1]


def _spread(odd: Ints, lines: Ints, traces: list[Ints]) -> None:
    """Leave all lines of odd spans, and all spans of traces that are in such a line."""
    while True:
        before = int(odd.sum())
        if not before:
            return
        odd |= np.isin(lines, lines[odd])
        for spans in traces:
            odd[spans[odd[spans].any(axis=1)]] = True
        if int(odd.sum()) == before:
            return


def _left(block: QuotedBlock, taken: Ints) -> list[tuple[int, bytes]]:
    ends = block.line_ends
    rest = np.setdiff1d(np.arange(len(ends)), taken)
    starts = np.append(0, ends[:-1] + 1)
    lines = ((int(at) + 1, block.content[starts[at] : ends[at]]) for at in rest)
    return [(number, line) for number, line in lines if line and not line.isspace()]

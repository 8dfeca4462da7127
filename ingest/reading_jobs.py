"""Turns blocks of parsed records into redacted tables."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from ingest.adapters import get_adapter
from ingest.adapters.base import Adapter, LineAdapter, Record, Reject, Span, SpanAdapter, Trace
from ingest.adapters.guarding import ODD_VALUE_ERRORS
from ingest.columnar import Tables, as_tables, joined, no_rows
from ingest.privacy import Redactor
from ingest.reading.blocks import (
    CUT_OFF,
    PART_BYTES,
    LinePart,
    ReadBlock,
    content_of,
    line_pieces,
    read_part,
    with_content,
)
from ingest.settings import PrivacySettings
from ingest.spans.lines import read_usual_lines, renumber
from ingest.spans.staging import no_traces
from ingest.spans.usual_traces import UsualSpans
from ingest.spans.whole_traces import put_together
from ingest.staging import StagedRows

try:
    from ingest.alike.reading import AlikeReader
except ImportError:  # not compiled where it was installed: the readers below do the same, more slowly
    AlikeReader = None  # type: ignore[assignment, misc] # as is asked below

if TYPE_CHECKING:  # a worker process that reads spans does without, which spares it a third of its start
    from ingest.adapters.mapping import MappingReader
    from ingest.adapters.mapping_file import MappingFile
    from ingest.alike.reading import AlikeBlock

WORKERS = min(4, os.cpu_count() or 1)
_ALIKE_PART_BYTES = 12 << 20
"""How much of a file of spans is best read at a time: each costs some milliseconds, and larger ones more memory."""
_MOST_REMEMBERED = 200_000
"""Hashes of texts that a reader remembers to have handed on."""


class Way(NamedTuple):
    """How records are read: by a registered adapter, or through a mapping of the user's own."""

    adapter: str
    mapping: "MappingFile | None"
    privacy: PrivacySettings
    salt: bytes


class StagedBlock(NamedTuple):
    """One block, ready for the store, with its account."""

    tables: Tables
    rest: StagedRows
    """Skips, rejects and cautions; its columns, links, texts and spans are empty."""
    traces: pa.Table
    """Traces of which spans were read, as `TRACE_SCHEMA` has them."""
    made: Tables | None = None
    """The interactions of those that seem whole."""
    digests: bytes = b""
    """Of the pieces of the file that it came from, where they are known."""


class AssembledBlock(NamedTuple):
    """A block made of traces, and the interaction ids made of each."""

    block: StagedBlock
    made_of: list[list[str]]


class RowReader:
    """Turns blocks of parsed records into staged, redacted rows."""

    def __init__(self, way: Way) -> None:
        """Load the adapter or compile the mapping."""
        self.redactor = Redactor(way.privacy, way.salt)
        self.adapter = None if way.mapping is not None else get_adapter(way.adapter)
        self.mapping = _mapping_reader(way.mapping, self.adapter)
        self._name = way.adapter
        self._sent: set[str] = set()
        self._read_lines = self.adapter.read_lines if isinstance(self.adapter, LineAdapter) else None
        self._turn_source: str = getattr(self.adapter, "turn_source", "")
        self._assemble = self.adapter.assemble if isinstance(self.adapter, SpanAdapter) else None
        reads_alike = self._read_lines is not None and AlikeReader is not None
        self._alike = AlikeReader(way.adapter, self._turn_source, self.redactor) if reads_alike else None
        self.part_bytes = _ALIKE_PART_BYTES if self._read_lines else PART_BYTES
        """How much of a large file of lines is best read at a time."""

    def read(self, read: ReadBlock) -> StagedBlock:
        """Stage one block and add what the file layer says about it, as tables."""
        return self._with_traces(self.staged(read))

    def read_lines(self, part: LinePart) -> StagedBlock:
        """Stage one part of a line file, and tell the digests of the pieces of the file that it takes up."""
        part, digests = with_content(part)
        return self._read_content(part)._replace(digests=digests)

    def _read_content(self, part: LinePart) -> StagedBlock:
        """Stage a part; for adapters a piece at a time: what is parsed stays near the processor."""
        if self.mapping is not None or part.layers.outer or part.layers.unwrap:
            return self.read(read_part(part))
        rows, usual = StagedRows(), list[Span]()
        part, alike = self._read_alike(part, rows)
        for piece in line_pieces(part):
            self._add(rows, self._read_piece(piece, rows, usual))
            rows.spans[rows.spans_redacted :] = self.redactor.spans(rows.spans[rows.spans_redacted :])
            rows.spans_redacted = len(rows.spans)
        if alike is not None:
            renumber(rows, [number for number, _ in alike.left], alike.all_lines)
        return self._with_traces(self.redactor.rows(rows), usual, alike)

    def _read_alike(self, part: LinePart, rows: StagedRows) -> tuple[LinePart, "AlikeBlock | None"]:
        """Read what can be read as columns, and return the part that is left."""
        if self._alike is None or part.layers.records or part.has_prefixes:
            return part, None
        content = content_of(part)
        found = self._alike.read(content) if content and not content.startswith(CUT_OFF) else None
        if found is None:
            return part, None
        rows.read += found.lines
        rows.texts.update((key, text) for key, text in found.texts.items() if key not in self._sent)
        return part._replace(content=b"".join([line + b"\n" for _, line in found.left])), found

    def _read_piece(self, piece: LinePart, rows: StagedRows, usual: list[Span]) -> ReadBlock:
        """Read a piece; the spans of usual lines, where the format has such, go straight to `usual`."""
        if self._read_lines is None or piece.layers.records or (piece.content or b"").startswith(CUT_OFF):
            return read_part(piece)
        return read_usual_lines(piece, self._read_lines, rows, usual)

    def _with_traces(
        self, rows: StagedRows, usual: list[Span] | None = None, alike: "AlikeBlock | None" = None
    ) -> StagedBlock:
        if not rows.spans and not usual and alike is None:
            return self.as_block(rows)
        rows.texts = self._unsent(rows.texts)
        source = self._turn_source
        together = UsualSpans(usual, source, self.redactor) if usual else None
        whole = put_together(rows.spans, self._name, self._assemble, source, together)
        rows.redactions.update(self.redactor.counts)
        self.redactor.counts.clear()
        made = [as_tables(whole.made)] if whole.made.size else []
        traces = [whole.table] if whole.table.num_rows else []
        if alike is not None:
            made.append(alike.made)
            traces.append(alike.traces)
        return self.as_block(rows)._replace(
            traces=pa.concat_tables(traces) if traces else whole.table, made=joined(made) if made else None
        )

    def _unsent(self, texts: dict[str, str]) -> dict[str, str]:
        """Leave out the texts of earlier blocks: passages are retrieved over and over, and spans' texts are stored."""
        fresh = {text_hash: text for text_hash, text in texts.items() if text_hash not in self._sent}
        if len(self._sent) < _MOST_REMEMBERED:
            self._sent.update(fresh)
        return fresh

    def staged(self, read: ReadBlock) -> StagedRows:
        """Stage one block and add what the file layer says about it."""
        rows = StagedRows() if self.mapping is None else self.mapping.read(read.block)
        rows.read = rows.lines = rows.quarantined = 0
        self._add(rows, read)
        return self.redactor.rows(rows)

    def _add(self, rows: StagedRows, read: ReadBlock) -> None:
        """Add what an adapter makes of a block, and what the file layer says about it; lines count on from `rows`."""
        first, known = rows.lines, len(rows.rejects)
        block = read.block
        lines = [line + first for line in block.lines] if first else block.lines
        if self.mapping is not None:
            rows.quarantined += _rejected_rows(rows.rejects, lines)
        elif self.adapter is not None:
            places = zip([block.file] * len(lines), lines, *block[2:], strict=True)
            records = _Taken(map(Record._make, places), len(lines))
            rejecting = _take_safely(rows, self.adapter.read(records), block.file, records)
            rows.quarantined += len(rejecting) if records.is_lazy else _rejected_rows(rows.rejects[known:], lines)
        rows.rejects.extend(reject._replace(line=reject.line + first) for reject in read.rejects)
        rows.quarantined += len(read.rejects)
        rows.read += read.read
        rows.lines += read.lines
        rows.skips.update(read.skips)
        for caution in read.cautions:
            rows.caution(caution.code, caution.message, file=caution.file, line=caution.line and caution.line + first)

    def assemble(self, traces: list[Trace]) -> AssembledBlock:
        """Stage the interactions of traces whose spans are all there, as tables."""
        made_of: list[list[str]] = []
        rows = self.assembled(traces, made_of)
        return AssembledBlock(self.as_block(rows), made_of)

    def assembled(self, traces: list[Trace], made_of: list[list[str]] | None = None) -> StagedRows:
        """Stage the interactions of traces; their spans were redacted when they were staged.

        `made_of` gets the interaction ids made of each trace; a mapping does not say.
        """
        made_of = [] if made_of is None else made_of
        if self.mapping is not None:
            made_of.extend([] for _ in traces)
            return self.mapping.assemble(traces)
        rows = StagedRows()
        for trace in traces:
            first = rows.size
            if self._assemble is not None:
                _take_safely(rows, self._assemble(trace), trace.trace_id, _Taken((), 0))
            made_of.append(rows.columns["interaction_id"][first:])
        return rows

    @staticmethod
    def as_block(rows: StagedRows) -> StagedBlock:
        """Return staged, redacted rows as tables with the rest of their account."""
        is_empty = not (rows.size or rows.texts or rows.votes or rows.aliases)
        tables = no_rows() if is_empty else as_tables(rows)
        rest = StagedRows(
            skips=rows.skips,
            rejects=rows.rejects,
            cautions=rows.cautions,
            caution_counts=rows.caution_counts,
            missing_paths=rows.missing_paths - rows.found_paths,
            found_paths=rows.found_paths,
            read=rows.read,
            quarantined=rows.quarantined,
            lines=rows.lines,
            redactions=rows.redactions,
        )
        return StagedBlock(tables, rest, no_traces())


def _mapping_reader(mapping: "MappingFile | None", adapter: Adapter | None) -> "MappingReader | None":
    if mapping is None:
        return getattr(adapter, "reader", None)  # of a MappingAdapter
    from ingest.adapters import mapping as reading

    return reading.MappingReader(mapping)


def _rejected_rows(rejects: list[Reject], lines: list[int]) -> int:
    """Count records and not reasons, by line: on a line there are at most as many bad records as records."""
    if not rejects:
        return 0
    on_line = Counter(lines)
    return sum(min(count, on_line[line] or 1) for line, count in Counter(reject.line for reject in rejects).items())


class _Taken:
    """Hands records to an adapter and knows which it is at, so that its rejects are counted by record."""

    def __init__(self, records: Iterable[Record], size: int) -> None:
        self._records, self._size = records, size
        self.count = 0
        self.line = 0
        self.is_lazy = False
        """Whether the adapter yielded what a record means before it took all of them."""

    def __iter__(self) -> Iterator[Record]:
        for record in self._records:
            self.count += 1
            self.line = record.line
            yield record

    def note_outcome(self) -> None:
        """Take note that the adapter yielded something."""
        self.is_lazy = self.is_lazy or self.count < self._size


def _take_safely(rows: StagedRows, outcomes: Iterable[Any], file: str, at: _Taken) -> set[int]:
    """Take what an adapter yields, and return which records it rejected; should it fail, that is a reject too."""
    rejecting: set[int] = set()
    try:
        for outcome in outcomes:
            rows.take(outcome)
            if type(outcome) is Reject:
                rejecting.add(at.count)
            at.note_outcome()
    except ODD_VALUE_ERRORS as error:
        rows.rejects.append(Reject(file, at.line, f"the adapter failed on a record: {type(error).__name__}: {error}"))
        rejecting.add(at.count)
    return rejecting

"""Reads parts of files and turns them into redacted tables, in this process or in worker processes beside it."""

import gc
import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from ingest.adapters import get_adapter
from ingest.adapters.base import Adapter, LineAdapter, Record, Reject, Span, SpanAdapter, Trace
from ingest.columnar import Tables, as_tables, from_bytes, table_bytes, table_of, to_bytes
from ingest.privacy import Redactor
from ingest.reading.blocks import CUT_OFF, LinePart, ReadBlock, line_pieces, read_part
from ingest.settings import PrivacySettings
from ingest.span_lines import read_usual_lines
from ingest.span_staging import trace_table
from ingest.staging import StagedRows
from ingest.usual_traces import UsualSpans
from ingest.whole_traces import put_together
from ingest.worker_processes import GC_THRESHOLD, start_lean, worker_processes

if TYPE_CHECKING:  # a worker process that reads spans does without, which spares it a third of its start
    from ingest.adapters.mapping import MappingReader
    from ingest.adapters.mapping_file import MappingFile

WORKERS = min(4, os.cpu_count() or 1)
_IN_FLIGHT = 2
_MOST_REMEMBERED = 200_000
"""Hashes of texts that a reader remembers to have handed on."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Let the interpreter look for cycles rarely while records are read."""
    before = gc.get_threshold()
    gc.set_threshold(GC_THRESHOLD)
    try:
        yield
    finally:
        gc.set_threshold(*before)


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

    def read(self, read: ReadBlock) -> StagedBlock:
        """Stage one block and add what the file layer says about it, as tables."""
        return self._with_traces(self.staged(read))

    def read_lines(self, part: LinePart) -> StagedBlock:
        """Stage one part of a line file, for adapters a piece at a time: what is parsed stays near the processor."""
        if self.mapping is not None or part.layers.outer or part.layers.unwrap:
            return self.read(read_part(part))
        rows, usual = StagedRows(), list[Span]()
        for piece in line_pieces(part):
            self._add(rows, self._read_piece(piece, rows, usual))
            rows.spans[rows.spans_redacted :] = self.redactor.spans(rows.spans[rows.spans_redacted :])
            rows.spans_redacted = len(rows.spans)
        return self._with_traces(self.redactor.rows(rows), usual)

    def _read_piece(self, piece: LinePart, rows: StagedRows, usual: list[Span]) -> ReadBlock:
        """Read a piece; the spans of usual lines, where the format has such, go straight to `usual`."""
        if self._read_lines is None or piece.layers.records or (piece.content or b"").startswith(CUT_OFF):
            return read_part(piece)
        return read_usual_lines(piece, self._read_lines, rows, usual)

    def _with_traces(self, rows: StagedRows, usual: list[Span] | None = None) -> StagedBlock:
        if not rows.spans and not usual:
            return self.as_block(rows)
        rows.texts = self._unsent(rows.texts)
        source = self._turn_source
        together = UsualSpans(usual, source, self.redactor) if usual else None
        whole = put_together(rows.spans, self._name, self._assemble, source, together)
        rows.redactions.update(self.redactor.counts)
        self.redactor.counts.clear()
        made = as_tables(whole.made) if whole.made.size else None
        return self.as_block(rows)._replace(traces=whole.table, made=made)

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
            known = 0
        elif self.adapter is not None:
            records = map(Record._make, zip([block.file] * len(lines), lines, *block[2:], strict=True))
            _take_safely(rows, self.adapter.read(records), block.file, lines[0] if lines else 0)
        unread = [reject._replace(line=reject.line + first) for reject in read.rejects]
        rows.rejects.extend(unread)
        rows.quarantined += _rejected_records(rows.rejects[known:], lines, unread)
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
                _take_safely(rows, self._assemble(trace), trace.trace_id, 0)
            made_of.append(rows.columns["interaction_id"][first:])
        return rows

    @staticmethod
    def as_block(rows: StagedRows) -> StagedBlock:
        """Return staged, redacted rows as tables with the rest of their account."""
        tables = as_tables(rows)
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
        return StagedBlock(tables, rest, trace_table([]))


def _mapping_reader(mapping: "MappingFile | None", adapter: Adapter | None) -> "MappingReader | None":
    if mapping is None:
        return getattr(adapter, "reader", None)  # of a MappingAdapter
    from ingest.adapters import mapping as reading

    return reading.MappingReader(mapping)


def _rejected_records(rejects: list[Reject], lines: list[int], unread: list[Reject]) -> int:
    """Count records and not reasons: on a line there are at most as many bad records as records."""
    if not rejects:
        return 0
    on_line = Counter(lines)
    on_line.update(reject.line for reject in unread)
    return sum(min(count, on_line[line] or 1) for line, count in Counter(reject.line for reject in rejects).items())


def _take_safely(rows: StagedRows, outcomes: Iterable[Any], file: str, line: int) -> None:
    """Take what an adapter yields; should it fail all the same, that is a reject and not a traceback."""
    try:
        for outcome in outcomes:
            rows.take(outcome)
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, ArithmeticError, RecursionError) as error:
        rows.rejects.append(Reject(file, line, f"the adapter failed on a record: {type(error).__name__}: {error}"))


class SentBlock(NamedTuple):
    """A staged block on its way from another process."""

    tables: list[bytes]
    rest: StagedRows
    traces: bytes
    made: list[bytes] | None

    @classmethod
    def of(cls, block: StagedBlock) -> "SentBlock":
        """Serialise a block."""
        made = to_bytes(block.made) if block.made is not None else None
        return cls(to_bytes(block.tables), block.rest, table_bytes(block.traces), made)

    def received(self) -> StagedBlock:
        """Return the block that was sent."""
        made = from_bytes(self.made) if self.made is not None else None
        return StagedBlock(from_bytes(self.tables), self.rest, table_of(self.traces), made)


_reader: RowReader | None = None


def _start_worker(way: Way) -> None:
    global _reader  # noqa: PLW0603 - one reader a worker process, set once
    start_lean()
    _reader = RowReader(way)


def _work(part: LinePart) -> SentBlock:
    if _reader is None:
        raise RuntimeError("the worker was not started")
    return SentBlock.of(_reader.read_lines(part))


class Readers:
    """Reads parts in order: side by side in worker processes when there are many, else right here."""

    def __init__(self, way: Way, *, workers: int) -> None:
        """Start no process yet."""
        self.here = RowReader(way)
        self._way = way
        self._workers = workers
        self._pool: ProcessPoolExecutor | None = None

    def read_parts(self, parts: Iterable[LinePart], *, many: bool) -> Iterator[StagedBlock]:
        """Yield the staged blocks of line parts in order."""
        if not many or self._workers < 2:  # noqa: PLR2004 - one worker is this process
            yield from (self.here.read_lines(part) for part in parts)
            return
        yield from self._read_beside(parts)

    def _read_beside(self, parts: Iterable[LinePart]) -> Iterator[StagedBlock]:
        waiting: deque[Future[SentBlock]] = deque()
        for part in parts:
            waiting.append(self._started_pool().submit(_work, part))
            if len(waiting) > self._workers * _IN_FLIGHT:
                yield waiting.popleft().result().received()
        while waiting:
            yield waiting.popleft().result().received()

    def _started_pool(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = worker_processes(self._workers, _start_worker, (self._way,))
        return self._pool

    def close(self) -> None:
        """End the worker processes."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None


@contextmanager
def readers(way: Way, *, workers: int = WORKERS) -> Iterator[Readers]:
    """Yield readers for one way of reading, and end their processes afterwards."""
    opened = Readers(way, workers=workers)
    try:
        yield opened
    finally:
        opened.close()

"""Puts interactions together from the traces that did not come whole, once every file of an ingest is read."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from itertools import groupby
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from ingest.adapters import adapter_names
from ingest.adapters.base import Caution
from ingest.columnar import table_bytes, table_of
from ingest.ingest_records import kept_mapping
from ingest.reading_jobs import WORKERS, RowReader, StagedBlock, Way
from ingest.sent_blocks import SentBlock
from ingest.spans.replacing import let_older_replace, take_back
from ingest.spans.rows import StagedSpan, together, trace_of, written
from ingest.spans.staging import FAMILY_SCHEMA, TraceBatch, iter_waiting, store_traces, trace_table
from ingest.storing import GroupWriter
from ingest.way_finding import WayFinder
from ingest.worker_processes import start_lean, worker_processes

_MANY_BATCHES = 3
"""From how many batches on worker processes pay for their start."""
Ways = dict[str, Way]
"""How the spans of each adapter are put together."""


class Assembled(NamedTuple):
    """What assembly had to say beside the interactions."""

    skipped: Counter[str]
    cautions: list[Caution]
    caution_counts: Counter[str]


class _Made(NamedTuple):
    """What a batch of traces became."""

    blocks: list[StagedBlock]
    changed: pa.Table
    """The rows of traces that have more or other spans than before, with what was made of each."""
    spans_new: int

    @property
    def has_sessions(self) -> bool:
        """Whether a trace among them holds several interactions."""
        return any(len(ids) > 1 for ids in self.changed.column("made").to_pylist())


def assemble_traces(
    connection: duckdb.DuckDBPyConnection, finder: WayFinder, writer: GroupWriter, *, workers: int = WORKERS
) -> Assembled:
    """Store the interactions of every trace that is new or changed, a batch of traces a transaction."""
    out = Assembled(Counter(), [], Counter())
    if not connection.execute("SELECT count(*) FROM trace_parts").fetchall()[0][0]:
        return out
    ways = _ways(connection, finder)
    for batch, made in _made(iter_waiting(connection), ways, workers=workers):
        connection.begin()
        writer.counts = writer.counts.plus(take_back(connection, batch.rows, made.changed, ingest_id=writer.ingest_id))
        store_traces(connection, batch, made.changed, ingest_id=writer.ingest_id)
        writer.spans_new += made.spans_new
        for block in made.blocks:
            if made.has_sessions:
                let_older_replace(connection, block.tables.interactions)
            _note(block, out)
            writer.add_assembled(block)
        writer.write(connection)
        connection.commit()
    return out


def _ways(connection: duckdb.DuckDBPyConnection, finder: WayFinder) -> Ways:
    mappings = connection.execute("SELECT name FROM mappings").fetchall()
    found = {
        name: _assembly_way(connection, finder, name) for name in (*adapter_names(), *(row[0] for row in mappings))
    }
    return {adapter: way for adapter, way in found.items() if way is not None}


def _assembly_way(connection: duckdb.DuckDBPyConnection, finder: WayFinder, adapter: str) -> Way | None:
    if adapter in adapter_names():
        return finder.assembly_way(adapter, None)
    mapping = kept_mapping(connection, adapter)
    return finder.assembly_way(adapter, mapping) if mapping else None


def _made(batches: Iterator[TraceBatch], ways: Ways, *, workers: int) -> Iterator[tuple[TraceBatch, _Made]]:
    """Yield every batch with what was made of it, in worker processes when there are many."""
    first = next(batches, None)
    if first is None:
        return
    assembler = _Assembler(ways)
    if first.buckets < _MANY_BATCHES or workers < 2:  # noqa: PLR2004 - one worker is this process
        for batch in (first, *batches):
            yield batch, assembler.made(batch.rows)
        return
    yield from _made_beside(_chained(first, batches), ways, workers)


def _chained(first: TraceBatch, rest: Iterator[TraceBatch]) -> Iterator[TraceBatch]:
    yield first
    yield from rest


def _made_beside(batches: Iterable[TraceBatch], ways: Ways, workers: int) -> Iterator[tuple[TraceBatch, _Made]]:
    with worker_processes(workers, _start_worker, (ways,)) as pool:
        waiting: deque[tuple[TraceBatch, Future[_Sent]]] = deque()
        for batch in batches:
            waiting.append((batch, pool.submit(_work, table_bytes(batch.rows))))
            if len(waiting) > workers:
                done, future = waiting.popleft()
                yield done, future.result().received()
        for done, future in waiting:
            yield done, future.result().received()


class _Sent(NamedTuple):
    blocks: list[SentBlock]
    changed: bytes
    spans_new: int

    def received(self) -> _Made:
        return _Made([sent.received() for sent in self.blocks], table_of(self.changed), self.spans_new)


class _Trace(NamedTuple):
    family: str
    trace_id: str
    spans: list[StagedSpan]


class _Assembler:
    """Makes blocks of interactions from rows of traces, with the reader of each adapter."""

    def __init__(self, ways: Ways) -> None:
        self._ways = ways
        self._readers: dict[str, RowReader] = {}

    def made(self, rows: pa.Table) -> _Made:
        """Return what the traces become that have more or other spans than before."""
        grouped: dict[str, list[_Trace]] = {}
        spans_new = 0
        for trace, known in _traces(rows):
            spans_new += len(trace.spans) - known
            grouped.setdefault(trace.spans[-1].adapter, []).append(trace)
        blocks = []
        changed: list[tuple[Any, ...]] = []
        for adapter, traces in grouped.items():
            reader = self._reader(adapter)
            block = reader.assemble([trace_of(trace.trace_id, trace.spans) for trace in traces]) if reader else None
            made_of = block.made_of if block else [[] for _ in traces]
            if block:
                blocks.append(block.block)
            changed.extend(_row(trace, ids) for trace, ids in zip(traces, made_of, strict=True))
        return _Made(blocks, trace_table(changed, FAMILY_SCHEMA), spans_new)

    def _reader(self, adapter: str) -> RowReader | None:
        if adapter not in self._readers and adapter in self._ways:
            self._readers[adapter] = RowReader(self._ways[adapter])
        return self._readers.get(adapter)


def _traces(rows: pa.Table) -> Iterator[tuple[_Trace, int]]:
    """Yield each trace that changed with how many of its spans were known; in the rows what is known comes first."""
    names = ("family", "trace_id", "spans", "payload", "made")
    listed = zip(*(rows.column(name).to_pylist() for name in names), strict=True)
    for (family, trace_id), pieces in groupby(listed, key=lambda row: row[:2]):
        payloads, known, known_payload = [], 0, b""
        for _, _, count, payload, made in pieces:
            payloads.append(payload)
            if made is not None:
                known, known_payload = count, payload
        spans = together(payloads)
        if written(spans) != known_payload:
            yield _Trace(family, trace_id, spans), known


def _row(trace: _Trace, made: list[str]) -> tuple[Any, ...]:
    users = list({span.user_id: None for span in trace.spans if span.user_id})
    last_ns = trace.spans[-1].started_ns
    return trace.family, trace.trace_id, len(trace.spans), last_ns, users, made, written(trace.spans)


_assembler: _Assembler | None = None


def _start_worker(ways: Ways) -> None:
    global _assembler  # noqa: PLW0603 - one assembler a worker process, set once
    start_lean()
    _assembler = _Assembler(ways)


def _work(rows: bytes) -> _Sent:
    if _assembler is None:
        raise RuntimeError("the worker was not started")
    made = _assembler.made(table_of(rows))
    return _Sent([SentBlock.of(block) for block in made.blocks], table_bytes(made.changed), made.spans_new)


def _note(block: StagedBlock, out: Assembled) -> None:
    out.skipped.update(block.rest.skips)
    out.cautions.extend(caution for caution in block.rest.cautions if not out.caution_counts[caution.code])
    out.caution_counts.update(block.rest.caution_counts)

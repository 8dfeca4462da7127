"""Puts interactions together from staged spans, trace by trace, once every file of an ingest is read."""

import gc
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from typing import NamedTuple

import duckdb

from ingest.adapters import adapter_names
from ingest.adapters.base import Caution, Trace
from ingest.columnar import table_bytes, table_of
from ingest.reading_jobs import WORKERS, RowReader, SentBlock, StagedBlock, Way
from ingest.span_staging import SettleCounts, TraceBatch, iter_unassembled, mark_assembled, settle_spans, traces_in
from ingest.storing import GroupWriter, kept_mapping
from ingest.way_finding import WayFinder
from ingest.worker_processes import worker_processes

_GC_THRESHOLD = 100_000
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
    batch: TraceBatch
    blocks: list[StagedBlock]


def assemble_traces(
    connection: duckdb.DuckDBPyConnection, finder: WayFinder, writer: GroupWriter, *, workers: int = WORKERS
) -> Assembled:
    """Settle staged spans and store the interactions of every changed trace, a batch of traces a transaction."""
    out = Assembled(Counter(), [], Counter())
    if not _has_work(connection):
        return out
    writer.spans_new = _settle(connection).new
    ways = _ways(connection, finder)
    for made in _made(iter_unassembled(connection), ways, workers=workers):
        connection.begin()
        for block in made.blocks:
            _note(block, out)
            writer.add_assembled(block)
        writer.write(connection)
        mark_assembled(connection, made.batch)
        connection.commit()
    return out


def _has_work(connection: duckdb.DuckDBPyConnection) -> bool:
    counts = connection.execute(
        "SELECT (SELECT count(*) FROM incoming_spans) + (SELECT count(*) FROM unassembled_traces)"
    ).fetchall()
    return bool(counts[0][0])


def _settle(connection: duckdb.DuckDBPyConnection) -> SettleCounts:
    connection.begin()
    counts = settle_spans(connection)
    connection.commit()
    return counts


def _ways(connection: duckdb.DuckDBPyConnection, finder: WayFinder) -> Ways:
    rows = connection.execute(
        "SELECT DISTINCT adapter FROM spans WHERE (family, trace_id) IN "
        "(SELECT (family, trace_id) FROM unassembled_traces)"
    ).fetchall()
    found = {adapter: _assembly_way(connection, finder, adapter) for (adapter,) in rows}
    return {adapter: way for adapter, way in found.items() if way is not None}


def _assembly_way(connection: duckdb.DuckDBPyConnection, finder: WayFinder, adapter: str) -> Way | None:
    if adapter in adapter_names():
        return finder.assembly_way(adapter, None)
    mapping = kept_mapping(connection, adapter)
    return finder.assembly_way(adapter, mapping) if mapping else None


def _made(batches: Iterator[TraceBatch], ways: Ways, *, workers: int) -> Iterator[_Made]:
    """Yield every batch with what was made of it, in worker processes when there are many."""
    first = next(batches, None)
    if first is None:
        return
    assembler = _Assembler(ways)
    if first.buckets < _MANY_BATCHES or workers < 2:  # noqa: PLR2004 - one worker is this process
        for batch in (first, *batches):
            yield _Made(batch, assembler.blocks(batch))
        return
    yield from _made_beside(_chained(first, batches), ways, workers)


def _chained(first: TraceBatch, rest: Iterator[TraceBatch]) -> Iterator[TraceBatch]:
    yield first
    yield from rest


def _made_beside(batches: Iterable[TraceBatch], ways: Ways, workers: int) -> Iterator[_Made]:
    with worker_processes(workers, _start_worker, (ways,)) as pool:
        waiting: deque[tuple[TraceBatch, Future[list[SentBlock]]]] = deque()
        for batch in batches:
            waiting.append((batch, pool.submit(_work, table_bytes(batch.spans))))
            if len(waiting) > workers:
                yield _received(*waiting.popleft())
        while waiting:
            yield _received(*waiting.popleft())


def _received(batch: TraceBatch, future: "Future[list[SentBlock]]") -> _Made:
    return _Made(batch, [sent.received() for sent in future.result()])


class _Assembler:
    """Makes blocks of interactions from spans, with the reader of each adapter."""

    def __init__(self, ways: Ways) -> None:
        self._readers = {adapter: RowReader(way) for adapter, way in ways.items()}

    def blocks(self, batch: TraceBatch) -> list[StagedBlock]:
        """Return what the traces of a batch become."""
        grouped: dict[str, list[Trace]] = {}
        for staged in traces_in(batch.spans):
            grouped.setdefault(staged.adapter, []).append(staged.trace)
        return [
            self._readers[adapter].assemble(traces) for adapter, traces in grouped.items() if adapter in self._readers
        ]


_assembler: _Assembler | None = None


def _start_worker(ways: Ways) -> None:
    global _assembler  # noqa: PLW0603 - one assembler a worker process, set once
    gc.set_threshold(_GC_THRESHOLD)
    _assembler = _Assembler(ways)


def _work(spans: bytes) -> list[SentBlock]:
    if _assembler is None:
        raise RuntimeError("the worker was not started")
    return [SentBlock.of(block) for block in _assembler.blocks(TraceBatch(0, 1, table_of(spans)))]


def _note(block: StagedBlock, out: Assembled) -> None:
    out.skipped.update(block.rest.skips)
    out.cautions.extend(caution for caution in block.rest.cautions if not out.caution_counts[caution.code])
    out.caution_counts.update(block.rest.caution_counts)

"""Puts interactions together from staged spans, trace by trace, once every file of an ingest is read."""

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import duckdb

from ingest.adapters import adapter_names
from ingest.adapters.base import Caution, Trace
from ingest.log_store import LogStore
from ingest.reading_jobs import RowReader, StagedBlock, Way
from ingest.span_staging import StagedTrace, TraceBatch, iter_unassembled, mark_assembled, settle_spans
from ingest.storing import GroupWriter, kept_mapping
from ingest.way_finding import WayFinder


class Assembled(NamedTuple):
    """What assembly had to say beside the interactions."""

    skipped: Counter[str]
    cautions: list[Caution]
    caution_counts: Counter[str]


def assemble_traces(store: LogStore, finder: WayFinder, writer: GroupWriter) -> Assembled:
    """Settle staged spans and store the interactions of every changed trace, a batch of traces a transaction."""
    out = Assembled(Counter(), [], Counter())
    with store.unit() as connection:
        if not _has_work(connection):
            return out
        connection.begin()
        settle_spans(connection)
        connection.commit()
        reader_of = _readers(connection, finder)
        for batch in iter_unassembled(connection):
            _store_batch(connection, batch, reader_of, writer, out)
    return out


def _has_work(connection: duckdb.DuckDBPyConnection) -> bool:
    counts = connection.execute(
        "SELECT (SELECT count(*) FROM incoming_spans) + (SELECT count(*) FROM unassembled_traces)"
    ).fetchall()
    return bool(counts[0][0])


def _readers(connection: duckdb.DuckDBPyConnection, finder: WayFinder) -> Callable[[str], RowReader | None]:
    known: dict[str, RowReader | None] = {}

    def reader_of(adapter: str) -> RowReader | None:
        if adapter not in known:
            way = _assembly_way(connection, finder, adapter)
            known[adapter] = way and RowReader(way)
        return known[adapter]

    return reader_of


def _assembly_way(connection: duckdb.DuckDBPyConnection, finder: WayFinder, adapter: str) -> Way | None:
    if adapter in adapter_names():
        return finder.assembly_way(adapter, None)
    mapping = kept_mapping(connection, adapter)
    return finder.assembly_way(adapter, mapping) if mapping else None


def _store_batch(
    connection: duckdb.DuckDBPyConnection,
    batch: TraceBatch,
    reader_of: Callable[[str], RowReader | None],
    writer: GroupWriter,
    out: Assembled,
) -> None:
    connection.begin()
    for adapter, traces in _by_adapter(batch.traces).items():
        reader = reader_of(adapter)
        if reader is not None:
            block = reader.assemble(traces)
            _note(block, out)
            writer.add_assembled(block)
    writer.write(connection)
    mark_assembled(connection, batch)
    connection.commit()


def _by_adapter(traces: list[StagedTrace]) -> dict[str, list[Trace]]:
    grouped: dict[str, list[Trace]] = {}
    for staged in traces:
        grouped.setdefault(staged.adapter, []).append(staged.trace)
    return grouped


def _note(block: StagedBlock, out: Assembled) -> None:
    out.skipped.update(block.rest.skips)
    out.cautions.extend(caution for caution in block.rest.cautions if not out.caution_counts[caution.code])
    out.caution_counts.update(block.rest.caution_counts)

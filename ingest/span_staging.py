"""Stage spans in logs.duckdb and hand them on trace by trace, whatever the order they arrived in."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import duckdb
import orjson
import pyarrow as pa

from ingest.adapters.base import Span, Trace

_KEY = "family, trace_id, span_id, adapter"
_BUCKET_SPANS = 60_000
"""How many spans one bucket of traces holds at most, roughly: what is in memory at a time."""
_SCHEMA = pa.schema(
    [
        ("family", pa.string()),
        ("trace_id", pa.string()),
        ("span_id", pa.string()),
        ("adapter", pa.string()),
        ("started_ns", pa.int64()),
        ("version_ns", pa.int64()),
        ("user_id", pa.string()),
        ("payload", pa.string()),
        ("ingest_id", pa.int64()),
    ]
)
_LAST_NS = 2**63 - 1


class StagedSpan(NamedTuple):
    """A span, the adapter that read it and the family that adapter belongs to.

    The family is the adapter's `family` attribute, else its name: formats of one family share trace ids and
    `assemble`, so that a trace exported in two of them becomes one interaction.
    """

    family: str
    adapter: str
    span: Span


class SettleCounts(NamedTuple):
    """What settling did with the spans a run has read."""

    new: int
    changed: int
    unchanged: int


class StagedTrace(NamedTuple):
    """A trace to assemble, and an adapter of its family that does so."""

    family: str
    adapter: str
    trace: Trace


class TraceBatch(NamedTuple):
    """Traces to assemble together; `bucket` and `buckets` say which to mark as done afterwards."""

    bucket: int
    buckets: int
    traces: list[StagedTrace]


def append_spans(connection: duckdb.DuckDBPyConnection, spans: Iterable[StagedSpan], *, ingest_id: int) -> int:
    """Append `spans` to what waits for settling, without looking for duplicates; return how many there were.

    Payloads must be redacted and user ids hashed already.
    """
    rows = [
        (
            staged.family,
            staged.span.trace_id,
            staged.span.span_id,
            staged.adapter,
            min(staged.span.started_ns, _LAST_NS),
            min(staged.span.version_ns, _LAST_NS),
            staged.span.user_id,
            orjson.dumps(staged.span.payload).decode(),
            ingest_id,
        )
        for staged in spans
    ]
    if not rows:
        return 0
    columns = [pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), _SCHEMA, strict=True)]
    connection.register("appended_spans", pa.Table.from_arrays(columns, schema=_SCHEMA))
    try:
        connection.execute("INSERT INTO incoming_spans SELECT * FROM appended_spans")
    finally:
        connection.unregister("appended_spans")
    return len(rows)


def settle_spans(connection: duckdb.DuckDBPyConnection) -> SettleCounts:
    """Move what waits into `spans`, the greater version (else the longer payload) staying, and note changed traces.

    Runs in a transaction of its own unless one is open; the same spans in any order and number give the same table.
    """
    connection.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE settling AS
        SELECT incoming.*, spans.payload IS NOT NULL AS known,
               spans.payload IS NULL OR (incoming.version_ns, length(incoming.payload), incoming.payload)
                   > (spans.version_ns, length(spans.payload), spans.payload) AS wins
        FROM (
            SELECT * FROM incoming_spans
            QUALIFY row_number() OVER (
                PARTITION BY {_KEY} ORDER BY version_ns DESC, length(payload) DESC, payload DESC, ingest_id) = 1
        ) AS incoming
        LEFT JOIN spans USING ({_KEY})
        """  # noqa: S608 - only a constant is spliced in
    )
    row = connection.execute(
        """
        SELECT count(*) FILTER (WHERE NOT known), count(*) FILTER (WHERE known AND wins),
               count(*) FILTER (WHERE known AND NOT wins)
        FROM settling
        """
    ).fetchone()
    connection.execute(
        """
        DELETE FROM spans USING settling
        WHERE spans.family = settling.family AND spans.trace_id = settling.trace_id
          AND spans.span_id = settling.span_id AND spans.adapter = settling.adapter
          AND settling.known AND settling.wins
        """
    )
    connection.execute("INSERT INTO spans SELECT * EXCLUDE (known, wins) FROM settling WHERE wins")
    connection.execute(
        """
        INSERT INTO unassembled_traces
        SELECT DISTINCT family, trace_id FROM settling
        WHERE wins AND NOT EXISTS (
            FROM unassembled_traces AS noted
            WHERE noted.family = settling.family AND noted.trace_id = settling.trace_id)
        """
    )
    connection.execute("TRUNCATE incoming_spans")
    connection.execute("DROP TABLE settling")
    return SettleCounts(*(row or (0, 0, 0)))


def iter_unassembled(connection: duckdb.DuckDBPyConnection) -> Iterator[TraceBatch]:
    """Yield the traces to assemble in batches that fit in memory, each trace's spans by start time, then span id.

    Call `mark_assembled` with a batch in the transaction that stores its interactions; a batch that is not marked
    comes again with the next run.
    """
    buckets = _bucket_count(connection)
    for bucket in range(buckets):
        rows = connection.execute(
            """
            SELECT spans.family, spans.trace_id, spans.span_id, spans.adapter, spans.started_ns, spans.version_ns,
                   spans.user_id, spans.payload
            FROM spans
            WHERE (spans.family, spans.trace_id) IN (
                SELECT (family, trace_id) FROM unassembled_traces WHERE hash(trace_id) % ? = ?)
            ORDER BY spans.family, spans.trace_id, spans.started_ns, spans.span_id, spans.adapter
            """,
            [buckets, bucket],
        ).fetchall()
        if rows:
            yield TraceBatch(bucket, buckets, list(_grouped(rows)))


def mark_assembled(connection: duckdb.DuckDBPyConnection, batch: TraceBatch) -> None:
    """Take the traces of `batch` off the list of those to assemble."""
    connection.execute("DELETE FROM unassembled_traces WHERE hash(trace_id) % ? = ?", [batch.buckets, batch.bucket])


def forget_traces(connection: duckdb.DuckDBPyConnection, trace_ids: Iterable[str]) -> int:
    """Delete every staged span of `trace_ids`; return how many spans went."""
    wanted = sorted(set(trace_ids))
    row = connection.execute("SELECT count(*) FROM spans WHERE trace_id IN (SELECT unnest(?))", [wanted]).fetchone()
    for table in ("spans", "incoming_spans", "unassembled_traces"):
        connection.execute(f"DELETE FROM {table} WHERE trace_id IN (SELECT unnest(?))", [wanted])  # noqa: S608
    return int(row[0]) if row else 0


def _bucket_count(connection: duckdb.DuckDBPyConnection) -> int:
    row = connection.execute(
        "SELECT count(*) FROM spans WHERE (family, trace_id) IN (SELECT (family, trace_id) FROM unassembled_traces)"
    ).fetchone()
    return 1 + (int(row[0]) if row else 0) // _BUCKET_SPANS


def _grouped(rows: list[tuple[str, str, str, str, int, int, str | None, str]]) -> Iterator[StagedTrace]:
    spans: list[Span] = []
    for position, (family, trace_id, span_id, adapter, started_ns, version_ns, user_id, payload) in enumerate(rows):
        spans.append(Span(trace_id, span_id, orjson.loads(payload), started_ns, version_ns, user_id))
        following = rows[position + 1] if position + 1 < len(rows) else None
        if following is None or following[:2] != (family, trace_id):
            yield StagedTrace(family, adapter, Trace(trace_id, tuple(spans)))
            spans = []

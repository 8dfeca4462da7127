"""Stage spans in logs.duckdb and hand them on trace by trace, whatever the order they arrived in."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import duckdb
import orjson
import pyarrow as pa

from ingest.adapters.base import Span, Trace

_BUCKET_SPANS = 60_000
"""How many spans one bucket of traces holds at most, roughly: what is in memory at a time."""
_LAST_NS = 2**63 - 1
# Keys are found again by hash, where a collision does no harm: it is compared and stays.
_CONTESTED = """
CREATE OR REPLACE TEMP TABLE contested AS
SELECT key_hash FROM (SELECT hash(family, trace_id, span_id, adapter) AS key_hash FROM incoming_spans)
GROUP BY key_hash HAVING count(*) > 1
UNION
SELECT key_hash FROM (SELECT hash(family, trace_id, span_id, adapter) AS key_hash FROM spans)
WHERE key_hash IN (SELECT hash(family, trace_id, span_id, adapter) FROM incoming_spans)
"""
_WINNERS = """
CREATE OR REPLACE TEMP TABLE winners AS
SELECT incoming.*, spans.payload IS NOT NULL AS is_known
FROM (
    SELECT * FROM incoming_spans
    WHERE hash(family, trace_id, span_id, adapter) IN (SELECT key_hash FROM contested)
    QUALIFY row_number() OVER (
        PARTITION BY family, trace_id, span_id, adapter
        ORDER BY version_ns DESC, length(payload) DESC, payload DESC, ingest_id) = 1
) AS incoming
LEFT JOIN spans USING (family, trace_id, span_id, adapter)
WHERE spans.payload IS NULL OR (incoming.version_ns, length(incoming.payload), incoming.payload)
    > (spans.version_ns, length(spans.payload), spans.payload)
"""
_NOTE_TRACES = """
INSERT INTO unassembled_traces
SELECT DISTINCT family, trace_id FROM (
    SELECT family, trace_id FROM incoming_spans
    WHERE hash(family, trace_id, span_id, adapter) NOT IN (SELECT key_hash FROM contested)
    UNION ALL SELECT family, trace_id FROM winners)
EXCEPT SELECT family, trace_id FROM unassembled_traces
"""
_DELETE_LOSERS = """
DELETE FROM spans USING winners
WHERE spans.family = winners.family AND spans.trace_id = winners.trace_id
  AND spans.span_id = winners.span_id AND spans.adapter = winners.adapter AND winners.is_known
"""
_INSERT_UNCONTESTED = """
INSERT INTO spans SELECT * FROM incoming_spans
WHERE hash(family, trace_id, span_id, adapter) NOT IN (SELECT key_hash FROM contested)
"""
SPAN_SCHEMA = pa.schema(
    [
        ("trace_id", pa.string()),
        ("span_id", pa.string()),
        ("started_ns", pa.int64()),
        ("version_ns", pa.int64()),
        ("user_id", pa.string()),
        ("payload", pa.string()),
    ]
)
"""Spans as they travel between processes and into the store; payloads are JSON text."""


class StagedSpans(NamedTuple):
    """Spans, the adapter that read them and the family that adapter belongs to.

    The family is the adapter's `family` attribute, else its name: formats of one family share trace ids and
    `assemble`, so that a trace exported in two of them becomes one interaction.
    """

    family: str
    adapter: str
    table: pa.Table


class SettleCounts(NamedTuple):
    """What settling did with the spans a run has read."""

    new: int
    changed: int


class StagedTrace(NamedTuple):
    """A trace to assemble, and an adapter of its family that does so."""

    family: str
    adapter: str
    trace: Trace


class TraceBatch(NamedTuple):
    """Spans of traces to assemble together; `bucket` and `buckets` say which to mark as done afterwards."""

    bucket: int
    buckets: int
    spans: pa.Table


def span_table(spans: Iterable[Span]) -> pa.Table:
    """Return spans in the form in which they are staged; payloads must be redacted and user ids hashed already."""
    rows = [
        (
            span.trace_id,
            span.span_id,
            min(span.started_ns, _LAST_NS),
            min(span.version_ns, _LAST_NS),
            span.user_id,
            _written(span.payload),
        )
        for span in spans
    ]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(SPAN_SCHEMA)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SPAN_SCHEMA, strict=True)]
    return pa.Table.from_arrays(arrays, schema=SPAN_SCHEMA)


def _written(payload: dict[str, Any]) -> str:
    try:
        return orjson.dumps(payload).decode()
    except TypeError:  # lone surrogates, whole numbers beyond 64 bit
        return json.dumps(payload, default=str)


def _read(payload: str) -> Any:
    try:
        return orjson.loads(payload)
    except orjson.JSONDecodeError:
        return json.loads(payload)


def append_spans(connection: duckdb.DuckDBPyConnection, staged: Iterable[StagedSpans], *, ingest_id: int) -> int:
    """Append spans to what waits for settling, without looking for duplicates; return how many there were."""
    count = 0
    for family, adapter, table in staged:
        if not table.num_rows:
            continue
        connection.register("appended_spans", table)
        try:
            connection.execute(
                """
                INSERT INTO incoming_spans BY NAME
                SELECT *, $family AS family, $adapter AS adapter, $ingest_id AS ingest_id FROM appended_spans
                """,
                {"family": family, "adapter": adapter, "ingest_id": ingest_id},
            )
        finally:
            connection.unregister("appended_spans")
        count += table.num_rows
    return count


def settle_spans(connection: duckdb.DuckDBPyConnection) -> SettleCounts:
    """Move what waits into `spans`, the greater version (else the longer payload) staying, and note changed traces.

    The same spans in any order and number give the same table. Most spans arrive once, so only keys that occur again,
    here or in the table, are compared.
    """
    for statement in (_CONTESTED, _WINNERS, _NOTE_TRACES, _DELETE_LOSERS):
        connection.execute(statement)
    fresh = connection.execute(_INSERT_UNCONTESTED).fetchall()[0][0]
    won = connection.execute("INSERT INTO spans SELECT * EXCLUDE (is_known) FROM winners").fetchall()[0][0]
    changed = connection.execute("SELECT count(*) FROM winners WHERE is_known").fetchall()[0][0]
    for statement in ("TRUNCATE incoming_spans", "DROP TABLE winners", "DROP TABLE contested"):
        connection.execute(statement)
    return SettleCounts(int(fresh) + int(won) - int(changed), int(changed))


def iter_unassembled(connection: duckdb.DuckDBPyConnection) -> Iterator[TraceBatch]:
    """Yield the traces to assemble in batches that fit in memory, each trace's spans by start time, then span id.

    Call `mark_assembled` with a batch in the transaction that stores its interactions; a batch that is not marked
    comes again with the next run.
    """
    buckets = _bucket_count(connection)
    for bucket in range(buckets):
        table = connection.sql(
            """
            SELECT spans.family, spans.adapter, spans.trace_id, spans.span_id, spans.started_ns, spans.version_ns,
                   spans.user_id, spans.payload
            FROM spans
            WHERE (spans.family, spans.trace_id) IN (
                SELECT (family, trace_id) FROM unassembled_traces WHERE hash(trace_id) % $buckets = $bucket)
            ORDER BY spans.family, spans.trace_id, spans.started_ns, spans.span_id, spans.adapter
            """,
            params={"buckets": buckets, "bucket": bucket},
        ).to_arrow_table()
        if table.num_rows:
            yield TraceBatch(bucket, buckets, table)


def traces_in(spans: pa.Table) -> Iterator[StagedTrace]:
    """Yield the traces of a batch's spans."""
    names = ("family", "adapter", "trace_id", "span_id", "started_ns", "version_ns", "user_id", "payload")
    held: list[Span] = []
    known = ("", "", "")
    for row in zip(*(spans.column(name).to_pylist() for name in names), strict=True):
        family, adapter, trace_id, span_id, started_ns, version_ns, user_id, payload = row
        if held and (family, trace_id) != (known[0], known[2]):
            yield StagedTrace(known[0], known[1], Trace(known[2], tuple(held)))
            held = []
        known = (family, adapter, trace_id)
        held.append(Span(trace_id, span_id, _read(payload), started_ns, version_ns, user_id))
    if held:
        yield StagedTrace(known[0], known[1], Trace(known[2], tuple(held)))


def mark_assembled(connection: duckdb.DuckDBPyConnection, batch: TraceBatch) -> None:
    """Take the traces of `batch` off the list of those to assemble."""
    connection.execute("DELETE FROM unassembled_traces WHERE hash(trace_id) % ? = ?", [batch.buckets, batch.bucket])


def forget_traces(connection: duckdb.DuckDBPyConnection, trace_ids: Iterable[str]) -> int:
    """Delete every staged span of `trace_ids`; return how many spans went."""
    wanted = sorted(set(trace_ids))
    rows = connection.execute("SELECT count(*) FROM spans WHERE trace_id IN (SELECT unnest(?))", [wanted]).fetchall()
    for table in ("spans", "incoming_spans", "unassembled_traces"):
        connection.execute(f"DELETE FROM {table} WHERE trace_id IN (SELECT unnest(?))", [wanted])  # noqa: S608
    return int(rows[0][0])


def _bucket_count(connection: duckdb.DuckDBPyConnection) -> int:
    rows = connection.execute(
        "SELECT count(*) FROM spans WHERE (family, trace_id) IN (SELECT (family, trace_id) FROM unassembled_traces)"
    ).fetchall()
    return 1 + int(rows[0][0]) // _BUCKET_SPANS

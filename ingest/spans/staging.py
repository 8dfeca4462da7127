"""Keep the spans of every trace in logs.duckdb, one row a trace, and hand on those that have to be put together."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ingest.adapters.base import Span
from ingest.columnar import Tables, table_bytes, table_of, without
from ingest.spans.packs import PACKED_COLUMNS, dissolve_packs, loosened, payload_columns, split_at
from ingest.spans.rows import written_spans

if TYPE_CHECKING:
    import duckdb

_BUCKET_SPANS = 60_000
"""How many spans one bucket of traces holds at most, roughly: what is in memory at a time."""
_MOST_IN_MEMORY = 8 << 20
_ROW_COLUMNS = [
    ("spans", pa.int32()),
    ("last_ns", pa.int64()),
    ("user_ids", pa.list_(pa.string())),
    ("made", pa.list_(pa.string())),
    *PACKED_COLUMNS,
]
TRACE_SCHEMA = pa.schema([("trace_id", pa.string()), *_ROW_COLUMNS])
"""Traces as they travel between processes and into the store; `made` is null where nothing was put together."""
FAMILY_SCHEMA = pa.schema([("family", pa.string()), ("trace_id", pa.string()), *_ROW_COLUMNS])
_KEPT = "family, trace_id, spans, last_ns, user_ids, payload"

# A trace of which another piece is there, here or in the store, is put together when every file is read; one that says
# what is stored already adds nothing.
_WAITING = """
CREATE OR REPLACE TEMP TABLE waiting_traces AS
WITH waiting AS (
    SELECT family, trace_id FROM arriving_traces GROUP BY ALL HAVING count(*) > 1 OR count(made) = 0
    UNION SELECT a.family, a.trace_id FROM arriving_traces AS a SEMI JOIN traces AS t USING (family, trace_id)
    UNION SELECT a.family, a.trace_id FROM arriving_traces AS a SEMI JOIN trace_parts AS p USING (family, trace_id)
)
SELECT w.*, t.digest FROM waiting AS w LEFT JOIN traces AS t USING (family, trace_id)
"""
# Packs of which a trace waits, and whether there is anything in them that is not stored.
_TORN_PACKS = """
SELECT a.pack, bool_or(w.trace_id IS NULL OR a.digest IS DISTINCT FROM w.digest)
FROM arriving_traces AS a LEFT JOIN waiting_traces AS w USING (family, trace_id)
WHERE a.pack IS NOT NULL GROUP BY a.pack HAVING count(w.trace_id) > 0
"""
_KEEP_PARTS = f"""
INSERT INTO trace_parts SELECT {_KEPT} FROM arriving_payloads AS a JOIN waiting_traces AS w USING (family, trace_id)
WHERE a.digest IS NULL OR a.digest IS DISTINCT FROM w.digest
"""  # noqa: S608 - our own column names
_KEEP_WHOLE = f"""
INSERT INTO traces ({_KEPT}, made, ingest_id, pack, place, size, digest)
SELECT {_KEPT}, made, $ingest_id, $first_pack + pack, place, size, digest FROM arriving_payloads
"""  # noqa: S608 - our own column names
_BUT_WAITING = "ANTI JOIN waiting_traces USING (family, trace_id)"
_FIRST_PACK = "SELECT 1 + coalesce(max(pack), 0) FROM traces"
_NOT_WHOLE = """
SELECT DISTINCT unnest(made) FROM arriving_traces SEMI JOIN waiting_traces USING (family, trace_id)
"""
_COUNT_WHOLE = """
SELECT coalesce(sum(spans), 0) FROM arriving_traces ANTI JOIN waiting_traces USING (family, trace_id)
"""
# The same log read again says the same, mostly in the same words: those traces are done.
_DROP_REPEATED = """
DELETE FROM trace_parts AS p USING traces AS t
WHERE p.family = t.family AND p.trace_id = t.trace_id AND p.payload = t.payload
"""
_COUNT_WAITING = """
SELECT (SELECT coalesce(sum(spans), 0) FROM trace_parts)
    + (SELECT coalesce(sum(spans), 0) FROM traces SEMI JOIN trace_parts USING (family, trace_id))
"""
_BUCKET = f"""
SELECT {_KEPT}, NULL AS made FROM trace_parts WHERE hash(trace_id) % $buckets = $bucket
UNION ALL
SELECT {_KEPT}, made FROM traces
WHERE (family, trace_id) IN (SELECT (family, trace_id) FROM trace_parts WHERE hash(trace_id) % $buckets = $bucket)
ORDER BY family, trace_id, made IS NULL, payload
"""  # noqa: S608 - our own column names


class ArrivingTraces:
    """Traces of a group of blocks on their way into the store, and the interactions made of those that seem whole.

    Their payloads weigh more than all else of a group, so that many wait in a file that nobody else can see.
    """

    def __init__(self, folder: Path) -> None:
        """Use a file in `folder` when there are many."""
        self.made: list[Tables] = []
        self.keys: list[pa.Table] = []
        """The traces without their payloads."""
        self.payload_bytes = 0
        self._packs = 0
        # Closed by `close`; a context manager would close it too early.
        self._file = tempfile.SpooledTemporaryFile(_MOST_IN_MEMORY, dir=str(folder))  # noqa: SIM115 - see above
        self._stream = pa.ipc.new_stream(self._file, FAMILY_SCHEMA)

    def add(self, family: str, table: pa.Table, made: Tables | None = None) -> int:
        """Add traces that one adapter read from one block; return about how many bytes of memory they take.

        The family is the adapter's `family` attribute, else its name: formats of one family share trace ids and
        `assemble`, so that a trace exported in two of them becomes one interaction.
        """
        rows = self._with_own_packs(table).add_column(0, "family", pa.repeat(family, table.num_rows))
        self._stream.write_table(rows.combine_chunks())
        self.payload_bytes += int(rows.column("payload").nbytes)
        # A copy: as it comes from another process, every column holds on to the bytes of all.
        keys = table_of(table_bytes(rows.select(["family", "trace_id", "spans", "made", "pack", "digest"])))
        self.keys.append(keys)
        if made is not None:
            self.made.append(made)
        return int(keys.nbytes) + sum(int(part.nbytes) for part in made or ())

    def _with_own_packs(self, table: pa.Table) -> pa.Table:
        """Number the packs of a block on from those of the blocks before."""
        packs = pc.add(table.column("pack"), self._packs)
        self._packs = 1 + (pc.max(packs).as_py() or self._packs)
        return table.set_column(table.column_names.index("pack"), "pack", packs)

    def payloads(self, torn: Mapping[int, bool] | None = None) -> pa.RecordBatchReader:
        """Return the whole rows; no more can be added afterwards.

        Traces of `torn` packs have a payload of their own; those of packs that nobody needs are left out.
        """
        self._stream.close()
        self._file.seek(0)
        rows = pa.ipc.open_stream(self._file)
        if not torn:
            return rows
        return pa.RecordBatchReader.from_batches(FAMILY_SCHEMA, _apart(rows, torn))

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


def _apart(batches: Iterable[pa.RecordBatch], torn: Mapping[int, bool]) -> Iterator[pa.RecordBatch]:
    is_torn, is_needed = (
        pa.array([pack for pack, needed in torn.items() if needed or not only_needed], pa.int64())
        for only_needed in (False, True)
    )
    for batch in batches:
        rows = pa.Table.from_batches([batch])
        packs = rows.column("pack")
        if (whole := rows.filter(pc.invert(pc.is_in(packs, is_torn)))).num_rows:
            yield from whole.to_batches()
        if (needed := rows.filter(pc.is_in(packs, is_needed))).num_rows:
            yield from loosened(needed).to_batches()


class MadeTraces(NamedTuple):
    """Traces of one block and the interactions made of them."""

    table: pa.Table
    made: Tables | None = None

    def split(self, at: int) -> "tuple[MadeTraces, MadeTraces] | None":
        """Return the first `at` traces and the others; None when not each of them is one interaction, in order."""
        if self.made is None or not 0 < at < self.made.size:
            return None
        names = self.made.interactions.column("interaction_id").combine_chunks()
        made_of = self.table.column("made").combine_chunks()
        is_one_each = pc.all(pc.equal(pc.list_value_length(made_of), 1)).as_py() and not made_of.null_count
        if not is_one_each or not made_of.flatten().equals(names):
            return None
        tables, made = split_at(self.table.combine_chunks(), at), self.made.split(at)
        return MadeTraces(tables[0], made[0]), MadeTraces(tables[1], made[1])


class Taken(NamedTuple):
    """What of a group of traces is new and whole: its interactions and how many spans it has."""

    made: list[Tables]
    spans: int


class TraceBatch(NamedTuple):
    """Traces to put together, their rows side by side; `bucket` and `buckets` say which parts are done afterwards."""

    bucket: int
    buckets: int
    rows: pa.Table


def trace_row(trace_id: str, spans: Sequence[Span], adapter: str, made: list[str] | None) -> tuple[Any, ...]:
    """Return the row of a trace from its spans, in order; payloads must be redacted and user ids hashed already."""
    users = {span.user_id: None for span in spans if span.user_id}
    last_ns = min(spans[-1].started_ns, 2**63 - 1)
    return trace_id, len(spans), last_ns, list(users), made, written_spans(spans, adapter)


def trace_table(rows: Sequence[tuple[Any, ...]], schema: pa.Schema = TRACE_SCHEMA) -> pa.Table:
    """Return rows of traces, each with a payload of its own at the end, as a table."""
    fields = list(schema)[: 1 - len(PACKED_COLUMNS)]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(fields)
    arrays = [_array(column, field.type) for column, field in zip(columns[:-1], fields[:-1], strict=True)]
    return pa.Table.from_arrays([*arrays, *payload_columns(columns[-1])], schema=schema)


@cache
def no_traces() -> pa.Table:
    """Return a table of no traces."""
    return trace_table([])


def _array(column: Sequence[Any], kind: Any) -> pa.Array:
    try:
        return pa.array(column, kind)
    except UnicodeEncodeError:
        return pa.array([str(value).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
                         for value in column], kind)  # fmt: skip


def take_traces(connection: "duckdb.DuckDBPyConnection", arriving: ArrivingTraces, *, ingest_id: int) -> Taken:
    """Store a group of traces inside the caller's transaction, and return the interactions that may be stored now.

    A trace is whole as far as anyone can tell when all its spans stand in one block; should more come, it is made anew.
    """
    connection.register("arriving_traces", pa.concat_tables(arriving.keys))
    try:
        connection.execute(_WAITING)
        not_whole = {row[0] for row in connection.execute(_NOT_WHOLE).fetchall()}
        spans = int(connection.execute(_COUNT_WHOLE).fetchall()[0][0])
        [(waiting,)] = connection.execute("SELECT count(*) FROM waiting_traces").fetchall()
        torn: dict[int, bool] = dict(connection.execute(_TORN_PACKS).fetchall()) if waiting else {}
    finally:
        connection.unregister("arriving_traces")
    [(first_pack,)] = connection.execute(_FIRST_PACK).fetchall()
    numbers = {"ingest_id": ingest_id, "first_pack": first_pack}
    if waiting:
        _keep(connection, arriving.payloads(torn), _KEEP_WHOLE + _BUT_WAITING, numbers)
        _keep(connection, arriving.payloads(torn), _KEEP_PARTS, {})
    else:
        _keep(connection, arriving.payloads(), _KEEP_WHOLE, numbers)
    arriving.close()
    return Taken([without(made, not_whole) for made in arriving.made], spans)


def _keep(
    connection: "duckdb.DuckDBPyConnection", payloads: pa.RecordBatchReader, statement: str, values: dict[str, Any]
) -> None:
    connection.register("arriving_payloads", payloads)
    try:
        connection.execute(statement, values)
    finally:
        connection.unregister("arriving_payloads")


def iter_waiting(connection: "duckdb.DuckDBPyConnection") -> Iterator[TraceBatch]:
    """Yield the traces to put together in batches that fit in memory, what is known of each before its new parts.

    Call `store_traces` with a batch in the transaction that stores its interactions; a batch that is not stored comes
    again with the next run.
    """
    connection.begin()
    dissolve_packs(connection, "(family, trace_id) IN (SELECT (family, trace_id) FROM trace_parts)")
    connection.execute(_DROP_REPEATED)
    connection.commit()
    buckets = 1 + int(connection.execute(_COUNT_WAITING).fetchall()[0][0]) // _BUCKET_SPANS
    for bucket in range(buckets):
        table = connection.sql(_BUCKET, params={"buckets": buckets, "bucket": bucket}).to_arrow_table()
        if table.num_rows:
            yield TraceBatch(bucket, buckets, table)


def store_traces(
    connection: "duckdb.DuckDBPyConnection", batch: TraceBatch, changed: pa.Table, *, ingest_id: int
) -> None:
    """Put the rows of the traces that changed in the place of the old ones, and take the batch off the waiting list."""
    connection.execute("DELETE FROM trace_parts WHERE hash(trace_id) % ? = ?", [batch.buckets, batch.bucket])
    if not changed.num_rows:
        return
    connection.register("changed_traces", changed)
    try:
        connection.execute(
            "DELETE FROM traces AS t USING changed_traces AS c WHERE t.family = c.family AND t.trace_id = c.trace_id"
        )
        connection.execute(
            f"INSERT INTO traces ({_KEPT}, made, ingest_id) SELECT {_KEPT}, made, ? FROM changed_traces",  # noqa: S608 - our own column names
            [ingest_id],
        )
    finally:
        connection.unregister("changed_traces")

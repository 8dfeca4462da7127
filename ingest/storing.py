"""Writes staged blocks to the log store in groups, one committed transaction each, and keeps the ingest's records."""

import hashlib
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Self

import duckdb
import pyarrow as pa
import xxhash

from ingest.adapters import family_of
from ingest.adapters.base import Reject
from ingest.adapters.mapping_file import MappingFile
from ingest.columnar import Tables
from ingest.ingest_report import FileAccount, IngestReport, InteractionCounts
from ingest.log_store import MEMORY_LIMIT, LogStore
from ingest.merging import Merged, merge
from ingest.reading_jobs import StagedBlock
from ingest.span_staging import ArrivingTraces, MadeTraces, take_traces
from ingest.way_finding import FileWay
from ingest.worker_processes import give_back_memory

GROUP_BYTES = 128 << 20
"""What a transaction gathers, about: more than the rows that DuckDB compresses together."""
_GROUP_PAYLOAD_BYTES = 64 << 20
"""What the payloads of spans in it may take besides."""
_ROW_GROUP = 122_880
"""Rows that DuckDB compresses together; others are compressed last in a transaction, and again when they fit others."""
_STORING_MEMORY = "200MB"
"""Enough for one thread, and the less the engine keeps the more is left for what is read meanwhile."""
_GROUP_REJECTS = 5_000
_RAW_KEPT = 1 << 16

_INSERT_REJECTS = """
INSERT INTO rejects
SELECT r.reject_key, $ingest_id, r.file, r.line, r.reason, r.raw, r.format, r.records, $now
FROM (SELECT * FROM incoming_rejects QUALIFY row_number() OVER (PARTITION BY reject_key ORDER BY line) = 1) AS r
"""


class _NotedFile(NamedTuple):
    file_digest: str
    way_digest: str
    account: FileAccount


class _NotedReject(NamedTuple):
    reject: Reject
    format: str


class _Group(NamedTuple):
    """What is stored in one transaction."""

    tables: list[Tables]
    traces: list[ArrivingTraces]
    """One at most."""
    rejects: list[_NotedReject]
    files: list[_NotedFile]
    mappings: dict[str, MappingFile]

    @classmethod
    def empty(cls) -> "_Group":
        return cls([], [], [], [], {})


class _Written(NamedTuple):
    """What became of a group."""

    merged: Merged
    spans_new: int


class GroupWriter:
    """Gathers staged blocks and writes them group by group, one beside the reading of the next.

    The store is held only while a group is written.
    """

    def __init__(self, store: LogStore, ingest_id: int) -> None:
        """Start with nothing gathered."""
        self.store, self.ingest_id = store, ingest_id
        self.counts = InteractionCounts()
        self.votes = 0
        self.spans_new = 0
        self._group = _Group.empty()
        self._bytes = self._rows = 0
        self._thread = ThreadPoolExecutor(1)
        self._writing: Future[_Written] | None = None

    def __enter__(self) -> Self:
        """Keep the thread that writes."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let the group that is being written come to its end."""
        self._thread.shutdown(wait=True)

    def add(self, block: StagedBlock, way: FileWay | None) -> None:
        """Gather one block, and have the group written when it is large enough."""
        group = self._group
        group.tables.append(block.tables)
        self._bytes += sum(table.nbytes for table in block.tables)
        self._rows += block.tables.size
        if way is not None:
            adapter = way.way.adapter
            family = adapter if way.way.mapping else family_of(adapter)
            group.rejects.extend(_NotedReject(reject, way.format) for reject in block.rest.rejects)
            if way.way.mapping is not None and block.traces.num_rows:
                group.mappings[adapter] = way.way.mapping
            if block.traces.num_rows:
                self._add_traces(family, MadeTraces(block.traces, block.made))
        if self._bytes > GROUP_BYTES or len(self._group.rejects) > _GROUP_REJECTS or self._has_row_groups():
            self._hand_over()

    def _add_traces(self, family: str, traces: MadeTraces) -> None:
        """Gather traces; of those that more than fill a row group the ones that fill it are written at once."""
        if parts := traces.split(_ROW_GROUP - self._rows):
            self._gather_traces(family, parts[0])
            self._hand_over()
            traces = parts[1]
        self._gather_traces(family, traces)

    def _gather_traces(self, family: str, traces: MadeTraces) -> None:
        gathered = self._group.traces
        if not gathered:
            gathered.append(ArrivingTraces(self.store.path.parent))
        self._bytes += gathered[0].add(family, *traces)
        self._rows += traces.made.size if traces.made is not None else 0

    def _has_row_groups(self) -> bool:
        if self._group.traces:  # whose payloads take as much memory again while they are stored
            return self._rows >= _ROW_GROUP or self._group.traces[0].payload_bytes > _GROUP_PAYLOAD_BYTES
        return self._rows >= _ROW_GROUP and self._bytes * 2 > GROUP_BYTES

    def add_assembled(self, block: StagedBlock) -> None:
        """Gather interactions put together from staged spans; `write` stores them."""
        self._group.tables.append(block.tables)
        self._group.rejects.extend(_NotedReject(reject, "assembly") for reject in block.rest.rejects)

    def note_file(self, *, file_digest: str, way_digest: str, account: FileAccount) -> None:
        """Note that a file was read to its end, to be stored with or after its last rows."""
        self._group.files.append(_NotedFile(file_digest, way_digest, account))

    def _hand_over(self) -> None:
        """Have what is gathered written on the thread, once the group before it is."""
        self.wait()
        self._writing = self._thread.submit(self._stored, self._whole_row_groups())

    def _whole_row_groups(self) -> _Group:
        """Take as many rows as fill whole row groups and leave the others for the next time; all when there are few."""
        group = self._taken()
        rows = sum(tables.size for tables in group.tables)
        left = rows % _ROW_GROUP if rows >= _ROW_GROUP and not group.traces else 0
        later: list[Tables] = []
        while left:
            last = group.tables.pop()
            if last.size > left:
                first, last = last.split(last.size - left)
                group.tables.append(first)
            later.insert(0, last)
            left -= last.size
        if not later:
            return group
        # A file is noted with its last rows.
        self._group = _Group(later, [], [], group.files, {})
        self._bytes = sum(table.nbytes for tables in later for table in tables)
        self._rows = rows % _ROW_GROUP
        return group._replace(files=[])

    def _taken(self) -> _Group:
        group, self._group = self._group, _Group.empty()
        self._bytes = self._rows = 0
        return group

    def wait(self) -> None:
        """Wait until every group that was handed over is in the store; raises what its writing raised."""
        if self._writing is not None:
            self._count(self._writing.result())
            self._writing = None

    def _count(self, written: _Written) -> None:
        self.counts = self.counts.plus(written.merged.counts)
        self.votes += written.merged.votes
        self.spans_new += written.spans_new

    def _stored(self, group: _Group) -> _Written:
        with self.store.unit() as connection:
            written = self._committed(connection, group)
        give_back_memory()
        return written

    def flush_into(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Write what is gathered in one transaction; call `wait` before the store is opened for it."""
        if any(self._group):
            self._count(self._committed(connection, self._taken()))

    def _committed(self, connection: duckdb.DuckDBPyConnection, group: _Group) -> _Written:
        # Threads that insert side by side each leave a part of a row group, which is then compressed over again: twice
        # the work. The other cores read meanwhile.
        connection.execute("SET threads = 1")
        connection.execute(f"SET memory_limit = '{_STORING_MEMORY}'")
        connection.begin()
        try:
            written = self._merged(connection, group)
            connection.commit()
        except Exception:
            with suppress(duckdb.Error):  # a transaction that failed to commit is over already
                connection.rollback()
            raise
        finally:
            connection.execute("RESET threads")
            connection.execute(f"SET memory_limit = '{MEMORY_LIMIT}'")
        return written

    def write(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Write what is gathered inside the caller's transaction."""
        self._count(self._merged(connection, self._taken()))

    def _merged(self, connection: duckdb.DuckDBPyConnection, group: _Group) -> _Written:
        with_spans = bool(group.traces)
        spans = 0
        if group.traces:
            taken = take_traces(connection, group.traces.pop(), ingest_id=self.ingest_id)
            spans = taken.spans
            group.tables.extend(taken.made)
            del taken  # so that each table is freed once it is stored
        merged = Merged(InteractionCounts(), 0)
        if group.tables:
            merged = merge(connection, group.tables, ingest_id=self.ingest_id, with_spans=with_spans)
        self._write_rejects(connection, group.rejects)
        for name, mapping in group.mappings.items():
            _keep_mapping(connection, name, mapping)
        for noted in group.files:
            self._write_file(connection, noted)
        return _Written(merged, spans)

    def _write_rejects(self, connection: duckdb.DuckDBPyConnection, rejects: list[_NotedReject]) -> None:
        if not rejects:
            return
        rows = [_reject_row(noted) for noted in rejects]
        connection.register("incoming_rejects", pa.Table.from_pylist(rows, schema=_REJECT_SCHEMA))
        try:
            connection.execute("DELETE FROM rejects WHERE reject_key IN (SELECT reject_key FROM incoming_rejects)")
            connection.execute(_INSERT_REJECTS, {"ingest_id": self.ingest_id, "now": datetime.now(UTC)})
        finally:
            connection.unregister("incoming_rejects")

    def _write_file(self, connection: duckdb.DuckDBPyConnection, noted: _NotedFile) -> None:
        account = noted.account
        connection.execute("DELETE FROM rejects WHERE file = ? AND ingest_id < ?", [account.file, self.ingest_id])
        connection.execute(
            "DELETE FROM ingested_files WHERE file_digest = ? AND way_digest = ?", [noted.file_digest, noted.way_digest]
        )
        connection.execute(
            "INSERT INTO ingested_files VALUES (?, ?, ?, ?, ?)",
            [noted.file_digest, noted.way_digest, account.file, account.model_dump_json(), self.ingest_id],
        )


_REJECT_SCHEMA = pa.schema(
    [
        ("reject_key", pa.string()),
        ("file", pa.string()),
        ("line", pa.int64()),
        ("reason", pa.string()),
        ("raw", pa.string()),
        ("format", pa.string()),
        ("records", pa.int64()),
    ]
)


def _reject_row(noted: _NotedReject) -> dict[str, object]:
    reject = noted.reject
    raw = reject.raw[:_RAW_KEPT].encode("utf-8", "replace").decode("utf-8", "replace")
    whole = f"{reject.file}\x1f{reject.line}\x1f{raw}"
    key = hashlib.blake2b(whole.encode("utf-8", "replace"), digest_size=12).hexdigest()
    row = {"reject_key": key, "file": reject.file, "line": reject.line, "reason": reject.reason[:500], "raw": raw}
    return {**row, "format": noted.format, "records": reject.records}


def _keep_mapping(connection: duckdb.DuckDBPyConnection, name: str, mapping: MappingFile) -> None:
    connection.execute(
        "INSERT INTO mappings SELECT $name, $mapping WHERE NOT EXISTS (SELECT 1 FROM mappings WHERE name = $name)",
        {"name": name, "mapping": mapping.model_dump_json(by_alias=True)},
    )


def kept_mapping(connection: duckdb.DuckDBPyConnection, name: str) -> MappingFile | None:
    """Return a mapping that spans were once staged through."""
    rows = connection.execute("SELECT mapping FROM mappings WHERE name = ?", [name]).fetchall()
    return MappingFile.model_validate_json(rows[0][0]) if rows else None


def start_ingest(connection: duckdb.DuckDBPyConnection) -> int:
    """Open a new ingest and return its id."""
    ingest_id = int(connection.execute("SELECT nextval('ingest_seq')").fetchall()[0][0])
    connection.execute("INSERT INTO ingests VALUES (?, ?, NULL, NULL)", [ingest_id, datetime.now(UTC)])
    return ingest_id


def finish_ingest(connection: duckdb.DuckDBPyConnection, ingest_id: int, report: IngestReport) -> None:
    """Keep the report of an ingest that came to its end."""
    connection.execute(
        "UPDATE ingests SET finished_at = ?, report = ? WHERE ingest_id = ?",
        [datetime.now(UTC), report.model_dump_json(), ingest_id],
    )


class KnownFiles:
    """Files that were read to their end before, by their bytes and the way they were read."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, ways: set[str]) -> None:
        """Look up the files read in any of `ways`."""
        rows = connection.execute(
            "SELECT way_digest, file_digest, account FROM ingested_files WHERE way_digest IN (SELECT unnest(?))",
            [sorted(ways)],
        ).fetchall()
        self._accounts = {(way, digest): FileAccount.model_validate_json(account) for way, digest, account in rows}
        self._sizes = {(way, account.size) for (way, _), account in self._accounts.items()}
        self._rejects = _rejects_shown(connection, {account.file for account in self._accounts.values()})

    def account_of(self, path: Path, way_digest: str) -> FileAccount | None:
        """Return the account of a file whose bytes were read this way; digests it only when its size was seen."""
        if (way_digest, path.stat().st_size) not in self._sizes:
            return None
        return self._accounts.get((way_digest, file_digest(path)))

    def rejects_of(self, file: str) -> list[Reject]:
        """Return the first quarantined records of a file."""
        return [reject for reject in self._rejects if reject.file == file]


def _rejects_shown(connection: duckdb.DuckDBPyConnection, files: set[str]) -> list[Reject]:
    rows = connection.execute(
        "SELECT file, line, reason, raw FROM rejects WHERE file IN (SELECT unnest(?))"
        " QUALIFY row_number() OVER (PARTITION BY file ORDER BY line) <= 50 ORDER BY file, line",
        [sorted(files)],
    ).fetchall()
    return [Reject(*row) for row in rows]


def file_digest(path: Path) -> str:
    """Return the XXH3 hash of a file's bytes, of 128 bits: it tells files apart that nobody made alike on purpose."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, xxhash.xxh3_128).hexdigest()

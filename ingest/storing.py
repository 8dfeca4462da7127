"""Writes staged blocks to the log store in groups, one committed transaction each, and keeps the ingest's records."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow as pa

from ingest.adapters import family_of
from ingest.adapters.base import Reject
from ingest.adapters.mapping_file import MappingFile
from ingest.columnar import Tables
from ingest.ingest_report import FileAccount, IngestReport, InteractionCounts
from ingest.log_store import LogStore
from ingest.merging import MergeCounts, merge
from ingest.reading_jobs import StagedBlock
from ingest.span_staging import StagedTraces, take_traces
from ingest.way_finding import FileWay

GROUP_BYTES = 120 << 20
"""What a transaction gathers: a few hundred thousand rows, which DuckDB compresses on all cores and as they come."""
_WEIGHT_OF_TRACES = 3
"""Long texts, of which the store keeps copies until they are committed, weigh more than rows of short values."""
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


class GroupWriter:
    """Gathers staged blocks and writes them group by group; the store is held only while one is written."""

    def __init__(self, store: LogStore, ingest_id: int) -> None:
        """Start with nothing gathered."""
        self.store, self.ingest_id = store, ingest_id
        self.counts = MergeCounts()
        self.spans_new = 0
        self._tables: list[Tables] = []
        self._traces: list[StagedTraces] = []
        self._rejects: list[_NotedReject] = []
        self._files: list[_NotedFile] = []
        self._mappings: dict[str, MappingFile] = {}
        self._bytes = 0

    def add(self, block: StagedBlock, way: FileWay | None) -> None:
        """Gather one block, and write the group when it is large enough."""
        self._tables.append(block.tables)
        self._bytes += sum(table.nbytes for table in block.tables)
        if way is not None:
            adapter = way.way.adapter
            family = adapter if way.way.mapping else family_of(adapter)
            if block.traces.num_rows:
                self._traces.append(StagedTraces(family, block.traces, block.made))
                held = block.traces.nbytes + sum(table.nbytes for table in block.made or ())
                self._bytes += _WEIGHT_OF_TRACES * held
            self._rejects.extend(_NotedReject(reject, way.format) for reject in block.rest.rejects)
            if way.way.mapping is not None and block.traces.num_rows:
                self._mappings[adapter] = way.way.mapping
        if self._bytes > GROUP_BYTES or len(self._rejects) > _GROUP_REJECTS:
            self.flush()

    def add_assembled(self, block: StagedBlock) -> None:
        """Gather interactions put together from staged spans; `write` stores them."""
        self._tables.append(block.tables)
        self._rejects.extend(_NotedReject(reject, "assembly") for reject in block.rest.rejects)

    def note_file(self, *, file_digest: str, way_digest: str, account: FileAccount) -> None:
        """Note that a file was read to its end, to be stored with or after its last rows."""
        self._files.append(_NotedFile(file_digest, way_digest, account))

    def flush(self) -> None:
        """Write what is gathered in one transaction, in a unit of work of its own."""
        with self.store.unit() as connection:
            # No reader relies on the order of rows, and without it both cores insert.
            connection.execute("SET preserve_insertion_order = false")
            self.flush_into(connection)

    def flush_into(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Write what is gathered in one transaction."""
        if self._tables or self._traces or self._rejects or self._files:
            connection.begin()
            self.write(connection)
            connection.commit()

    def write(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Write what is gathered inside the caller's transaction."""
        taken = take_traces(connection, self._traces, ingest_id=self.ingest_id)
        self.spans_new += taken.spans
        tables, with_spans = [*self._tables, *taken.made], bool(self._traces)
        self._tables, self._traces = [], []  # so that each is freed once it is stored
        if tables:
            self.counts = self.counts.plus(merge(connection, tables, ingest_id=self.ingest_id, with_spans=with_spans))
        self._write_rejects(connection)
        for name, mapping in self._mappings.items():
            _keep_mapping(connection, name, mapping)
        for noted in self._files:
            self._write_file(connection, noted)
        self._rejects, self._files = [], []
        self._bytes = 0
        self._mappings = {}

    def _write_rejects(self, connection: duckdb.DuckDBPyConnection) -> None:
        if not self._rejects:
            return
        rows = [_reject_row(noted) for noted in self._rejects]
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

    def interaction_counts(self) -> InteractionCounts:
        """Return what became of the interactions so far."""
        counts = self.counts._asdict()
        counts.pop("votes")
        return InteractionCounts(**counts)


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
    """Return the SHA-256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()

"""Keeps an ingest's own records: its beginning and report, the files it read, quarantine, and mappings of spans."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow as pa

from ingest.adapters.base import Reject
from ingest.adapters.mapping_file import MappingFile
from ingest.ingest_report import FileAccount, IngestReport
from ingest.reading.digesting import file_digest

_RAW_KEPT = 1 << 16

_INSERT_REJECTS = """
INSERT INTO rejects
SELECT r.reject_key, $ingest_id, r.file, r.line, r.reason, r.raw, r.format, r.records, $now
FROM (SELECT * FROM incoming_rejects QUALIFY row_number() OVER (PARTITION BY reject_key ORDER BY line) = 1) AS r
"""


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


class NotedFile(NamedTuple):
    """A file that was read to its end, in which way, and its account."""

    file_digest: str
    way_digest: str
    account: FileAccount


class NotedReject(NamedTuple):
    """A quarantined record and what read it."""

    reject: Reject
    format: str


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


def write_rejects(connection: duckdb.DuckDBPyConnection, rejects: list[NotedReject], *, ingest_id: int) -> None:
    """Put records into quarantine; one that is there already is put there anew."""
    if not rejects:
        return
    rows = [_reject_row(noted) for noted in rejects]
    connection.register("incoming_rejects", pa.Table.from_pylist(rows, schema=_REJECT_SCHEMA))
    try:
        connection.execute("DELETE FROM rejects WHERE reject_key IN (SELECT reject_key FROM incoming_rejects)")
        connection.execute(_INSERT_REJECTS, {"ingest_id": ingest_id, "now": datetime.now(UTC)})
    finally:
        connection.unregister("incoming_rejects")


def _reject_row(noted: NotedReject) -> dict[str, object]:
    reject = noted.reject
    raw = reject.raw[:_RAW_KEPT].encode("utf-8", "replace").decode("utf-8", "replace")
    whole = f"{reject.file}\x1f{reject.line}\x1f{raw}"
    key = hashlib.blake2b(whole.encode("utf-8", "replace"), digest_size=12).hexdigest()
    row = {"reject_key": key, "file": reject.file, "line": reject.line, "reason": reject.reason[:500], "raw": raw}
    return {**row, "format": noted.format, "records": reject.records}


def keep_mapping(connection: duckdb.DuckDBPyConnection, name: str, mapping: MappingFile) -> None:
    """Keep a mapping that spans were staged through."""
    connection.execute(
        "INSERT INTO mappings SELECT $name, $mapping WHERE NOT EXISTS (SELECT 1 FROM mappings WHERE name = $name)",
        {"name": name, "mapping": mapping.model_dump_json(by_alias=True)},
    )


def kept_mapping(connection: duckdb.DuckDBPyConnection, name: str) -> MappingFile | None:
    """Return a mapping that spans were once staged through."""
    rows = connection.execute("SELECT mapping FROM mappings WHERE name = ?", [name]).fetchall()
    return MappingFile.model_validate_json(rows[0][0]) if rows else None


def write_file(connection: duckdb.DuckDBPyConnection, noted: NotedFile, *, ingest_id: int) -> None:
    """Note that a file was read to its end; what earlier ingests rejected of it is forgotten."""
    account = noted.account
    connection.execute("DELETE FROM rejects WHERE file = ? AND ingest_id < ?", [account.file, ingest_id])
    connection.execute(
        "DELETE FROM ingested_files WHERE file_digest = ? AND way_digest = ?", [noted.file_digest, noted.way_digest]
    )
    connection.execute(
        "INSERT INTO ingested_files VALUES (?, ?, ?, ?, ?)",
        [noted.file_digest, noted.way_digest, account.file, account.model_dump_json(), ingest_id],
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

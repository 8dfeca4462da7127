"""Quarantined records: listed a page at a time, and taken again once a mapping is mended."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from ingest.log_store import LogStore

_PAGE = 2_000


class RejectedRecord(NamedTuple):
    """One quarantined record; `raw` is redacted and may be cut."""

    reject_key: str
    file: str
    line: int
    reason: str
    raw: str
    format: str
    rejected_at: datetime


def count_rejects(store: LogStore) -> int:
    """Return how many records are in quarantine."""
    with store.unit() as connection:
        return int(connection.execute("SELECT count(*) FROM rejects").fetchall()[0][0])


def list_rejects(store: LogStore, *, file: str = "", offset: int = 0, limit: int = 50) -> list[RejectedRecord]:
    """Return a page of quarantined records by file and line; `file` is a part of the name."""
    with store.unit() as connection:
        rows = connection.execute(
            "SELECT reject_key, file, line, reason, raw, format, rejected_at FROM rejects"
            " WHERE contains(file, ?) ORDER BY file, line, reject_key LIMIT ? OFFSET ?",
            [file, limit, offset],
        ).fetchall()
    return [RejectedRecord(*row) for row in rows]


def reasons(store: LogStore) -> list[tuple[str, int]]:
    """Return the reasons of quarantine, most frequent first, with numbers and quoted values left out of them."""
    with store.unit() as connection:
        return connection.execute(
            "SELECT regexp_replace(reason, '''[^'']*''|[0-9]+', '…', 'g') AS kind, count(*) FROM rejects"
            " GROUP BY kind ORDER BY count(*) DESC, kind LIMIT 50"
        ).fetchall()


def iter_raw(store: LogStore) -> Iterator[tuple[RejectedRecord, bytes]]:
    """Yield every quarantined record with its bytes: from its file while that still has them, else as it was kept."""
    offset = 0
    while page := list_rejects(store, offset=offset, limit=_PAGE):
        lines = _lines_of_files(page)
        for reject in page:
            kept = reject.raw.encode("utf-8", "replace")
            yield reject, lines.get((reject.file, reject.line), kept)
        offset += len(page)


def _lines_of_files(page: list[RejectedRecord]) -> dict[tuple[str, int], bytes]:
    wanted: dict[str, dict[int, str]] = {}
    for reject in page:
        wanted.setdefault(reject.file, {})[reject.line] = reject.raw
    return {
        (file, number): line for file, lines in wanted.items() for number, line in _matching_lines(Path(file), lines)
    }


def _matching_lines(file: Path, lines: dict[int, str]) -> Iterator[tuple[int, bytes]]:
    """Yield the wanted lines of a plain file whose beginning is still what was quarantined."""
    if not file.is_file():
        return
    last = max(lines)
    with file.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if number > last:
                return
            if number in lines and line[:20] == lines[number].encode("utf-8", "replace")[:20]:
                yield number, line.rstrip(b"\r\n")


def drop_rejects(store: LogStore, keys: list[str]) -> None:
    """Take records out of quarantine."""
    with store.unit() as connection:
        connection.execute("DELETE FROM rejects WHERE reject_key IN (SELECT unnest(?))", [keys])

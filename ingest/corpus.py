"""The chunk store that gold chunks are picked from: filled from files, folders of text, or the chunks seen in logs."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
from pydantic import BaseModel

from evalsets.chunks import Chunk, canonical_chunk_id, chunk_text_hash
from evalsets.errors import BadInputError
from ingest.log_store import LogStore
from ingest.normalising import instant, text
from ingest.reading.blocks import line_parts, read_part, whole_blocks
from ingest.reading.envelopes import usual_place
from ingest.reading.probing import probe
from ingest.reading.sources import SourceFile, find_files

_TEXT_SUFFIXES = {".md", ".markdown", ".mdx", ".txt", ".rst"}
_HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*\s*$|^(?P<line>[^\n]+)\n(?:=+|-{3,})\s*$", re.MULTILINE)
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_ID_KEYS = ("chunk_id", "id", "_id", "passage_id", "node_id", "segment_id", "doc_id", "document_id")
_DOC_KEYS = ("doc_id", "document_id", "doc", "file_id", "source", "url", "path")
_TEXT_KEYS = ("text", "content", "page_content", "passage", "chunk_text", "body")
_POSITION_KEYS = ("position", "rank", "index", "chunk_index", "order")
_TIME_KEYS = ("updated_at", "last_modified", "modified_at", "last_updated", "modified", "updated", "date")
_BATCH = 20_000
_REJECTS_KEPT = 50


class CorpusReject(BaseModel):
    """A record that is no chunk."""

    file: str
    line: int
    reason: str


class CorpusReport(BaseModel):
    """What adding to the corpus did."""

    files: int = 0
    read: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    rejected: int = 0
    rejects: list[CorpusReject] = []
    """The first of the rejected records."""
    chunks: int = 0
    """Chunks in the store afterwards."""
    documents: int = 0

    def summary(self) -> str:
        """Return the report in one line."""
        return (
            f"read {self.read} chunks of {self.files} files: {self.new} new, {self.changed} changed, {self.unchanged}"
            f" unchanged, {self.rejected} rejected; the corpus holds {self.chunks} chunks of {self.documents} documents"
        )


class _Found(NamedTuple):
    chunk_id: str
    doc_id: str
    position: int
    text: str
    updated_at: datetime | None = None


def add(paths: Iterable[str | Path], store: LogStore) -> CorpusReport:
    """Add the chunks of files to the chunk store: JSON, JSONL, CSV, Parquet, or text with one chunk a heading.

    A chunk whose text is the same is left; one whose text changed is replaced, with the time noted. Raises
    BadInputError for a path that leads nowhere or a file without chunks in any form known.
    """
    report = CorpusReport()
    files = _corpus_files(paths)
    report.files = len(files)
    _store(store, _chunks_of(files, report), report)
    return report


def add_from_logs(store: LogStore) -> CorpusReport:
    """Add every chunk with a text that was ever retrieved and that the corpus lacks.

    Of several texts of one id the one last asked for is taken. What the corpus has from files stays as it is: a log
    holds old states of chunks, redacted.
    """
    report = CorpusReport()
    with store.unit() as connection:
        rows = connection.execute(_SEEN_IN_LOGS).fetchall()
    _store(store, (_Found(*row) for row in rows), report)
    return report


_SEEN_IN_LOGS = """
SELECT r.chunk_id, coalesce(arg_max(r.doc_id, i.asked_at), r.chunk_id), 0, arg_max(t.text, i.asked_at)
FROM retrieved AS r
JOIN chunk_texts AS t USING (text_hash)
ANTI JOIN corpus_chunks AS known ON known.chunk_id = r.chunk_id
JOIN (
    SELECT interaction_id, coalesce(asked_at, 'epoch'::TIMESTAMPTZ) AS asked_at FROM interactions
) AS i USING (interaction_id)
GROUP BY r.chunk_id ORDER BY r.chunk_id
"""


def iter_chunks(store: LogStore) -> Iterator[Chunk]:
    """Yield every chunk of the store, by document and position."""
    after = ("", -1, "")
    while True:
        with store.unit() as connection:
            rows = connection.execute(_NEXT_CHUNKS, [*after, _BATCH]).fetchall()
        for chunk_id, doc_id, _, body in rows:
            yield Chunk(chunk_id, body, doc_id)
        if len(rows) < _BATCH:
            return
        chunk_id, doc_id, position, _ = rows[-1]
        after = (doc_id, position, chunk_id)


_NEXT_CHUNKS = """
SELECT chunk_id, doc_id, position, text FROM corpus_chunks
WHERE (doc_id, position, chunk_id) > (?, ?, ?) ORDER BY doc_id, position, chunk_id LIMIT ?
"""


def corpus_version(store: LogStore) -> str:
    """Return a digest of all chunk ids and texts, by which a changed corpus is seen; empty when there is none."""
    with store.unit() as connection:
        rows = connection.execute(
            "SELECT count(*), bit_xor(md5_number_lower(chunk_id || chr(31) || text_hash)) FROM corpus_chunks"
        ).fetchall()
    count, mixed = rows[0]
    return f"{count}-{int(mixed):016x}" if count else ""


def _corpus_files(paths: Iterable[str | Path]) -> list[SourceFile]:
    found = []
    for path in map(Path, paths):
        if path.is_dir():
            texts = [
                file for file in sorted(path.rglob("*")) if file.suffix.lower() in _TEXT_SUFFIXES and file.is_file()
            ]
            names = {str(file) for file in texts}
            rest = [file for file in _files_or_none(path) if file.name not in names]
            found.extend([*(SourceFile(file, str(file), {}) for file in texts), *rest])
        else:
            found.extend(find_files([path]))
    if not found:
        raise BadInputError("nothing to add: the folder holds no file.")
    return found


def _files_or_none(folder: Path) -> list[SourceFile]:
    try:
        return find_files([folder])
    except BadInputError:
        return []


def _chunks_of(files: list[SourceFile], report: CorpusReport) -> Iterator[_Found]:
    for file in files:
        before = report.read
        if file.path.suffix.lower() in _TEXT_SUFFIXES:
            yield from _sections(file, report)
        else:
            yield from _records(file, report)
        if report.read == before and not report.rejected and file.path.stat().st_size:
            raise BadInputError(f"{file.name!r} holds no chunks: JSON, CSV, Parquet, Markdown or text is expected.")


def _sections(file: SourceFile, report: CorpusReport) -> Iterator[_Found]:
    written = file.path.read_text(encoding="utf-8-sig", errors="replace")
    doc_id = file.path.stem
    written_at = datetime.fromtimestamp(file.path.stat().st_mtime, UTC)
    for position, body in enumerate(split_by_headings(written)):
        report.read += 1
        yield _Found(f"{doc_id}#{position}", doc_id, position, body, written_at)


def split_by_headings(written: str) -> list[str]:
    """Split Markdown or text into one passage a heading, heading included; headings inside code fences do not count."""
    fences = [match.span() for match in _FENCE.finditer(written)]
    starts = [
        match.start()
        for match in _HEADING.finditer(written)
        if not any(start <= match.start() < end for start, end in fences)
    ]
    edges = [0, *starts, len(written)]
    pieces = (written[a:b].strip() for a, b in pairwise(edges))
    return _without_bare_headings([piece for piece in pieces if piece])


def _without_bare_headings(pieces: list[str]) -> list[str]:
    """Put a heading that has no text of its own before the passage that follows it."""
    joined: list[str] = []
    carried = ""
    for piece in pieces:
        if piece.startswith("#") and "\n" not in piece:
            carried += piece + "\n"
            continue
        joined.append(carried + piece)
        carried = ""
    return [*joined, carried.strip()] if carried else joined


def _records(file: SourceFile, report: CorpusReport) -> Iterator[_Found]:
    seen = probe(file)
    blocks = (
        map(read_part, line_parts(seen))
        if seen.container == "lines"
        else whole_blocks(seen, records=usual_place(seen.sample[0]) if seen.is_one_document and seen.sample else "")
    )
    positions: dict[str, int] = {}
    first_line = 0
    for read in blocks:
        for reject in read.rejects:
            _reject(report, file.name, reject.line + first_line, reject.reason)
        for line, value in zip(read.block.lines, read.block.values, strict=True):
            report.read += 1
            chunk = _chunk_of(value, positions)
            if isinstance(chunk, str):
                _reject(report, file.name, line + first_line, chunk)
            else:
                yield chunk
        first_line += read.lines


def _reject(report: CorpusReport, file: str, line: int, reason: str) -> None:
    report.rejected += 1
    if len(report.rejects) < _REJECTS_KEPT:
        report.rejects.append(CorpusReject(file=file, line=line, reason=reason))


def _chunk_of(value: Any, positions: dict[str, int]) -> _Found | str:
    if not isinstance(value, dict):
        return f"not an object but {type(value).__name__}"
    body = _first(value, _TEXT_KEYS)
    if body is None:
        return f"no text: none of {', '.join(_TEXT_KEYS)} is there"
    metadata = value.get("metadata") if isinstance(value.get("metadata"), dict) else {}
    chunk_id = _first(value, _ID_KEYS) or _first(metadata, _ID_KEYS)
    if chunk_id is None:
        return f"no chunk id: none of {', '.join(_ID_KEYS)} is there"
    doc_id = _first(value, _DOC_KEYS) or _first(metadata, _DOC_KEYS) or chunk_id
    position = _position(value, positions.get(doc_id, 0))
    positions[doc_id] = position + 1
    return _Found(
        canonical_chunk_id(chunk_id), canonical_chunk_id(doc_id), position, body, _written_at(value, metadata)
    )


def _written_at(*values: Any) -> datetime | None:
    for value in values:
        for key in _TIME_KEYS:
            try:
                found = instant(value.get(key))
            except (ValueError, TypeError, OverflowError, ArithmeticError):
                continue
            if found is not None:
                return found.at
    return None


def _first(value: Any, keys: tuple[str, ...]) -> str | None:
    return next((found for key in keys if (found := text(value.get(key))) is not None), None)


def _position(value: dict[str, Any], following: int) -> int:
    given = next((value[key] for key in _POSITION_KEYS if isinstance(value.get(key), int)), None)
    return following if given is None else int(given)


def _store(store: LogStore, chunks: Iterable[_Found], report: CorpusReport) -> None:
    batch: list[_Found] = []
    for chunk in chunks:
        batch.append(chunk)
        if len(batch) >= _BATCH:
            _store_batch(store, batch, report)
            batch = []
    _store_batch(store, batch, report)


def _store_batch(store: LogStore, batch: list[_Found], report: CorpusReport) -> None:
    hashes = [chunk_text_hash(chunk.text) for chunk in batch]
    columns = list(zip(*batch, strict=True)) if batch else [()] * len(_Found._fields)
    incoming = pa.table(
        {
            "chunk_id": pa.array(columns[0], pa.string()),
            "doc_id": pa.array(columns[1], pa.string()),
            "position": pa.array(columns[2], pa.int32()),
            "text": pa.array(columns[3], pa.string()),
            "text_hash": pa.array(hashes, pa.string()),
            "updated_at": pa.array(columns[4], pa.timestamp("us", "UTC")),
            "place": pa.array(range(len(batch)), pa.int64()),
        }
    )
    with store.unit() as connection:
        connection.begin()
        connection.register("incoming_chunks", incoming)
        _merge_chunks(connection, report)
        connection.commit()


_COMPARED_CHUNKS = """
CREATE OR REPLACE TEMP TABLE compared_chunks AS
SELECT n.*, c.chunk_id IS NULL AS is_new,
    c.chunk_id IS NOT NULL AND (c.text_hash, c.doc_id) IS DISTINCT FROM (n.text_hash, n.doc_id) AS is_changed
FROM (
    SELECT * FROM incoming_chunks
    QUALIFY row_number() OVER (PARTITION BY chunk_id ORDER BY place DESC) = 1
) AS n LEFT JOIN corpus_chunks AS c USING (chunk_id)
"""
_UPDATE_CHUNKS = """
UPDATE corpus_chunks AS c SET doc_id = n.doc_id, position = n.position, text = n.text, text_hash = n.text_hash,
    added_at = $now, updated_at = n.updated_at
FROM compared_chunks AS n WHERE c.chunk_id = n.chunk_id AND n.is_changed
"""
_INSERT_CHUNKS = """
INSERT INTO corpus_chunks (chunk_id, doc_id, position, text, text_hash, added_at, updated_at)
SELECT chunk_id, doc_id, position, text, text_hash, $now, updated_at FROM compared_chunks WHERE is_new
"""


def _merge_chunks(connection: duckdb.DuckDBPyConnection, report: CorpusReport) -> None:
    connection.execute(_COMPARED_CHUNKS)
    now = datetime.now(UTC)
    connection.execute(_UPDATE_CHUNKS, {"now": now})
    connection.execute(_INSERT_CHUNKS, {"now": now})
    new, changed, unchanged = connection.execute(
        "SELECT count(*) FILTER (is_new), count(*) FILTER (is_changed), count(*) FILTER (NOT is_new AND NOT is_changed)"
        " FROM compared_chunks"
    ).fetchall()[0]
    report.new, report.changed, report.unchanged = (
        report.new + new,
        report.changed + changed,
        report.unchanged + unchanged,
    )
    report.chunks, report.documents = connection.execute(
        "SELECT count(*), count(DISTINCT doc_id) FROM corpus_chunks"
    ).fetchall()[0]

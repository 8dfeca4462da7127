"""The chunk store that gold chunks are picked from: filled from files, folders of text, or the chunks seen in logs."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pyarrow as pa

from evalsets.chunks import Chunk, chunk_text_hash
from ingest.corpus.reading import CorpusReport, FoundChunk, chunks_of, corpus_files
from ingest.log_store import LogStore

_BATCH = 20_000


def add(paths: Iterable[str | Path], store: LogStore) -> CorpusReport:
    """Add the chunks of files to the chunk store: JSON, JSONL, CSV, Parquet, or text with one chunk a heading.

    A chunk whose text is the same is left; one whose text changed is replaced, with the time noted. Raises
    BadInputError for a path that leads nowhere or a file without chunks in any form known.
    """
    report = CorpusReport()
    files = corpus_files(paths)
    report.files = len(files)
    _store(store, chunks_of(files, report), report)
    return report


def add_from_logs(store: LogStore) -> CorpusReport:
    """Add every chunk with a text that was ever retrieved and that the corpus lacks.

    Of several texts of one id the one last asked for is taken. What the corpus has from files stays as it is: a log
    holds old states of chunks, redacted.
    """
    report = CorpusReport()
    with store.unit() as connection:
        rows = connection.execute(_SEEN_IN_LOGS).fetchall()
    _store(store, (FoundChunk(*row) for row in rows), report)
    return report


_SEEN_IN_LOGS = """
SELECT r.chunk_id, coalesce(arg_max(r.doc_id, i.asked_at), r.chunk_id), 0, arg_max(t.text, i.asked_at)
FROM retrieved AS r
JOIN chunk_texts AS t USING (text_hash)
ANTI JOIN corpus_chunks AS known ON known.chunk_id = r.chunk_id
JOIN (
    SELECT number, coalesce(asked_at, 'epoch'::TIMESTAMPTZ) AS asked_at FROM interactions
) AS i USING (number)
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


def _store(store: LogStore, chunks: Iterable[FoundChunk], report: CorpusReport) -> None:
    batch: list[FoundChunk] = []
    for chunk in chunks:
        batch.append(chunk)
        if len(batch) >= _BATCH:
            _store_batch(store, batch, report)
            batch = []
    _store_batch(store, batch, report)


def _store_batch(store: LogStore, batch: list[FoundChunk], report: CorpusReport) -> None:
    hashes = [chunk_text_hash(chunk.text) for chunk in batch]
    columns = list(zip(*batch, strict=True)) if batch else [()] * len(FoundChunk._fields)
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

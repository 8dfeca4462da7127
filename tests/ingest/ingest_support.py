"""What ingest tests share: the mapping of the plain samples, a store, and its tables without run-dependent columns."""

from pathlib import Path
from typing import Any

import orjson

from ingest.adapters.mapping_file import MappingFile
from ingest.ingest_report import IngestReport
from ingest.loading import ingest
from ingest.log_store import LogStore

APP_MAPPING = """
source: app
interactions:
  where: "event != 'feedback'"
  id: request_id
  session_id: conv
  user_id: uid
  asked_at: ts
  question: query
  answer: reply
  retrieved: {list: sources, chunk_id: chunk, doc_id: doc, text: text, score: similarity}
  model: llm
  prompt_version: prompt_tag
  latency_ms: took_ms
  input_tokens: tok_in
  output_tokens: tok_out
  cost: usd
  error: err
feedback:
  where: "event == 'feedback'"
  target: request_id
  value: {path: thumb, map: {up: 1, down: -1}}
  comment: note
  at: ts
"""
TABLES = {
    "interactions": "SELECT * EXCLUDE (ingest_id, number) FROM interactions ORDER BY interaction_id",
    "retrieved": "SELECT interaction_id, r.* EXCLUDE (number) FROM interactions JOIN retrieved AS r USING (number)"
    " ORDER BY interaction_id, rank, chunk_id",
    "chunk_texts": "SELECT * FROM chunk_texts ORDER BY text_hash",
    "feedback_events": "SELECT * EXCLUDE (ordinal, ingest_id) FROM feedback_events ORDER BY event_key",
    "rejects": "SELECT file, line, reason, raw FROM rejects ORDER BY file, line",
}


def tables(store: LogStore, *names: str) -> dict[str, list[Any]]:
    """Return the rows of the store's tables, without what differs from run to run."""
    with store.unit() as connection:
        return {name: connection.execute(TABLES[name]).fetchall() for name in names or TABLES}


def rows(store: LogStore, query: str, values: list[Any] | None = None) -> list[Any]:
    """Return the rows of one query."""
    with store.unit() as connection:
        return connection.execute(query, values or []).fetchall()


def read(log: str | bytes, folder: Path, store: LogStore, mapping: MappingFile) -> IngestReport:
    """Ingest a log in this process and hold that every record read is accounted for."""
    place = folder / "log"
    place.write_bytes(log if isinstance(log, bytes) else log.encode())
    report = ingest([place], store=store, mapping=mapping, workers=1)
    assert report.read == report.made + report.skipped_total + report.quarantined
    return report


def write_lines(path: Path, records: list[Any]) -> Path:
    """Write records as JSON, one a line."""
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return path

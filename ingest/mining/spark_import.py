"""Bring what Spark mined back: the best candidates with their sessions, as if they had been mined here."""

from importlib.resources import files
from pathlib import Path

import duckdb

from evalsets.errors import BadInputError
from ingest.mining.candidate_reading import candidates_of, fetch_candidates
from ingest.mining.candidates import Candidate
from ingest.mining.shortlist import weights_select
from ingest.mining.shown_turns import keep_shown
from ingest.mining.spark_engine import BEST, HITS, SESSIONS
from ingest.settings import QueueSettings, SignalSettings
from ingest.signals.columns import SignalColumns
from ingest.signals.duckdb_engine import DuckDBSignals
from ingest.signals.pipeline import idle_gap_us

_PARTS = (BEST, HITS, SESSIONS)
_SHOWN_TABLES = "0103_mining_shown.sql"
_TABLES = f"""
CREATE TEMP TABLE interactions AS SELECT * EXCLUDE (session_id) RENAME (session_key AS session_id),
    row_number() OVER () AS number
FROM read_parquet(getvariable('folder') || '/{SESSIONS}/*.parquet');
CREATE TEMP TABLE best AS SELECT b.* EXCLUDE (line), i.number AS line
FROM read_parquet(getvariable('folder') || '/{BEST}/*.parquet') AS b JOIN interactions AS i USING (interaction_id);
CREATE TEMP TABLE best_hits AS SELECT h.* EXCLUDE (line), i.number AS line
FROM read_parquet(getvariable('folder') || '/{HITS}/*.parquet') AS h
JOIN interactions AS i ON i.interaction_id = h.line;
CREATE TEMP TABLE retrieved_passages AS
SELECT number, chunk.rank AS rank, row_number() OVER () AS passage, chunk.score AS score, chunk
FROM (SELECT number, unnest(retrieved) AS chunk FROM interactions);
CREATE TEMP VIEW passages AS
SELECT passage, chunk.chunk_id AS chunk_id, chunk.doc_id AS doc_id, passage AS text_hash FROM retrieved_passages;
CREATE TEMP VIEW chunk_texts AS SELECT passage AS text_hash, chunk.text AS text FROM retrieved_passages;
CREATE TEMP TABLE corpus_chunks (chunk_id VARCHAR, text VARCHAR);
CREATE TEMP TABLE giants (source VARCHAR, session_id VARCHAR, turns BIGINT, is_shared BOOLEAN);
"""  # noqa: S608 - our own names


def read_mined(folder: Path, signals: SignalSettings, queue: QueueSettings) -> list[Candidate]:
    """Return the candidates that `errata mine --engine spark` wrote to `folder`, highest priority first.

    Raises BadInputError when `folder` is not such a result.
    """
    missing = [part for part in _PARTS if not any((folder / part).glob("*.parquet"))]
    if missing:
        raise BadInputError(
            f"{folder} holds no {' and no '.join(missing)}. Give what `errata mine --engine spark --output` wrote."
        )
    with duckdb.connect(config={"memory_limit": "1GB"}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("SET VARIABLE folder = ?", [str(folder)])
        connection.execute(_TABLES)
        connection.execute((files("ingest") / "schema" / _SHOWN_TABLES).read_text(encoding="utf-8"))
        engine = DuckDBSignals(connection, SignalColumns(signals))
        engine.keep("weights", weights_select(queue), {})
        keep_shown(connection, engine, {"idle_gap_us": idle_gap_us(signals)}, queue.context_turns)
        return list(candidates_of(fetch_candidates(connection)))

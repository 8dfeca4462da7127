"""Bring what Spark mined back: the best candidates with their sessions, as if they had been mined here."""

from pathlib import Path

import duckdb

from evalsets.errors import BadInputError
from ingest.candidate_reading import read_candidates
from ingest.candidates import Candidate
from ingest.settings import QueueSettings, SignalSettings
from ingest.shortlist import RANKS, set_weights, shortlist
from ingest.signals.duckdb_engine import DuckDBSignals
from ingest.signals.pipeline import HIT_COLUMNS, idle_gap_us

_PARTS = ("hits", "controls", "sessions")
_TABLES = f"""
CREATE TEMP VIEW all_hits AS SELECT {HIT_COLUMNS} FROM read_parquet(getvariable('folder') || '/hits/*.parquet');
CREATE TEMP VIEW mined_controls AS
SELECT interaction_id, source, session_key, probability
FROM read_parquet(getvariable('folder') || '/controls/*.parquet');
CREATE TEMP TABLE interactions AS SELECT * EXCLUDE (session_id) RENAME (session_key AS session_id)
FROM read_parquet(getvariable('folder') || '/sessions/*.parquet');
CREATE TEMP TABLE retrieved AS
SELECT interaction_id, chunk.rank AS rank, chunk.chunk_id AS chunk_id, chunk.doc_id AS doc_id, chunk.score AS score,
    chunk.text AS text, md5(chunk.text) AS text_hash
FROM (SELECT interaction_id, unnest(retrieved) AS chunk FROM interactions);
CREATE TEMP VIEW chunk_texts AS SELECT DISTINCT text_hash, text FROM retrieved WHERE text IS NOT NULL;
CREATE TEMP TABLE corpus_chunks (chunk_id VARCHAR, text VARCHAR);
CREATE TEMP TABLE giants (source VARCHAR, session_id VARCHAR, turns BIGINT, is_shared BOOLEAN);
"""  # noqa: S608 - our own column names


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
        set_weights(connection, queue)
        connection.execute(f"CREATE TEMP TABLE ranks AS {RANKS.format(hits='all_hits')}")
        shortlist(connection, queue)
        connection.execute("CREATE TEMP VIEW best_hits AS SELECT * FROM all_hits SEMI JOIN best USING (interaction_id)")
        engine = DuckDBSignals(connection, signals)
        return list(read_candidates(connection, engine, {"idle_gap_us": idle_gap_us(signals)}, queue).candidates)

"""The sessions around the interactions of the queue, kept between runs, so that only new or changed ones are read."""

from collections.abc import Mapping
from typing import NamedTuple

import duckdb
from pydantic import TypeAdapter

from ingest.candidates import CandidateTurn
from ingest.collecting import rare_collections
from ingest.signals.engine import SignalEngine, Value
from ingest.signals.registry import stage_sql

_TURNS = TypeAdapter(tuple[CandidateTurn, ...])
_WHOLE_LOG = "interactions"

# A chunk without a text of its own is shown as it stands in the corpus.
_MANNER = (
    "SELECT concat($context, ':', count(*), ':', coalesce(bit_xor(hash(chunk_id, text_hash)), 0)) FROM corpus_chunks"
)
_FORGET = "DELETE FROM mined_shown WHERE line NOT IN (SELECT line FROM best) OR line IN (SELECT line FROM {near})"
_UNREAD = """
CREATE OR REPLACE TEMP TABLE unread AS
SELECT * FROM best WHERE line NOT IN (SELECT line FROM mined_shown) {where}
"""
# The turns of a session without an id of its own are told by the stage `loose`, run again for these users.
_LOOSE_LOGS = """
CREATE OR REPLACE TEMP VIEW logs AS
SELECT i.* FROM {turns} AS i
WHERE EXISTS (
    SELECT 1 FROM unread AS b JOIN {turns} AS f ON f.number = b.line
    WHERE starts_with(b.session_key, 'user:') AND f.source = i.source AND f.user_id = i.user_id
)
"""
_SESSION_TURNS = """
CREATE OR REPLACE TEMP TABLE session_turns AS
WITH sessions AS (SELECT DISTINCT source, session_key FROM unread),
members AS (
    SELECT i.number AS line, i.interaction_id, i.source, i.asked_at, i.user_id, i.session_id AS session_key
    FROM {turns} AS i
    WHERE i.rowid IN (
        SELECT f.rowid FROM {turns} AS f SEMI JOIN sessions AS s ON s.source = f.source AND s.session_key = f.session_id
    )
    UNION ALL
    SELECT i.number, i.interaction_id, i.source, i.asked_at, i.user_id, b.session_key
    FROM unread AS b JOIN {turns} AS i ON i.number = b.line
    WHERE b.session_key = concat('single:', b.interaction_id)
    UNION ALL
    SELECT i.number, i.interaction_id, i.source, i.asked_at, i.user_id, s.session_key
    FROM sessions AS s
    JOIN loose AS o ON o.session_key = s.session_key
    JOIN {turns} AS i ON i.interaction_id = o.interaction_id AND i.source = s.source
)
SELECT line, source, session_key, user_id, row_number() OVER (
    PARTITION BY source, session_key ORDER BY coalesce(epoch_us(asked_at), 0), length(interaction_id), interaction_id
) AS place
FROM members
"""
_AROUND = """
CREATE OR REPLACE TEMP TABLE around AS
SELECT b.line AS candidate, coalesce(f.user_id, '') AS user_id, p.line, p.place
FROM unread AS b
JOIN session_turns AS f ON f.line = b.line AND f.source = b.source AND f.session_key = b.session_key
JOIN session_turns AS p ON p.source = f.source AND p.session_key = f.session_key
WHERE p.place BETWEEN f.place - $context AND f.place + $context
"""
# Put together as JSON by the engine, which is what is kept: as objects on the way it would take three times as long.
_KEEP = """
INSERT INTO mined_shown
WITH lines AS MATERIALIZED (SELECT DISTINCT line FROM around),
found AS MATERIALIZED (
    SELECT number, rank, chunk_id, doc_id, text_hash, score FROM retrieved WHERE number IN (SELECT line FROM lines)
),
chunks AS (
    SELECT r.number, list({{
        'chunk_id': r.chunk_id,
        'doc_id': coalesce(r.doc_id, ''),
        'text': coalesce(t.text, c.text, ''),
        'score': CASE WHEN isfinite(r.score) THEN r.score END,
        'rank': r.rank
    }} ORDER BY r.rank) AS retrieved
    FROM found AS r
    LEFT JOIN chunk_texts AS t ON t.text_hash = r.text_hash
    LEFT JOIN corpus_chunks AS c ON c.chunk_id = r.chunk_id
    GROUP BY r.number
),
turns AS (
    SELECT i.number, CAST(to_json({{
        'interaction_id': i.interaction_id,
        'asked_at': concat(CAST(make_timestamp(epoch_us(i.asked_at)) AS VARCHAR), 'Z'),
        'question': i.question,
        'answer': coalesce(i.answer, ''),
        'retrieved': coalesce(c.retrieved, []),
        'feedback': i.feedback,
        'feedback_comment': coalesce(i.feedback_comment, ''),
        'model': coalesce(i.model, ''),
        'prompt_version': coalesce(i.prompt_version, ''),
        'latency_ms': CASE WHEN isfinite(i.latency_ms) THEN i.latency_ms END,
        'cost': CASE WHEN isfinite(i.cost) THEN i.cost END,
        'error': coalesce(i.error, ''),
        'stream_cut': i.stream_cut
    }}) AS VARCHAR) AS turn
    FROM (SELECT * FROM {turns} WHERE number IN (SELECT line FROM lines)) AS i LEFT JOIN chunks AS c USING (number)
)
SELECT a.candidate, any_value(a.user_id), concat('[', string_agg(t.turn, ',' ORDER BY a.place), ']')
FROM around AS a JOIN turns AS t ON t.number = a.line
GROUP BY a.candidate
"""
_SHOWN = "SELECT line, user_id, turns FROM mined_shown WHERE line IN (SELECT line FROM best)"


class Shown(NamedTuple):
    """What is shown of the session around an interaction, and who asked."""

    user_id: str
    turns: tuple[CandidateTurn, ...]


def manner_of_showing(connection: duckdb.DuckDBPyConnection, context: int) -> str:
    """Return what the kept sessions depend on besides the log: how much is shown around a turn, and the corpus."""
    return str(connection.execute(_MANNER, {"context": str(context)}).fetchall()[0][0])


def show(
    connection: duckdb.DuckDBPyConnection,
    engine: SignalEngine,
    values: Mapping[str, Value],
    context: int,
    *,
    near: str = "",
) -> dict[object, Shown]:
    """Return by line what is shown of each interaction in `best`: up to `context` turns of its session on both sides.

    Sessions are kept in `mined_shown` and read where they are not yet. `near` names a table of what changed, each
    session whole or not at all: an incremental run looks there first.
    """
    if near:
        connection.execute(_FORGET.format(near=near))
    for table in (near, _WHOLE_LOG) if near else (_WHOLE_LOG,):
        where = f"AND line IN (SELECT line FROM {table})" if table == near else ""  # noqa: S608 - our own table names
        connection.execute(_UNREAD.format(where=where))
        if connection.execute("SELECT count(*) FROM unread").fetchall()[0][0]:
            _read(connection, engine, values, context, table)
    rows = connection.execute(_SHOWN).fetchall()
    with rare_collections():
        return {line: Shown(user_id, _TURNS.validate_json(turns)) for line, user_id, turns in rows}


def _read(
    connection: duckdb.DuckDBPyConnection,
    engine: SignalEngine,
    values: Mapping[str, Value],
    context: int,
    table: str,
) -> None:
    """Keep what stands in `table` around the interactions in `unread`."""
    connection.execute(_LOOSE_LOGS.format(turns=table))
    engine.keep("loose", stage_sql("loose"), values)
    connection.execute(_SESSION_TURNS.format(turns=table))
    connection.execute(_AROUND, {"context": context})
    connection.execute(_KEEP.format(turns=table))

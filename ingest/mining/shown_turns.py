"""The sessions around the interactions of the queue, kept between runs, so that only new or changed ones are read."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import duckdb

from ingest.mining.candidates import CandidateChunk, CandidateTurn
from ingest.signals.engine import SignalEngine, Value
from ingest.signals.registry import stage_sql

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_WHOLE_LOG = "interactions"

_FORGET = """
DELETE FROM mined_shown WHERE line NOT IN (SELECT line FROM best) OR line IN (SELECT line FROM {near});
DELETE FROM mined_turns WHERE line NOT IN (SELECT turn FROM mined_shown);
DELETE FROM mined_passages WHERE line NOT IN (SELECT line FROM mined_turns)
"""
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
SELECT b.line AS candidate, p.line, p.place
FROM unread AS b
JOIN session_turns AS f ON f.line = b.line AND f.source = b.source AND f.session_key = b.session_key
JOIN session_turns AS p ON p.source = f.source AND p.session_key = f.session_key
WHERE p.place BETWEEN f.place - $context AND f.place + $context
"""
_KEEP = """
INSERT INTO mined_shown SELECT candidate, place, line FROM around;
CREATE OR REPLACE TEMP TABLE new_turns AS
SELECT DISTINCT line FROM around WHERE line NOT IN (SELECT line FROM mined_turns);
INSERT INTO mined_turns BY NAME
SELECT number AS line, user_id, epoch_us(asked_at) AS asked_us, interaction_id, question, stream_cut, feedback,
    coalesce(answer, '') AS answer, coalesce(feedback_comment, '') AS feedback_comment, coalesce(error, '') AS error,
    coalesce(model, '') AS model, coalesce(prompt_version, '') AS prompt_version,
    CASE WHEN isfinite(latency_ms) THEN latency_ms END AS latency_ms, CASE WHEN isfinite(cost) THEN cost END AS cost
FROM {turns} WHERE number IN (SELECT line FROM new_turns);
INSERT INTO mined_passages
SELECT number, rank, passage, CASE WHEN isfinite(score) THEN score END
FROM retrieved_passages WHERE number IN (SELECT line FROM new_turns)
"""
_TOLD = "SELECT turn FROM mined_shown WHERE line IN (SELECT line FROM handed)"
_TURNS = f"""
SELECT line, coalesce(user_id, ''), asked_us, interaction_id, question, answer, feedback, feedback_comment, model,
    prompt_version, latency_ms, cost, error, stream_cut
FROM mined_turns WHERE line IN ({_TOLD})
"""  # noqa: S608 - our own SQL
# A chunk without a text of its own is shown as it stands in the corpus.
_PASSAGES = f"""
SELECT p.passage, p.chunk_id, coalesce(p.doc_id, ''), coalesce(t.text, c.text, '')
FROM passages AS p
LEFT JOIN chunk_texts AS t ON t.text_hash = p.text_hash
LEFT JOIN corpus_chunks AS c ON c.chunk_id = p.chunk_id
WHERE p.passage IN (SELECT passage FROM mined_passages WHERE line IN ({_TOLD}))
"""  # noqa: S608 - our own SQL
_RETRIEVED = f"SELECT line, rank, passage, score FROM mined_passages WHERE line IN ({_TOLD}) ORDER BY line, rank"  # noqa: S608 - our own SQL
_PLACES = "SELECT line, turn FROM mined_shown WHERE line IN (SELECT line FROM handed) ORDER BY line, place"


Rows = list[tuple[Any, ...]]


class ShownRows(NamedTuple):
    """What is kept of the sessions around the interactions of the queue, as rows of the tables that hold it."""

    turns: Rows
    passages: Rows
    retrieved: Rows
    places: Rows


class Shown(NamedTuple):
    """What is shown of the session around an interaction, and who asked."""

    user_id: str
    turns: tuple[CandidateTurn, ...]


def keep_shown(
    connection: duckdb.DuckDBPyConnection,
    engine: SignalEngine,
    values: Mapping[str, Value],
    context: int,
    *,
    near: str = "",
) -> None:
    """Keep what is shown of each interaction in `best`: up to `context` turns of its session on both sides.

    Turns are kept in `mined_shown` and read where they are not yet; `handed` gets the lines of `best` that they were
    read for. `near` names a table of what changed, each session whole or not at all: an incremental run looks there
    first.
    """
    if near:
        connection.execute(_FORGET.format(near=near))
    connection.execute("CREATE OR REPLACE TEMP TABLE handed (line BIGINT)")
    for table in (near, _WHOLE_LOG) if near else (_WHOLE_LOG,):
        where = f"AND line IN (SELECT line FROM {table})" if table == near else ""  # noqa: S608 - our own table names
        connection.execute(_UNREAD.format(where=where))
        if connection.execute("SELECT count(*) FROM unread").fetchall()[0][0]:
            _read(connection, engine, values, context, table)


def fetch_shown(connection: duckdb.DuckDBPyConnection) -> ShownRows:
    """Return what is shown of each interaction in `handed`."""
    return ShownRows(*(connection.execute(query).fetchall() for query in (_TURNS, _PASSAGES, _RETRIEVED, _PLACES)))


def put_together(rows: ShownRows) -> dict[int, Shown]:
    """Return by line what is shown of each interaction; a turn that is shown with several is one object."""
    retrieved = _retrieved(rows)
    users: dict[int, str] = {}
    turns: dict[int, CandidateTurn] = {}
    for line, user_id, *values in rows.turns:
        users[line] = user_id
        turns[line] = _turn(tuple(retrieved[line]), *values)
    around: dict[int, list[CandidateTurn]] = defaultdict(list)
    for line, turn in rows.places:
        around[line].append(turns[turn])
    return {line: Shown(users[line], tuple(some)) for line, some in around.items()}


def moment(asked_us: int | None) -> datetime | None:
    """Return the time of so many microseconds since 1970."""
    return None if asked_us is None else _EPOCH + timedelta(microseconds=asked_us)


def _turn(retrieved: tuple[CandidateChunk, ...], asked_us: int | None, *values: Any) -> CandidateTurn:
    interaction_id, question, answer, feedback, comment, model, prompt_version, latency_ms, cost, error, is_cut = values
    return CandidateTurn(
        interaction_id=interaction_id,
        asked_at=moment(asked_us),
        question=question,
        answer=answer,
        retrieved=retrieved,
        feedback=feedback,
        feedback_comment=comment,
        model=model,
        prompt_version=prompt_version,
        latency_ms=latency_ms,
        cost=cost,
        error=error,
        stream_cut=is_cut,
    )


def _retrieved(rows: ShownRows) -> dict[int, list[CandidateChunk]]:
    """Return by line what each kept turn retrieved, in the order of the ranks."""
    passages = {passage: chunk for passage, *chunk in rows.passages}
    retrieved: dict[int, list[CandidateChunk]] = defaultdict(list)
    for line, rank, passage, score in rows.retrieved:
        chunk_id, doc_id, text = passages[passage]
        retrieved[line].append(CandidateChunk(chunk_id, doc_id, text, score, rank))
    return retrieved


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
    connection.execute("INSERT INTO handed SELECT line FROM unread")
    connection.execute(_KEEP.format(turns=table))

"""Read the short list as candidates: each with its reasons and its session around it."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

import duckdb

from ingest.candidates import Candidate, CandidateChunk, CandidateTurn, SignalHit
from ingest.settings import QueueSettings
from ingest.shown_turns import Shown
from ingest.signals.engine import SignalEngine, Value
from ingest.signals.registry import stage_sql

# The turns of a session without an id of its own are told by the stage `loose`, run again for these users.
_LOOSE_LOGS = """
CREATE OR REPLACE TEMP VIEW logs AS
SELECT i.* FROM {turns} AS i
WHERE EXISTS (
    SELECT 1 FROM unread AS b JOIN {turns} AS f ON f.interaction_id = b.interaction_id
    WHERE starts_with(b.session_key, 'user:') AND f.source = i.source AND f.user_id = i.user_id
)
"""
_SESSION_TURNS = """
CREATE OR REPLACE TEMP TABLE session_turns AS
WITH sessions AS (SELECT DISTINCT source, session_key FROM unread),
members AS (
    SELECT i.rowid AS line, i.interaction_id, i.source, i.asked_at, i.user_id, s.session_key
    FROM sessions AS s JOIN {turns} AS i ON i.source = s.source AND i.session_id = s.session_key
    UNION ALL
    SELECT i.rowid, i.interaction_id, i.source, i.asked_at, i.user_id, b.session_key
    FROM unread AS b JOIN {turns} AS i ON i.interaction_id = b.interaction_id
    WHERE b.session_key = concat('single:', b.interaction_id)
    UNION ALL
    SELECT i.rowid, i.interaction_id, i.source, i.asked_at, i.user_id, s.session_key
    FROM sessions AS s
    JOIN loose AS o ON o.session_key = s.session_key
    JOIN {turns} AS i ON i.interaction_id = o.interaction_id AND i.source = s.source
)
SELECT line, interaction_id, source, session_key, user_id, row_number() OVER (
    PARTITION BY source, session_key ORDER BY coalesce(epoch_us(asked_at), 0), length(interaction_id), interaction_id
) AS place
FROM members
"""
_AROUND = """
CREATE OR REPLACE TEMP TABLE around AS
SELECT b.interaction_id AS candidate, p.line, p.interaction_id, p.place, coalesce(p.user_id, '') AS user_id
FROM unread AS b
JOIN session_turns AS f
    ON f.interaction_id = b.interaction_id AND f.source = b.source AND f.session_key = b.session_key
JOIN session_turns AS p ON p.source = f.source AND p.session_key = f.session_key
WHERE p.place BETWEEN f.place - $context AND f.place + $context
"""
# By line: a few lines are fetched from a large table in no time, while a few ids are looked for in all of it.
_TURNS = """
SELECT interaction_id, asked_at, question, answer, feedback, feedback_comment, model, prompt_version, latency_ms, cost,
    error, stream_cut
FROM {turns} WHERE rowid IN (SELECT line FROM around)
"""
_CHUNKS = """
SELECT r.interaction_id, r.chunk_id, r.doc_id, coalesce(t.text, c.text), r.score, r.rank
FROM {retrieved} AS r SEMI JOIN around USING (interaction_id)
LEFT JOIN chunk_texts AS t ON t.text_hash = r.text_hash
LEFT JOIN corpus_chunks AS c ON c.chunk_id = r.chunk_id
ORDER BY r.interaction_id, r.rank
"""
_HITS = """
SELECT h.interaction_id, h.signal, h.kind, h.score, h.reason, h.is_weak, h.evidence_id
FROM all_hits AS h SEMI JOIN best USING (interaction_id)
LEFT JOIN weights AS w ON w.signal = h.signal
ORDER BY h.interaction_id, h.score * w.weight DESC, h.signal
"""
_CANDIDATES = """
SELECT interaction_id, source, session_key, priority, sampling_signal, probability
FROM best ORDER BY priority DESC, interaction_id
"""
_UNREAD = """
CREATE OR REPLACE TEMP TABLE unread AS
SELECT b.* FROM best AS b ANTI JOIN known USING (interaction_id) {where}
"""
_USERS = "SELECT candidate, user_id FROM around WHERE interaction_id = candidate"


class Place(NamedTuple):
    """Where sessions are read: each stands there whole or not at all."""

    turns: str
    """A table of interactions."""
    retrieved: str
    """A table of what was retrieved for them."""


WHOLE_LOG = Place("interactions", "retrieved")


class Shortcut(NamedTuple):
    """What spares an incremental run the reading of the whole log."""

    kept: Mapping[str, Shown]
    """Sessions read by an earlier run, by the interaction they are shown with."""
    near: Place
    """Where most of the others stand."""


class Reading(NamedTuple):
    """The candidates, and the sessions that were read for them."""

    candidates: tuple[Candidate, ...]
    read: dict[str, Shown]


def read_candidates(
    connection: duckdb.DuckDBPyConnection,
    engine: SignalEngine,
    values: Mapping[str, Value],
    queue: QueueSettings,
    *,
    shortcut: Shortcut | None = None,
) -> Reading:
    """Return what stands in `best`, highest priority first, each with `context_turns` of its session on both sides.

    Sessions that the shortcut keeps are not read again; the others are looked for near first.
    """
    shown, read = dict(shortcut.kept) if shortcut else {}, dict[str, Shown]()
    for place in (shortcut.near, WHOLE_LOG) if shortcut else (WHOLE_LOG,):
        if _choose_unread(
            connection, shown, "" if place is WHOLE_LOG else f"SEMI JOIN {place.turns} USING (interaction_id)"
        ):
            found = _read_sessions(connection, engine, values, queue, place)
            shown, read = shown | found, read | found
    hits = _hits(connection)
    rows = connection.execute(_CANDIDATES).fetchall()
    return Reading(tuple(_candidate(row, hits[row[0]], shown[row[0]]) for row in rows), read)


def _choose_unread(connection: duckdb.DuckDBPyConnection, shown: Mapping[str, Shown], where: str) -> bool:
    """Leave in `unread` what of `best` is not yet shown and stands `where`; tell whether there is any."""
    connection.execute("CREATE OR REPLACE TEMP TABLE known (interaction_id VARCHAR)")
    if shown:
        connection.execute("INSERT INTO known SELECT unnest($ids)", {"ids": list(shown)})
    connection.execute(_UNREAD.format(where=where))
    return bool(connection.execute("SELECT count(*) FROM unread").fetchall()[0][0])


def _read_sessions(
    connection: duckdb.DuckDBPyConnection,
    engine: SignalEngine,
    values: Mapping[str, Value],
    queue: QueueSettings,
    place: Place,
) -> dict[str, Shown]:
    """Return the sessions around the interactions in `unread`."""
    connection.execute(_LOOSE_LOGS.format(**place._asdict()))
    engine.keep("loose", stage_sql("loose"), values)
    connection.execute(_SESSION_TURNS.format(**place._asdict()))
    connection.execute(_AROUND, {"context": queue.context_turns})
    turns = _turns(connection, place)
    order: dict[str, list[CandidateTurn]] = defaultdict(list)
    for candidate, turn in connection.execute(
        "SELECT candidate, interaction_id FROM around ORDER BY candidate, place"
    ).fetchall():
        order[candidate].append(turns[turn])
    users = connection.execute(_USERS).fetchall()
    return {interaction_id: Shown(user_id, tuple(order[interaction_id])) for interaction_id, user_id in users}


def candidate_id(interaction_id: str) -> str:
    """Return the id of a candidate, derived from its interaction's alone."""
    return "c" + hashlib.sha256(interaction_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _candidate(row: tuple[Any, ...], hits: list[SignalHit], shown: Shown) -> Candidate:
    interaction_id, source, session_key, priority, sampling_signal, probability = row
    return Candidate(
        candidate_id=candidate_id(interaction_id),
        interaction_id=interaction_id,
        source=source,
        session_id=session_key,
        user_id=shown.user_id,
        signals=tuple(hits),
        priority=priority,
        sampling_signal=sampling_signal,
        inclusion_probability=probability,
        turns=shown.turns,
    )


def _turns(connection: duckdb.DuckDBPyConnection, place: Place) -> dict[str, CandidateTurn]:
    chunks = _chunks(connection, place)
    result = connection.execute(_TURNS.format(**place._asdict()))
    names = [column[0] for column in result.description or ()]
    turns = {}
    for row in result.fetchall():
        fields = {name: value for name, value in zip(names, row, strict=True) if value is not None}
        turns[row[0]] = CandidateTurn(**fields, retrieved=tuple(chunks[row[0]]))
    return turns


def _chunks(connection: duckdb.DuckDBPyConnection, place: Place) -> dict[str, list[CandidateChunk]]:
    chunks: dict[str, list[CandidateChunk]] = defaultdict(list)
    for interaction_id, chunk_id, doc_id, text, score, rank in connection.execute(
        _CHUNKS.format(**place._asdict())
    ).fetchall():
        chunks[interaction_id].append(
            CandidateChunk(chunk_id=chunk_id, doc_id=doc_id or "", text=text or "", score=score, rank=rank)
        )
    return chunks


def _hits(connection: duckdb.DuckDBPyConnection) -> dict[str, list[SignalHit]]:
    hits: dict[str, list[SignalHit]] = defaultdict(list)
    for interaction_id, signal, kind, score, reason, is_weak, evidence in connection.execute(_HITS).fetchall():
        hits[interaction_id].append(
            SignalHit(
                signal=signal, kind=kind, score=score, reason=reason, is_weak=is_weak, evidence_interaction_id=evidence
            )
        )
    return hits

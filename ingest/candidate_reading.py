"""Read the short list as candidates: each with its reasons and its session around it."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
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
    SELECT i.rowid AS line, i.interaction_id, i.source, i.asked_at, i.user_id, i.session_id AS session_key
    FROM {turns} AS i
    WHERE i.rowid IN (
        SELECT f.rowid FROM {turns} AS f SEMI JOIN sessions AS s ON s.source = f.source AND s.session_key = f.session_id
    )
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
WITH places AS MATERIALIZED (
    SELECT rowid AS place, interaction_id FROM retrieved SEMI JOIN shown_turns USING (interaction_id)
)
SELECT p.interaction_id, r.chunk_id, r.doc_id, coalesce(t.text, c.text), r.score, r.rank
FROM places AS p
JOIN retrieved AS r ON r.rowid = p.place
LEFT JOIN chunk_texts AS t ON t.text_hash = r.text_hash
LEFT JOIN corpus_chunks AS c ON c.chunk_id = r.chunk_id
ORDER BY p.interaction_id, r.rank
"""
_HITS = """
SELECT h.interaction_id, h.signal, h.kind, h.score, h.reason, h.is_weak, h.evidence_id
FROM best_hits AS h
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
_ORDER = "SELECT candidate, interaction_id FROM around ORDER BY candidate, place"
_USERS = "SELECT candidate, user_id FROM around WHERE interaction_id = candidate"


_WHOLE_LOG = "interactions"


class Shortcut(NamedTuple):
    """What spares an incremental run the reading of the whole log."""

    kept: Mapping[str, Shown]
    """Sessions read by an earlier run, by the interaction they are shown with."""
    near: str
    """A table of interactions where most of the others stand, each session whole or not at all."""


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

    `best_hits` holds what was found in these. Sessions that the shortcut keeps are not read again; the others are
    looked for near first.
    """
    kept = shortcut.kept if shortcut else {}
    reader = _SessionReader(connection, engine, values, queue.context_turns)
    read = reader.read(kept, (shortcut.near, _WHOLE_LOG) if shortcut else (_WHOLE_LOG,))
    shown = {**kept, **read}
    hits = _hits(connection)
    rows = connection.execute(_CANDIDATES).fetchall()
    return Reading(tuple(_candidate(row, hits[row[0]], shown[row[0]]) for row in rows), read)


class _Sessions(NamedTuple):
    """Sessions as they are read: the turns around each candidate, who asked, and what each turn says."""

    turns: dict[str, list[str]]
    users: dict[str, str]
    fields: dict[str, dict[str, Any]]


class _SessionReader(NamedTuple):
    connection: duckdb.DuckDBPyConnection
    engine: SignalEngine
    values: Mapping[str, Value]
    context_turns: int

    def read(self, kept: Mapping[str, Shown], tables: Sequence[str]) -> dict[str, Shown]:
        """Return what of `best` is not kept, looked for in one table after the other.

        What was retrieved is read at the end for all of them, as it is looked for in all that ever was.
        """
        self.connection.execute("CREATE OR REPLACE TEMP TABLE shown_turns (interaction_id VARCHAR)")
        sessions = _Sessions({}, {}, {})
        for table in tables:
            where = "" if table == _WHOLE_LOG else f"SEMI JOIN {table} USING (interaction_id)"
            if self._choose_unread([*kept, *sessions.turns], where):
                self._add_sessions(table, sessions)
        if not sessions.turns:
            return {}
        chunks = _chunks(self.connection)
        turns = {key: CandidateTurn(**fields, retrieved=tuple(chunks[key])) for key, fields in sessions.fields.items()}
        return {
            candidate: Shown(sessions.users[candidate], tuple(turns[key] for key in keys))
            for candidate, keys in sessions.turns.items()
        }

    def _choose_unread(self, known: Sequence[str], where: str) -> bool:
        """Leave in `unread` what of `best` is not yet known and stands `where`; tell whether there is any."""
        self.connection.execute("CREATE OR REPLACE TEMP TABLE known (interaction_id VARCHAR)")
        if known:
            self.connection.execute("INSERT INTO known SELECT unnest($ids)", {"ids": known})
        self.connection.execute(_UNREAD.format(where=where))
        return bool(self.connection.execute("SELECT count(*) FROM unread").fetchall()[0][0])

    def _add_sessions(self, table: str, sessions: _Sessions) -> None:
        """Add what stands in `table` around the interactions in `unread`."""
        self.connection.execute(_LOOSE_LOGS.format(turns=table))
        self.engine.keep("loose", stage_sql("loose"), self.values)
        self.connection.execute(_SESSION_TURNS.format(turns=table))
        self.connection.execute(_AROUND, {"context": self.context_turns})
        self.connection.execute("INSERT INTO shown_turns SELECT DISTINCT interaction_id FROM around")
        for candidate, key in self.connection.execute(_ORDER).fetchall():
            sessions.turns.setdefault(candidate, []).append(key)
        sessions.users.update(self.connection.execute(_USERS).fetchall())
        sessions.fields.update(_fields(self.connection, table))


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


def _fields(connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, dict[str, Any]]:
    """Return what each turn in `around` says, by its id."""
    result = connection.execute(_TURNS.format(turns=table))
    names = [column[0] for column in result.description or ()]
    return {
        row[0]: {name: value for name, value in zip(names, row, strict=True) if value is not None}
        for row in result.fetchall()
    }


def _chunks(connection: duckdb.DuckDBPyConnection) -> dict[str, list[CandidateChunk]]:
    chunks: dict[str, list[CandidateChunk]] = defaultdict(list)
    for interaction_id, chunk_id, doc_id, text, score, rank in connection.execute(_CHUNKS).fetchall():
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

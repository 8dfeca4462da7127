"""Read the short list as candidates: each with its reasons and its session around it."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping

import duckdb

from ingest.candidates import Candidate, CandidateChunk, CandidateTurn, SignalHit
from ingest.settings import QueueSettings
from ingest.signals.engine import SignalEngine, Value
from ingest.signals.registry import stage_sql

# The turns of a session without an id of its own are told by the stage `loose`, run again for these users.
_LOOSE_LOGS = """
CREATE OR REPLACE TEMP VIEW logs AS
SELECT i.* FROM interactions AS i
WHERE EXISTS (
    SELECT 1 FROM best AS b JOIN interactions AS f ON f.interaction_id = b.interaction_id
    WHERE starts_with(b.session_key, 'user:') AND f.source = i.source AND f.user_id = i.user_id
)
"""
_SESSION_TURNS = """
CREATE OR REPLACE TEMP TABLE session_turns AS
WITH sessions AS (SELECT DISTINCT source, session_key FROM best),
members AS (
    SELECT i.interaction_id, i.source, i.asked_at, s.session_key
    FROM sessions AS s JOIN interactions AS i ON i.source = s.source AND i.session_id = s.session_key
    UNION ALL
    SELECT i.interaction_id, i.source, i.asked_at, b.session_key
    FROM best AS b JOIN interactions AS i ON i.interaction_id = b.interaction_id
    WHERE b.session_key = concat('single:', b.interaction_id)
    UNION ALL
    SELECT i.interaction_id, i.source, i.asked_at, s.session_key
    FROM sessions AS s
    JOIN loose AS o ON o.session_key = s.session_key
    JOIN interactions AS i ON i.interaction_id = o.interaction_id AND i.source = s.source
)
SELECT interaction_id, source, session_key, row_number() OVER (
    PARTITION BY source, session_key ORDER BY coalesce(epoch_us(asked_at), 0), interaction_id
) AS place
FROM members
"""
_AROUND = """
CREATE OR REPLACE TEMP TABLE around AS
SELECT b.interaction_id AS candidate, p.interaction_id, p.place
FROM best AS b
JOIN session_turns AS f
    ON f.interaction_id = b.interaction_id AND f.source = b.source AND f.session_key = b.session_key
JOIN session_turns AS p ON p.source = f.source AND p.session_key = f.session_key
WHERE p.place BETWEEN f.place - $context AND f.place + $context
"""
_TURNS = """
SELECT interaction_id, asked_at, question, answer, feedback, feedback_comment, model, prompt_version, latency_ms, cost,
    error, stream_cut
FROM interactions SEMI JOIN around USING (interaction_id)
"""
_CHUNKS = """
SELECT r.interaction_id, r.chunk_id, r.doc_id, coalesce(t.text, c.text), r.score, r.rank
FROM retrieved AS r SEMI JOIN around USING (interaction_id)
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
SELECT b.interaction_id, b.source, b.session_key, b.priority, b.sampling_signal, b.probability, i.user_id
FROM best AS b JOIN interactions AS i USING (interaction_id)
ORDER BY b.priority DESC, b.interaction_id
"""


def read_candidates(
    connection: duckdb.DuckDBPyConnection, engine: SignalEngine, values: Mapping[str, Value], queue: QueueSettings
) -> Iterator[Candidate]:
    """Yield what stands in `best`, highest priority first, each with `context_turns` of its session on both sides."""
    connection.execute(_LOOSE_LOGS)
    engine.keep("loose", stage_sql("loose"), values)
    connection.execute(_SESSION_TURNS)
    connection.execute(_AROUND, {"context": queue.context_turns})
    turns = _turns(connection, _chunks(connection))
    hits = _hits(connection)
    order: dict[str, list[CandidateTurn]] = defaultdict(list)
    for candidate, turn in connection.execute(
        "SELECT candidate, interaction_id FROM around ORDER BY candidate, place"
    ).fetchall():
        order[candidate].append(turns[turn])
    for row in connection.execute(_CANDIDATES).fetchall():
        yield _candidate(row, hits[row[0]], order[row[0]])


def candidate_id(interaction_id: str) -> str:
    """Return the id of a candidate, derived from its interaction's alone."""
    return "c" + hashlib.sha256(interaction_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _candidate(row: tuple[object, ...], hits: list[SignalHit], turns: list[CandidateTurn]) -> Candidate:
    interaction_id, source, session_key, priority, sampling_signal, probability, user_id = row
    return Candidate.model_validate(
        {
            "candidate_id": candidate_id(str(interaction_id)),
            "interaction_id": interaction_id,
            "source": source,
            "session_id": session_key,
            "user_id": user_id or "",
            "signals": tuple(hits),
            "priority": priority,
            "sampling_signal": sampling_signal,
            "inclusion_probability": probability,
            "turns": tuple(turns),
        }
    )


def _turns(
    connection: duckdb.DuckDBPyConnection, chunks: Mapping[str, list[CandidateChunk]]
) -> dict[str, CandidateTurn]:
    result = connection.execute(_TURNS)
    names = [column[0] for column in result.description or ()]
    turns = {}
    for row in result.fetchall():
        fields = {name: value for name, value in zip(names, row, strict=True) if value is not None}
        turns[row[0]] = CandidateTurn(**fields, retrieved=tuple(chunks[row[0]]))
    return turns


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

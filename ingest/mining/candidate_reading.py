"""Read the short list as candidates: each with its reasons and its session around it."""

import hashlib
from collections import defaultdict
from datetime import datetime
from typing import Any, NamedTuple

import duckdb

from ingest.mining.candidates import Candidate, SignalHit
from ingest.mining.grouping import Group
from ingest.mining.shown_turns import Rows, Shown, ShownRows, fetch_shown, moment, put_together

_HITS = """
SELECT h.line, h.signal, h.kind, h.score, h.reason, h.is_weak, h.evidence_id
FROM best_hits AS h
SEMI JOIN handed USING (line)
LEFT JOIN weights AS w ON w.signal = h.signal
ORDER BY h.line, h.score * w.weight DESC, h.signal, h.reason
"""
_CANDIDATES = """
SELECT line, interaction_id, source, session_key, priority, sampling_signal, probability
FROM best SEMI JOIN handed USING (line) ORDER BY priority DESC, interaction_id
"""
_QUEUED = """
SELECT b.interaction_id, t.question, t.asked_us, b.probability
FROM best AS b JOIN mined_turns AS t USING (line) ORDER BY b.priority DESC, b.interaction_id
"""


class CandidateRows(NamedTuple):
    """The queue as rows, and of what is handed over what was found in it and what is shown of it."""

    queued: Rows
    candidates: Rows
    hits: Rows
    shown: ShownRows


def fetch_candidates(connection: duckdb.DuckDBPyConnection) -> CandidateRows:
    """Return what stands in `best`, highest priority first; of the lines in `handed` also what `best_hits` holds."""
    queued, candidates, hits = (connection.execute(query).fetchall() for query in (_QUEUED, _CANDIDATES, _HITS))
    return CandidateRows(queued, candidates, hits, fetch_shown(connection))


def candidates_of(rows: CandidateRows) -> tuple[Candidate, ...]:
    """Return rows as candidates."""
    shown, hits = put_together(rows.shown), _hits(rows.hits)
    return tuple(_candidate(row, hits[line], shown[line]) for line, *row in rows.candidates)


class Queued(NamedTuple):
    """What is short of an interaction in the queue: every run tells it of all of them."""

    candidate_id: str
    question: str
    asked_at: datetime | None
    inclusion_probability: float
    group: Group | None = None
    """Told once the queue is prepared."""


def queued_of(rows: CandidateRows) -> tuple[Queued, ...]:
    """Return the whole queue, highest priority first."""
    return tuple(
        Queued(candidate_id(interaction_id), question, moment(asked_us), probability)
        for interaction_id, question, asked_us, probability in rows.queued
    )


def candidate_id(interaction_id: str) -> str:
    """Return the id of a candidate, derived from its interaction's alone."""
    return "c" + hashlib.sha256(interaction_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _candidate(row: list[Any], hits: list[SignalHit], shown: Shown) -> Candidate:
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


def _hits(rows: Rows) -> dict[int, list[SignalHit]]:
    hits: dict[int, list[SignalHit]] = defaultdict(list)
    for line, signal, kind, score, reason, is_weak, evidence in rows:
        hits[line].append(
            SignalHit(
                signal=signal, kind=kind, score=score, reason=reason, is_weak=is_weak, evidence_interaction_id=evidence
            )
        )
    return hits

"""Read the short list as candidates: each with its reasons and its session around it."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import duckdb

from ingest.candidates import Candidate, SignalHit
from ingest.shown_turns import Shown

_HITS = """
SELECT h.line, h.signal, h.kind, h.score, h.reason, h.is_weak, h.evidence_id
FROM best_hits AS h
LEFT JOIN weights AS w ON w.signal = h.signal
ORDER BY h.line, h.score * w.weight DESC, h.signal, h.reason
"""
_CANDIDATES = """
SELECT line, interaction_id, source, session_key, priority, sampling_signal, probability
FROM best ORDER BY priority DESC, interaction_id
"""


def read_candidates(connection: duckdb.DuckDBPyConnection, shown: Mapping[int, Shown]) -> tuple[Candidate, ...]:
    """Return what stands in `best`, highest priority first, as it is shown; `best_hits` holds what was found in it."""
    hits = _hits(connection)
    rows = connection.execute(_CANDIDATES).fetchall()
    return tuple(_candidate(row[1:], hits[row[0]], shown[row[0]]) for row in rows)


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


def _hits(connection: duckdb.DuckDBPyConnection) -> dict[int, list[SignalHit]]:
    hits: dict[int, list[SignalHit]] = defaultdict(list)
    for line, signal, kind, score, reason, is_weak, evidence in connection.execute(_HITS).fetchall():
        hits[line].append(
            SignalHit(
                signal=signal, kind=kind, score=score, reason=reason, is_weak=is_weak, evidence_interaction_id=evidence
            )
        )
    return hits

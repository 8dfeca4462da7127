"""Read the short list as candidates: each with its reasons and its session around it."""

import hashlib
from collections import defaultdict
from typing import Any, NamedTuple

import duckdb

from ingest.mining.candidates import Candidate, SignalHit
from ingest.mining.shown_turns import Rows, Shown, ShownRows, put_together

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


class CandidateRows(NamedTuple):
    """The short list as rows, with what was found in it and what is shown of it."""

    candidates: Rows
    hits: Rows
    shown: ShownRows


def fetch_candidates(connection: duckdb.DuckDBPyConnection, shown: ShownRows) -> CandidateRows:
    """Return what stands in `best`, highest priority first; `best_hits` holds what was found in it."""
    return CandidateRows(connection.execute(_CANDIDATES).fetchall(), connection.execute(_HITS).fetchall(), shown)


def candidates_of(rows: CandidateRows) -> tuple[Candidate, ...]:
    """Return rows as candidates."""
    shown, hits = put_together(rows.shown), _hits(rows.hits)
    return tuple(_candidate(row, hits[line], shown[line]) for line, *row in rows.candidates)


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

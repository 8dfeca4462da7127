"""Read the interactions behind a figure of the monitor: as many as it counts, fifty at a time, one with its session."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

import duckdb

from ingest.daily_reading import DailyFilter
from ingest.mining.candidates import CandidateChunk, CandidateTurn

ORDERS = {
    "newest": "asked_at DESC NULLS LAST",
    "slowest": "latency_ms DESC NULLS LAST",
    "costliest": "cost DESC NULLS LAST",
}
_VOTES = {"up": 1, "down": -1}
CHOSEN = """
    FROM interactions
    WHERE asked_at >= $first AND asked_at < $end
        AND ($source IS NULL OR source = $source)
        AND ($model IS NULL OR coalesce(model, '') = $model)
        AND ($prompt_version IS NULL OR coalesce(prompt_version, '') = $prompt_version)
        AND ($vote IS NULL OR sign(feedback) = $vote)
        AND ($text = '' OR contains(lower(question), lower($text)))
"""
_AROUND = """
    SELECT interaction_id, asked_at, question, answer, feedback, feedback_comment, model, prompt_version, latency_ms,
        cost, error, stream_cut
    FROM interactions
    WHERE interaction_id = $id OR (source = $source AND session_id = $session_id)
    ORDER BY coalesce(epoch_us(asked_at), 0), length(interaction_id), interaction_id
"""
_CHUNKS = """
    SELECT r.chunk_id, r.doc_id, coalesce(t.text, c.text), r.score, r.rank
    FROM retrieved AS r
    LEFT JOIN chunk_texts AS t ON t.text_hash = r.text_hash
    LEFT JOIN corpus_chunks AS c ON c.chunk_id = r.chunk_id
    WHERE r.number = (SELECT number FROM interactions WHERE interaction_id = $id) ORDER BY r.rank
"""


class Behind(NamedTuple):
    """Which interactions are meant; empty fields do not narrow."""

    filters: DailyFilter = DailyFilter()
    vote: str = ""
    """up or down."""
    text: str = ""
    """Stands in the question, whatever the case."""
    order: str = "newest"
    """One of ORDERS."""


class InteractionRow(NamedTuple):
    """One interaction in a list."""

    interaction_id: str
    asked_at: datetime | None
    question: str
    answer: str | None
    feedback: int | None
    model: str | None
    prompt_version: str | None
    latency_ms: float | None
    cost: float | None


class SessionAround(NamedTuple):
    """Where an interaction stands: its source and session, and the turns around it; its own holds its chunks."""

    source: str
    session_id: str
    turns: tuple[CandidateTurn, ...]


def chosen_values(behind: Behind) -> dict[str, Any]:
    """Return the bound values: days as moments in UTC, as the tables by day count them."""
    filters = behind.filters
    first, last = filters.first_day or date.min, filters.last_day or date.max - timedelta(days=1)
    return {
        "first": datetime.combine(first, time(), UTC),
        "end": datetime.combine(last + timedelta(days=1), time(), UTC),
        "source": filters.source,
        "model": filters.model,
        "prompt_version": filters.prompt_version,
        "vote": _VOTES.get(behind.vote),
        "text": behind.text,
    }


def count_behind(connection: duckdb.DuckDBPyConnection, behind: Behind) -> int:
    """Return how many interactions are meant."""
    return int(connection.execute(f"SELECT count(*) {CHOSEN}", chosen_values(behind)).fetchall()[0][0])


def read_behind(
    connection: duckdb.DuckDBPyConnection, behind: Behind, *, limit: int, offset: int = 0
) -> list[InteractionRow]:
    """Return one page of the interactions that are meant, in their order."""
    rows = connection.execute(
        f"""SELECT interaction_id, asked_at, question, answer, feedback, model, prompt_version, latency_ms, cost
        {CHOSEN} ORDER BY {ORDERS[behind.order]}, interaction_id LIMIT $limit OFFSET $offset""",
        {**chosen_values(behind), "limit": limit, "offset": offset},
    ).fetchall()
    return [InteractionRow(*row) for row in rows]


def read_session_around(
    connection: duckdb.DuckDBPyConnection, interaction_id: str, *, context: int
) -> SessionAround | None:
    """Return an interaction with at most `context` turns of its session on both sides; None when it is not there."""
    known = connection.execute(
        "SELECT source, session_id FROM interactions WHERE interaction_id = $id", {"id": interaction_id}
    ).fetchall()
    if not known:
        return None
    source, session_id = known[0]
    result = connection.execute(_AROUND, {"id": interaction_id, "source": source, "session_id": session_id})
    names = [column[0] for column in result.description or ()]
    rows = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
    at = next(place for place, row in enumerate(rows) if row["interaction_id"] == interaction_id)
    chunks = _chunks(connection, interaction_id)
    turns = tuple(
        _turn(row, chunks if row["interaction_id"] == interaction_id else ())
        for row in rows[max(at - context, 0) : at + context + 1]
    )
    return SessionAround(source, session_id or "", turns)


def _turn(row: dict[str, Any], chunks: tuple[CandidateChunk, ...]) -> CandidateTurn:
    return CandidateTurn(**{name: value for name, value in row.items() if value is not None}, retrieved=chunks)


def _chunks(connection: duckdb.DuckDBPyConnection, interaction_id: str) -> tuple[CandidateChunk, ...]:
    return tuple(
        CandidateChunk(chunk_id=chunk_id, doc_id=doc_id or "", text=text or "", score=score, rank=rank)
        for chunk_id, doc_id, text, score, rank in connection.execute(_CHUNKS, {"id": interaction_id}).fetchall()
    )

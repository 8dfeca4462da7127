"""The canonical interaction: one question of a user and what the assistant retrieved and answered."""

from datetime import datetime
from typing import Any, NamedTuple


class RetrievedChunk(NamedTuple):
    """One retrieved passage; `rank` is its 0-based place in the list as logged, never re-sorted by score."""

    chunk_id: str
    text: str | None = None
    doc_id: str | None = None
    score: float | None = None
    rank: int = 0
    stage: str = "retriever"
    id_origin: str = "explicit"
    """Which link of the chunk-id fallback chain was used: explicit, output, metadata or text_hash."""


class Interaction(NamedTuple):
    """One turn. Times are UTC; `feedback` is +1, -1 or None; `cost` is in the log's own currency."""

    interaction_id: str
    source: str
    question: str
    answer: str | None = None
    session_id: str | None = None
    user_id: str | None = None
    asked_at: datetime | None = None
    retrieved: tuple[RetrievedChunk, ...] = ()
    feedback: int | None = None
    feedback_comment: str | None = None
    model: str | None = None
    prompt_version: str | None = None
    latency_ms: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    error: str | None = None
    stream_cut: bool = False
    metadata: dict[str, Any] | None = None


class FeedbackEvent(NamedTuple):
    """A vote that may arrive before, with or after what it refers to; bound late by its target."""

    source: str
    target_kind: str
    """interaction, session or message."""
    target_id: str
    name: str
    value: float | str | bool | None
    scorer_kind: str = "human"
    """human, model or code; only human votes count unless configured otherwise."""
    comment: str | None = None
    given_at: datetime | None = None

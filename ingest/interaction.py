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
    text_hash: str | None = None
    """Of a text that is stored beside and not carried here: chunk texts are stored once."""


class Interaction(NamedTuple):
    """One turn. Times are UTC; `feedback` is +1, -1 or None; `cost` is in the log's own currency.

    An adapter gives `user_id` as logged: the ingest hashes it, and redacts every text, before anything is stored.
    """

    interaction_id: str
    """`source:native_id`."""
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
    aliases: tuple[str, ...] = ()
    """Other native ids that feedback may refer to: entry span, message or client request id."""
    version_ns: int = 0
    """When this state of the interaction was written (updated or end time); of two states the newest stays."""
    cautions: tuple[str, ...] = ()
    """What a reader of this interaction must know, such as evicted span attributes."""


class FeedbackEvent(NamedTuple):
    """A vote that may arrive before, with or after what it refers to; bound late by its target."""

    source: str
    target_kind: str
    """interaction (its native id or one of its aliases) or session."""
    target_id: str
    """The native id, without the source before it."""
    name: str
    value: float | str | bool | None
    scorer_kind: str = "human"
    """human, model or code; only human votes count unless configured otherwise."""
    comment: str | None = None
    given_at: datetime | None = None
    event_id: str | None = None
    """The vote's own id, where the log has one."""

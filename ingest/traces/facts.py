"""What a span tells about a turn, in one vocabulary for all tools; this is what is staged as a span's payload."""

from functools import lru_cache
from typing import Any

import msgspec

from evalsets.chunks import chunk_text_hash
from ingest.adapters.base import Span
from ingest.interaction import RetrievedChunk


class SpanFacts(msgspec.Struct, omit_defaults=True):
    """The part of a span that assembly needs; prompts, vectors and raw attributes stay behind.

    In the payload, what holds ids is named as such, so that redaction passes over it: digits of ids and hashes look
    like phone and card numbers.
    """

    kind: str = ""
    """chain, agent, llm, retriever, reranker, embedding, tool, prompt, evaluator or guardrail; trace for a row about
    the whole trace; '' for a span of other software, kept for its place in the tree."""
    name: str = ""
    parent: str = msgspec.field(default="", name="parent_id")
    of: str = msgspec.field(default="", name="of_id")
    """The span that a log event belongs to; '' for a span itself."""
    end_ns: int = 0
    question: str | None = None
    answer: str | None = None
    query: str | None = None
    chunks: list[RetrievedChunk] = msgspec.field(default_factory=list, name="chunk_ids")
    session_id: str | None = None
    model: str | None = None
    prompt_version: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    latency_ms: float | None = None
    error: str | None = None
    http_status: int | None = None
    is_cut: bool = False
    dropped: int = 0
    is_silent: bool = False
    """An AI span whose instrumentation was told to leave out content."""
    skip: str | None = None
    """Why a trace with this span is no interaction, such as evaluator traffic."""
    aliases: list[str] = msgspec.field(default_factory=list, name="alias_ids")
    metadata: dict[str, Any] = {}


def to_span(  # noqa: PLR0913 - the columns of a staged span
    facts: SpanFacts,
    *,
    trace_id: str,
    span_id: str,
    started_ns: int = 0,
    version_ns: int = 0,
    user_id: str | None = None,
) -> Span:
    """Return the staged form of `facts`; `version_ns` is the span's end unless given."""
    texts: dict[str, str] = {}
    if facts.chunks:
        facts.chunks = [_without_text(chunk, texts) for chunk in facts.chunks]
    payload = msgspec.to_builtins(facts)
    return Span(
        trace_id, span_id, payload, started_ns, version_ns or facts.end_ns or started_ns, user_id, texts or None
    )


def _without_text(chunk: RetrievedChunk, texts: dict[str, str]) -> RetrievedChunk:
    if not chunk.text:
        return chunk
    chunk_id, _, doc_id, score, rank, stage, id_origin, _ = chunk
    text_hash = chunk_id if id_origin == "text_hash" else _hash_of(chunk.text)
    texts[text_hash] = chunk.text
    return RetrievedChunk(chunk_id, None, doc_id, score, rank, stage, id_origin, text_hash)


@lru_cache(maxsize=1 << 14)
def _hash_of(text: str) -> str:
    return chunk_text_hash(text)  # the same passages are retrieved over and over


def from_span(span: Span) -> SpanFacts:
    """Return the facts of a staged span; raises msgspec.ValidationError when its payload is of another format."""
    return msgspec.convert(span.payload, SpanFacts)

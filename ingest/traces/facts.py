"""What a span tells about a turn, in one vocabulary for all tools; this is what is staged as a span's payload."""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import repeat
from typing import Any

import msgspec
import orjson

from evalsets.chunks import chunk_text_hash
from ingest.adapters.base import Span
from ingest.interaction import RetrievedChunk

LAST_NS = 2**63 - 1


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

    def loose_text(self) -> str:
        """Return what redaction has to look at, as one text: all but ids and counts."""
        parts = [self.name, self.question, self.answer, self.query, self.model, self.prompt_version, self.error]
        if self.metadata:
            parts.append(json.dumps(self.metadata, default=str, ensure_ascii=False))
        parts.extend(text for chunk in self.chunks for text in (chunk.chunk_id, chunk.doc_id) if text and "@" in text)
        parts.extend(alias for alias in (self.session_id, *self.aliases) if alias and "@" in alias)
        return "\n".join(filter(None, parts))


def facts_of_columns(columns: Mapping[str, Iterable[Any]], size: int) -> list[SpanFacts]:
    """Return the facts of `size` spans from one column a field; a field without a column has its default."""
    ordered = (columns[name] if name in columns else _defaults(name, size) for name in SpanFacts.__struct_fields__)
    return list(map(SpanFacts, *ordered))


def _defaults(name: str, size: int) -> Iterable[Any]:
    value = getattr(_NO_FACTS, name)
    return ([] for _ in range(size)) if isinstance(value, list) else repeat(value)


_NO_FACTS = SpanFacts()


def as_facts(payload: dict[str, Any]) -> SpanFacts:
    """Return facts from their plain form; raises msgspec.ValidationError for a payload of another format."""
    return msgspec.convert(payload, SpanFacts)


def plain_payload(payload: Any) -> dict[str, Any]:
    """Return a payload as a dict of JSON values."""
    plain: dict[str, Any] = msgspec.to_builtins(payload) if isinstance(payload, SpanFacts) else payload
    return plain


_encode = msgspec.json.Encoder().encode


def payload_text(payload: Any) -> str:
    """Return a payload as JSON text, in which lone surrogates and large numbers are written out."""
    try:
        text = _encode(payload) if isinstance(payload, SpanFacts) else orjson.dumps(payload)
        return text.decode()
    except (TypeError, ValueError, OverflowError):
        return json.dumps(plain_payload(payload), default=str)


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
        facts.chunks = without_texts(facts.chunks, texts)
    version_ns = version_ns or facts.end_ns or started_ns
    started_ns, version_ns = min(started_ns, LAST_NS), min(version_ns, LAST_NS)
    return Span(trace_id, span_id, facts, started_ns, version_ns, user_id, texts or None)


def without_texts(chunks: list[RetrievedChunk], texts: dict[str, str]) -> list[RetrievedChunk]:
    """Return the chunks with the hashes of their texts, which are added to `texts`, in the place of these."""
    return [_without_text(chunk, texts) if chunk.text else chunk for chunk in chunks]


def _without_text(chunk: RetrievedChunk, texts: dict[str, str]) -> RetrievedChunk:
    chunk_id, text, doc_id, score, rank, stage, id_origin, _ = chunk
    text_hash = chunk_id if id_origin == "text_hash" else hash_of(text or "")
    texts[text_hash] = text or ""
    return RetrievedChunk(chunk_id, None, doc_id, score, rank, stage, id_origin, text_hash)


@lru_cache(maxsize=1 << 14)
def hash_of(text: str) -> str:
    """Return the hash of a chunk's text."""
    return chunk_text_hash(text)  # the same passages are retrieved over and over


def from_span(span: Span) -> SpanFacts:
    """Return the facts of a staged span; raises msgspec.ValidationError when its payload is of another format."""
    return span.payload if isinstance(span.payload, SpanFacts) else as_facts(span.payload)

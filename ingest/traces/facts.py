"""What a span tells about a turn, in one vocabulary for all tools; this is what is staged as a span's payload."""

import json
from collections.abc import Iterable, Mapping, Sequence
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

    def loose_texts(self, known: dict[int, str]) -> list[str]:
        """Return what redaction has to look at: all but ids and counts.

        `known` holds the texts of metadata by identity, since all spans of a resource may share it.
        """
        texts = [self.name, self.question, self.answer, self.query, self.model, self.prompt_version, self.error]
        found = [text for text in texts if text]
        if self.metadata:
            key = id(self.metadata)
            if key not in known:
                known[key] = json.dumps(self.metadata, default=str, ensure_ascii=False)
            found.append(known[key])
        return [*found, *self.addresses()]

    def addresses(self) -> list[str]:
        """Return the ids that may be e-mail addresses."""
        ids = [self.session_id, *self.aliases]
        for chunk in self.chunks:
            ids += chunk[0], chunk[2]
        return [text for text in ids if text and "@" in text]


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
_encode_lines = msgspec.json.Encoder().encode_lines


def payload_texts(payloads: Sequence[Any]) -> list[str]:
    """Return payloads as JSON texts; those of facts are written together."""
    try:
        if all(type(payload) is SpanFacts for payload in payloads):
            return _encode_lines(payloads).decode().split("\n")[: len(payloads)]
    except (TypeError, ValueError, OverflowError):
        pass
    return list(map(payload_text, payloads))


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


def hash_of(text: str) -> str:
    """Return the hash of a chunk's text; the same passages are retrieved over and over."""
    key = hash(text)
    known = _hashes.get(key)
    if known is None:
        if len(_hashes) >= _MOST_HASHES:
            _hashes.clear()
        known = _hashes[key] = chunk_text_hash(text)
    return known


_MOST_HASHES = 100_000
_hashes: dict[int, str] = {}
"""What is stored as the hash of a text, by a hash of 64 bits: the texts themselves would take too much memory."""


def from_span(span: Span) -> SpanFacts:
    """Return the facts of a staged span; raises msgspec.ValidationError when its payload is of another format."""
    return span.payload if isinstance(span.payload, SpanFacts) else as_facts(span.payload)

"""OpenInference attributes: what its instrumentations and Arize Phoenix write."""

import re
from collections.abc import Container, Iterator
from functools import lru_cache
from typing import Any

from openinference.semconv.trace import (
    DocumentAttributes,
    MessageAttributes,
    RerankerAttributes,
    SpanAttributes,
)

from ingest.interaction import RetrievedChunk
from ingest.traces.dialects.raw_span import DialectFacts, RawSpan
from ingest.traces.dialects.values import (
    PROMPT_VERSION_KEYS,
    SESSION_KEYS,
    USER_KEYS,
    kept_metadata,
    model_in,
    name_in,
    object_in,
    under,
)
from ingest.traces.documents import (
    FLAT_METADATA,
    Numbered,
    Passage,
    chunks_in,
    chunks_of_tool,
    document_id,
    iter_numbered,
    numbered,
    passages_in,
    returned_chunks,
    settled,
)
from ingest.traces.facts import SpanFacts
from ingest.traces.numbers import decimal, whole
from ingest.traces.texts import PRINTED_STARTS, answer_in, parsed, question_in, said

KIND = SpanAttributes.OPENINFERENCE_SPAN_KIND
DOCUMENTS = SpanAttributes.RETRIEVAL_DOCUMENTS + "."
_RERANKED = RerankerAttributes.RERANKER_OUTPUT_DOCUMENTS + "."
ASKED = SpanAttributes.LLM_INPUT_MESSAGES + "."
REPLIED = SpanAttributes.LLM_OUTPUT_MESSAGES + "."
INPUT = SpanAttributes.INPUT_VALUE
OUTPUT = SpanAttributes.OUTPUT_VALUE
_JSON = "application/json"
_DOCUMENT_ID = (DocumentAttributes.DOCUMENT_ID,)
_CONTENT = DocumentAttributes.DOCUMENT_CONTENT
_SCORE = DocumentAttributes.DOCUMENT_SCORE
_METADATA = DocumentAttributes.DOCUMENT_METADATA
_SESSION = (SpanAttributes.SESSION_ID,)
_USER = (SpanAttributes.USER_ID,)
_PROMPT_VERSION = (SpanAttributes.LLM_PROMPT_TEMPLATE_VERSION,)
MODEL_KEYS = ("llm.response.model_name", SpanAttributes.LLM_MODEL_NAME, "llm.request.model_name")
COST = "llm.cost.total"
_FLAT_METADATA = DocumentAttributes.DOCUMENT_METADATA + "."
_POSTPROCESSOR_NAME = re.compile(r"postprocess|re-?rank", re.IGNORECASE)
PLAIN_DOCUMENT = (
    DocumentAttributes.DOCUMENT_ID,
    DocumentAttributes.DOCUMENT_CONTENT,
    DocumentAttributes.DOCUMENT_SCORE,
    DocumentAttributes.DOCUMENT_METADATA,
)
"""What most passages have: an id, a text, a score and metadata as one object; with more, metadata is flattened."""
STRUCTURES = frozenset("{[")
"""What the JSON of an object or a list begins with."""
OTHER_MARKS = (
    *("gen_ai.operation.name", "gen_ai.conversation.id", "gen_ai.request.model"),
    *("langfuse.observation.type", "langfuse.trace.name", "traceloop.span.kind", "traceloop.entity.name"),
)
"""Attributes of other dialects, which instrumentations side by side write on the same span."""
_KINDS = frozenset({"llm", "chain", "retriever", "reranker", "embedding", "tool", "agent", "prompt", "evaluator"})
ANNOTATIONS = frozenset(
    {"annotations.", "evaluations.", "trace.annotations.", "session.annotations.", "span.annotations."}
)
_OFFLINE_PROJECTS = ("playground", "experiment-", "evaluators")


def read(span: RawSpan) -> DialectFacts | None:
    """Return what a span in OpenInference attributes says; None when it has none."""
    attributes = span.attributes
    groups = numbered(attributes)
    kind = _kind_of(attributes, groups)
    if not kind:
        return None
    metadata = _metadata_of(attributes, groups)
    facts = SpanFacts(
        kind=kind,
        session_id=name_in(attributes, _SESSION),
        prompt_version=name_in(attributes, _PROMPT_VERSION),
        skip=offline(span.resource),
        metadata=with_tags(kept_metadata(metadata), attributes.get(SpanAttributes.TAG_TAGS), span.resource),
    )
    user_id = name_in(attributes, _USER)
    if metadata:
        facts.session_id = facts.session_id or name_in(metadata, SESSION_KEYS)
        facts.prompt_version = facts.prompt_version or name_in(metadata, PROMPT_VERSION_KEYS)
        user_id = user_id or name_in(metadata, USER_KEYS)
    if kind == "llm":
        _read_model(facts, attributes, groups)
    elif kind in {"retriever", "reranker", "tool"}:
        _read_retrieval(facts, span, groups)
    elif kind != "embedding":
        _read_step(facts, span, groups)
    return DialectFacts(facts, user_id, groups)


def _read_retrieval(facts: SpanFacts, span: RawSpan, groups: Numbered) -> None:
    attributes = span.attributes
    stated = name_in(attributes, (RerankerAttributes.RERANKER_QUERY,))
    facts.query = stated or text_of(attributes, INPUT, question_in)
    facts.chunks = _chunks(attributes, groups, facts.kind)
    if facts.kind == "tool" and not facts.chunks:
        called = name_in(attributes, (SpanAttributes.TOOL_NAME,)) or span.name
        facts.chunks = chunks_of_tool(called, attributes.get(OUTPUT))


def _read_step(facts: SpanFacts, span: RawSpan, groups: Numbered) -> None:
    attributes = span.attributes
    facts.question = text_of(attributes, INPUT, question_in)
    if facts.kind in {"chain", "agent"}:
        facts.answer = text_of(attributes, OUTPUT, answer_in)
        facts.chunks = _chunks(attributes, groups, facts.kind) or handed_on(attributes.get(OUTPUT))
    if facts.kind == "chain" and not facts.chunks and is_postprocessor(span.name):
        read_postprocessor(facts, attributes.get(OUTPUT))


DOCUMENT_MARKS = ('documents"', '"context"')
"""What stands in an output that may hold documents."""


def handed_on(output: Any) -> list[RetrievedChunk]:
    """Return the documents in the output of a step, such as a retriever of the app's own that calls itself a chain."""
    names_documents = isinstance(output, str) and any(mark in output for mark in DOCUMENT_MARKS)
    return returned_chunks(output) if names_documents else []


def _kind_of(attributes: dict[str, Any], groups: Numbered) -> str:
    stated = attributes.get(KIND)
    kind = stated.lower() if isinstance(stated, str) else ""
    if kind in _KINDS:
        return "prompt" if kind == "llm" and only_builds_prompt(attributes) else kind
    # The span may have lost its kind to the limit of attributes: what is left of the others tells.
    if DOCUMENTS in groups:
        return "retriever"
    if _RERANKED in groups:
        return "reranker"
    if ASKED in groups or REPLIED in groups or SpanAttributes.LLM_TOKEN_COUNT_PROMPT in attributes:
        return "llm"
    if kind or not ANNOTATIONS.isdisjoint(groups):
        return "guardrail" if kind == "guardrail" else "chain"
    return ""


@lru_cache(maxsize=1 << 10)
def is_postprocessor(name: str) -> bool:
    """Return whether a step is called like one that chooses among passages."""
    return _POSTPROCESSOR_NAME.search(name) is not None


def read_postprocessor(facts: SpanFacts, output: Any) -> None:
    """Take a step that hands on fewer or reordered nodes for the reranker it is, though it calls itself a chain."""
    chunks = chunks_in(output, "reranker")
    if chunks:
        facts.kind, facts.chunks, facts.question, facts.answer = "reranker", chunks, None, None


def only_builds_prompt(attributes: Container[str]) -> bool:
    """Return whether a span that calls itself LLM is a prompt builder (Haystack's are): a template, and no model."""
    if "llm.prompt_template.template" not in attributes:
        return False
    return not any(key in attributes for key in (*MODEL_KEYS, "llm.token_count.completion"))


def _read_model(facts: SpanFacts, attributes: dict[str, Any], groups: Numbered) -> None:
    facts.question = _last_message(groups.get(ASKED), "user") or text_of(attributes, INPUT, question_in)
    facts.answer = _last_message(groups.get(REPLIED), "assistant") or text_of(attributes, OUTPUT, answer_in)
    facts.model = model_in(attributes, MODEL_KEYS)
    facts.input_tokens = whole(attributes.get(SpanAttributes.LLM_TOKEN_COUNT_PROMPT))
    facts.output_tokens = whole(attributes.get(SpanAttributes.LLM_TOKEN_COUNT_COMPLETION))
    facts.cost = decimal(attributes.get(COST))
    facts.is_silent = facts.question is None and facts.answer is None


def text_of(attributes: dict[str, Any], key: str, read_text: Any) -> str | None:
    """Return what `read_text` finds in an attribute, or the attribute itself where it is a text and says so."""
    value = attributes.get(key)
    if isinstance(value, str) and value[:1] not in STRUCTURES:
        return read_text(value) if value.startswith(PRINTED_STARTS) else said(value)
    text: str | None = read_text(value)
    if text is None and isinstance(value, str) and attributes.get(key.replace("value", "mime_type")) != _JSON:
        return said(value) if parsed(value) is value else None
    return text


def _last_message(messages: dict[int, dict[str, Any]] | None, role: str) -> str | None:
    found = None
    for _, message in sorted((messages or {}).items()):
        stated = message.get(MessageAttributes.MESSAGE_ROLE)
        if stated == role or (stated is None and role == "assistant"):
            found = _content(message) or (found if role == "assistant" else None)
    return found


def _content(message: dict[str, Any]) -> str | None:
    whole_text = said(message.get(MessageAttributes.MESSAGE_CONTENT))
    if whole_text is not None:
        return whole_text
    parts = iter_numbered(message, MessageAttributes.MESSAGE_CONTENTS + ".")
    texts = (said(part.get("message_content.text")) for _, part in parts)
    return "\n".join(text for text in texts if text) or None


def chunks_of_retriever(attributes: dict[str, Any]) -> list[RetrievedChunk]:
    """Return the passages that a retriever states, in whatever form."""
    return _chunks(attributes, numbered(attributes), "retriever")


def _chunks(attributes: dict[str, Any], groups: Numbered, kind: str) -> list[RetrievedChunk]:
    stage = "reranker" if kind == "reranker" else "retriever"
    documents = groups.get(_RERANKED if kind == "reranker" else DOCUMENTS)
    if not documents and kind in {"chain", "agent", "tool"}:
        return []
    documents = documents or {}
    if 0 in documents:
        plain = [_plain_chunk(document, rank, stage) for rank, document in sorted(documents.items())]
        if None not in plain:
            return plain  # type: ignore[return-value] # mypy does not see what the line above says
    stated = [(rank, _passage(document)) for rank, document in sorted(documents.items())]
    if all(passage.chunk_id and passage.text for _, passage in stated) and stated and stated[0][0] == 0:
        return [chunk for rank, passage in stated if (chunk := settled(passage, rank, stage)) is not None]
    completed = _completed(stated, passages_in(attributes.get(OUTPUT)))
    return [chunk for rank, passage in completed if (chunk := settled(passage, rank, stage)) is not None]


def _plain_chunk(document: dict[str, Any], rank: int, stage: str) -> RetrievedChunk | None:
    """Return the chunk of a passage that says its id and its text, as most do: nothing has to be looked for."""
    chunk_id, text = name_in(document, _DOCUMENT_ID), said(document.get(_CONTENT))
    metadata = object_in(document.get(_METADATA))
    if not chunk_id or not text or not metadata or len(document) > len(PLAIN_DOCUMENT):
        return None
    doc_id, score = document_id(metadata), decimal(document.get(_SCORE))
    if score is None:
        return None
    return RetrievedChunk(chunk_id, text, doc_id, score, rank, stage)


def _completed(stated: list[tuple[int, Passage]], output: list[Passage]) -> Iterator[tuple[int, Passage]]:
    """Fill in from the raw output the ids that attributes lack, and the passages that were evicted."""
    by_rank = dict(stated)
    count = max([len(output), *(rank + 1 for rank in by_rank)], default=0)
    for rank in range(count):
        passage = by_rank.get(rank)
        raw = output[rank] if rank < len(output) and (not by_rank or len(output) > max(by_rank)) else None
        if passage is None and raw is not None:
            yield rank, raw._replace(chunk_id=None, output_id=raw.chunk_id)
        elif passage is not None and raw is not None and raw.text in {None, passage.text}:
            yield rank, passage._replace(output_id=raw.chunk_id, metadata=passage.metadata or raw.metadata)
        elif passage is not None:
            yield rank, passage


def _passage(document: dict[str, Any]) -> Passage:
    metadata = object_in(document.get(_METADATA))
    if len(document) > len(PLAIN_DOCUMENT) or not metadata:
        metadata = {**metadata, **under(document, _FLAT_METADATA)}
    return Passage(
        name_in(document, _DOCUMENT_ID),
        said(document.get(_CONTENT)),
        None,
        decimal(document.get(_SCORE)),
        metadata,
    )


def _metadata_of(attributes: dict[str, Any], groups: Numbered) -> dict[str, Any]:
    metadata = object_in(attributes.get(SpanAttributes.METADATA))
    flat = groups.get(FLAT_METADATA)
    return {**metadata, **flat[0]} if flat else metadata


def with_tags(kept: dict[str, Any], tags: Any, resource: dict[str, Any]) -> dict[str, Any]:
    """Add to the metadata that is kept of a span its tags and the service it comes from; return it."""
    if tags:
        kept["tags"] = tags
    service = resource.get("service.name")
    if service:
        kept["service"] = service
    return kept


def offline(resource: dict[str, Any]) -> str | None:
    """Return why spans of a resource are no traffic of users, None when they may be."""
    project = resource.get("openinference.project.name")
    is_offline = isinstance(project, str) and project.lower().startswith(_OFFLINE_PROJECTS)
    return "experiment or playground project" if is_offline else None

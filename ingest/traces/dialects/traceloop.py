"""OpenLLMetry (Traceloop) attributes: entities with JSON inputs and outputs around GenAI spans."""

import re
from typing import Any

from ingest.traces.dialects.raw_span import DialectFacts, RawSpan
from ingest.traces.dialects.values import (
    PROMPT_VERSION_KEYS,
    SESSION_KEYS,
    USER_KEYS,
    kept_metadata,
    name_in,
    object_in,
    under,
)
from ingest.traces.documents import chunks_in
from ingest.traces.facts import SpanFacts
from ingest.traces.numbers import whole
from ingest.traces.texts import answer_in, question_in, unquoted

_PROPERTIES = "traceloop.association.properties."
_KINDS = {"workflow": "chain", "task": "chain", "agent": "agent", "tool": "tool"}
_RETRIEVALS = frozenset({"retrieval", "vector_db_retrieve", "retrieve"})
_RETRIEVER_NAME = re.compile(r"retriev|search|vector.?store|lookup|fetch.?(docs|documents|context)", re.IGNORECASE)
_SILENT_ENTITIES = re.compile(r"prompt|template|parser|splitter", re.IGNORECASE)


def read(span: RawSpan) -> DialectFacts | None:
    """Return what a span in OpenLLMetry attributes says; None when it has none."""
    attributes = span.attributes
    if not any(key.startswith("traceloop.") for key in attributes):
        return None
    properties = under(attributes, _PROPERTIES)
    entered = object_in(attributes.get("traceloop.entity.input") or attributes.get("gen_ai.task.input"))
    metadata = object_in(entered.get("metadata"))
    facts = SpanFacts(
        kind=_kind_of(span),
        session_id=name_in(properties, SESSION_KEYS) or name_in(metadata, SESSION_KEYS),
        prompt_version=name_in(properties, PROMPT_VERSION_KEYS)
        or name_in(attributes, ("traceloop.prompt.version", "traceloop.prompt.version_name")),
        metadata=kept_metadata({**metadata, **properties}),
    )
    _read_entity(facts, attributes, entered)
    user_id = name_in(properties, USER_KEYS) or name_in(metadata, USER_KEYS)
    return DialectFacts(facts, user_id)


def _kind_of(span: RawSpan) -> str:
    operation = span.attributes.get("gen_ai.operation.name")
    if operation in _RETRIEVALS:
        return "retriever"
    kind = _KINDS.get(str(span.attributes.get("traceloop.span.kind", "")).lower(), "")
    name = str(span.attributes.get("traceloop.entity.name") or span.name)
    if kind in {"chain", "tool"} and span.attributes.get("traceloop.span.kind") != "workflow":
        if _SILENT_ENTITIES.search(name):
            return "prompt"
        if _RETRIEVER_NAME.search(name) and chunks_in(_output_of(span.attributes)):
            return "retriever"
    return kind


def _read_entity(facts: SpanFacts, attributes: dict[str, Any], entered: dict[str, Any]) -> None:
    if facts.kind in {"chain", "agent"}:
        facts.question = question_in(entered.get("inputs", attributes.get("traceloop.entity.input")))
        facts.answer = answer_in(_output_of(attributes))
        facts.is_silent = facts.question is None and facts.answer is None
    elif facts.kind == "retriever":
        facts.query = question_in(entered.get("query") or entered or attributes.get("traceloop.entity.input"))
        facts.chunks = chunks_in(_output_of(attributes))
    elif not facts.kind:  # a model call: its texts are GenAI attributes, which another dialect reads
        facts.input_tokens = whole(attributes.get("gen_ai.usage.prompt_tokens"))
        facts.output_tokens = whole(attributes.get("gen_ai.usage.completion_tokens"))


def _output_of(attributes: dict[str, Any]) -> Any:
    output = unquoted(attributes.get("traceloop.entity.output") or attributes.get("gen_ai.task.output"))
    left = object_in(output)
    return left.get("outputs", output) if left else output

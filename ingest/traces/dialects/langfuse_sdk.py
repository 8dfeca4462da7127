"""The attributes that Langfuse's own SDK writes on OpenTelemetry spans."""

import re
from typing import Any

from ingest.traces.dialects.raw_span import DialectFacts, RawSpan
from ingest.traces.dialects.values import first_of, kept_metadata, name_in, object_in, under
from ingest.traces.documents import chunks_in
from ingest.traces.facts import SpanFacts
from ingest.traces.numbers import decimal, whole
from ingest.traces.texts import answer_in, question_in, said

KIND_OF_TYPE = {
    "span": "chain",
    "chain": "chain",
    "agent": "agent",
    "generation": "llm",
    "retriever": "retriever",
    "embedding": "embedding",
    "tool": "tool",
    "evaluator": "evaluator",
    "guardrail": "guardrail",
    "event": "event",
}
_RETRIEVER_NAME = re.compile(r"retriev|vector.?(store|search)|search.?(docs|documents|index|kb)", re.IGNORECASE)
_RERANKER_NAME = re.compile(r"re-?rank", re.IGNORECASE)
_TRACE_METADATA = ("langfuse.trace.metadata.", "langfuse.observation.metadata.")
JUDGES = "evaluator traffic (environment of Langfuse's own judges)"


def read(span: RawSpan) -> DialectFacts | None:
    """Return what a span of the Langfuse SDK says; None when it carries none of its attributes."""
    attributes = span.attributes
    if not any(key.startswith("langfuse.") for key in attributes):
        return None
    facts = observation_facts(
        attributes.get("langfuse.observation.type"),
        span.name,
        attributes.get("langfuse.observation.input"),
        attributes.get("langfuse.observation.output"),
    )
    facts.question = facts.question or question_in(attributes.get("langfuse.trace.input"))
    facts.answer = facts.answer or (None if span.parent_id else answer_in(attributes.get("langfuse.trace.output")))
    facts.session_id = name_in(attributes, ("session.id", "langfuse.session.id"))
    facts.metadata = _metadata_of(attributes)
    facts.skip = skip_of(attributes.get("langfuse.environment"))
    facts.prompt_version = prompt_label(
        attributes.get("langfuse.observation.prompt.name"), attributes.get("langfuse.observation.prompt.version")
    )
    if facts.kind == "llm":
        facts.model = name_in(attributes, ("langfuse.observation.model.name",))
        read_usage(
            facts,
            attributes.get("langfuse.observation.usage_details"),
            attributes.get("langfuse.observation.cost_details"),
        )
    if attributes.get("langfuse.observation.level") == "ERROR":
        facts.error = said(attributes.get("langfuse.observation.status_message")) or "error"
    return DialectFacts(facts, name_in(attributes, ("user.id", "langfuse.user.id")))


def observation_facts(stated_type: Any, name: str, entered: Any, output: Any) -> SpanFacts:
    """Return kind and texts of a Langfuse observation, wherever it was exported to."""
    kind = KIND_OF_TYPE.get(stated_type.lower() if isinstance(stated_type, str) else "span", "chain")
    if kind in {"chain", "tool"}:
        kind = _kind_by_name(kind, name, output)
    facts = SpanFacts(kind=kind)
    if kind in {"retriever", "reranker"}:
        facts.query = question_in(entered)
        facts.chunks = chunks_in(output, kind)
    elif kind in {"chain", "agent", "llm"}:
        facts.question = question_in(entered)
        facts.answer = answer_in(output)
    return facts


def _kind_by_name(kind: str, name: str, output: Any) -> str:
    if _RERANKER_NAME.search(name) and chunks_in(output):
        return "reranker"
    return "retriever" if _RETRIEVER_NAME.search(name) and chunks_in(output) else kind


def read_usage(facts: SpanFacts, usage: Any, costs: Any) -> None:
    """Fill tokens and cost from Langfuse's usage and cost details."""
    used, cost = object_in(usage), object_in(costs)
    facts.input_tokens = whole(first_of(used, "input", "prompt_tokens", "input_tokens"))
    facts.output_tokens = whole(first_of(used, "output", "completion_tokens", "output_tokens"))
    parts = [number for value in cost.values() if (number := decimal(value)) is not None]
    total = decimal(cost.get("total"))
    facts.cost = total if total is not None else (sum(parts) if parts else None)


def prompt_label(name: Any, version: Any) -> str | None:
    """Return `name@version`, or the one that is known."""
    number = whole(version) if isinstance(version, float) else version
    label = str(number) if isinstance(number, int | str) and said(str(number)) else None
    named = said(name)
    if label is None:
        return None
    return f"{named}@{label}" if named else label


def skip_of(environment: Any) -> str | None:
    """Return why an environment holds no interactions: Langfuse keeps its judges' calls in `langfuse-…`."""
    return JUDGES if isinstance(environment, str) and environment.startswith("langfuse-") else None


def _metadata_of(attributes: dict[str, Any]) -> dict[str, Any]:
    found = {key: _plain(value) for key, value in under(attributes, *_TRACE_METADATA).items()}
    tags = attributes.get("langfuse.trace.tags")
    return kept_metadata(found) | ({"tags": tags} if tags else {})


def _plain(value: Any) -> Any:
    return value[1:-1] if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"' else value

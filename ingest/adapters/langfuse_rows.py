"""Langfuse's rows: one reader for snake and camel case, and what observations and traces tell."""

from collections.abc import Mapping
from typing import Any

from ingest.adapters.base import Span
from ingest.adapters.flat_spans import flattened, is_blank
from ingest.traces.dialects import openinference
from ingest.traces.dialects.langfuse_sdk import observation_facts, prompt_label, read_usage, skip_of
from ingest.traces.dialects.raw_span import DialectFacts, RawSpan
from ingest.traces.dialects.values import kept_metadata, name_in, object_in
from ingest.traces.documents import returned_chunks
from ingest.traces.facts import SpanFacts, to_span
from ingest.traces.identity import hex_id, nanoseconds
from ingest.traces.numbers import decimal, whole
from ingest.traces.texts import answer_in, question_in, said, unquoted

_SPEAKING = frozenset({"chain", "agent"})
_LEAST_AI_KINDS = frozenset({"event"})


class Row:
    """A row whose fields are asked for in snake case and may be written in camel case; blanks are None."""

    def __init__(self, value: Mapping[str, Any]) -> None:
        """Wrap a parsed row."""
        self.value = value

    def __getitem__(self, name: str) -> Any:
        held = self.value.get(name)
        if held is None:
            held = self.value.get(camel(name))
        return None if is_blank(held) or held == "" else held

    def __contains__(self, name: str) -> bool:
        return name in self.value or camel(name) in self.value


def camel(name: str) -> str:
    """Return a snake-case name in camel case."""
    head, *rest = name.split("_")
    return "".join([head, *(part.capitalize() for part in rest)])


def mapping_in(value: Any) -> dict[str, Any]:
    """Return a dict that may be JSON text, a list of pairs (a Parquet map) or a list of key-value objects."""
    if isinstance(value, list):
        pairs = [item for item in value if isinstance(item, list | tuple) and len(item) == 2]  # noqa: PLR2004 - a pair
        entries = [item for item in value if isinstance(item, dict) and "key" in item]
        return {str(key): held for key, held in pairs} | {str(item["key"]): item.get("value") for item in entries}
    return object_in(value)


def observation_span(row: Row) -> Span:
    """Return the span of one observation."""
    metadata = mapping_in(row["metadata"])
    facts = observation_facts(row["type"], str(row["name"] or ""), row["input"], row["output"])
    if facts.kind in _LEAST_AI_KINDS:
        facts.kind = "tool"
    facts = _with_instrumentation(facts, metadata)
    if facts.kind in _SPEAKING and not facts.chunks:
        facts.chunks = returned_chunks(row["output"])
    facts.name = str(row["name"] or "")
    facts.parent = hex_id(row["parent_observation_id"])
    facts.end_ns = nanoseconds(row["end_time"])
    facts.session_id = name_in({"id": row["session_id"]}, ("id",))
    facts.prompt_version = prompt_label(row["prompt_name"], row["prompt_version"])
    facts.metadata = _metadata(row, metadata)
    facts.skip = skip_of(row["environment"])
    _read_costs(facts, row)
    if str(row["level"]).upper() == "ERROR":
        facts.error = said(row["status_message"]) or "error"
    return to_span(
        facts,
        trace_id=hex_id(row["trace_id"]),
        span_id=hex_id(row["id"]),
        started_ns=nanoseconds(row["start_time"]),
        version_ns=nanoseconds(row["updated_at"]),
        user_id=name_in({"id": row["user_id"]}, ("id",)),
    )


def _with_instrumentation(facts: SpanFacts, metadata: dict[str, Any]) -> SpanFacts:
    """Fill gaps from the OpenInference attributes that Langfuse keeps of spans it got from other instrumentations."""
    attributes = metadata.get("attributes")
    if not isinstance(attributes, dict | str):
        return facts
    read = openinference.read(RawSpan("", "", attributes=flattened(object_in(attributes))))
    if read is None or read.facts.kind == "chain":
        return facts
    merged = DialectFacts(facts).filled_from(read).facts
    if read.facts.kind in {"retriever", "reranker"} and read.facts.chunks:
        merged.kind = read.facts.kind
    merged.metadata = {}
    return merged


def _read_costs(facts: SpanFacts, row: Row) -> None:
    if facts.kind != "llm":
        return
    facts.model = name_in({"model": row["provided_model_name"] or row["model"]}, ("model",))
    read_usage(facts, mapping_in(row["usage_details"] or row["usage"]), mapping_in(row["cost_details"]))
    if facts.input_tokens is None and facts.output_tokens is None:  # the API before usage details
        facts.input_tokens = whole(row["input_usage"] or row["prompt_tokens"])
        facts.output_tokens = whole(row["output_usage"] or row["completion_tokens"])
    stated = decimal(row["total_cost"] or row["calculated_total_cost"])
    if facts.cost is None and stated:
        facts.cost = stated


def trace_span(row: Row) -> Span:
    """Return a pseudo span of a trace's own row: its session, user, texts and tags, above all observations."""
    trace_id = hex_id(row["id"])
    started_ns = nanoseconds(row["timestamp"] or row["created_at"])
    output = unquoted(row["output"])
    latency_s = decimal(row["latency"])
    facts = SpanFacts(
        kind="trace",
        name=str(row["name"] or ""),
        question=question_in(unquoted(row["input"])),
        answer=answer_in(output),
        chunks=returned_chunks(output),
        session_id=name_in({"id": row["session_id"]}, ("id",)),
        latency_ms=latency_s * 1000 if latency_s else None,
        skip=skip_of(row["environment"]),
        metadata=_metadata(row, mapping_in(unquoted(row["metadata"]))),
    )
    return to_span(
        facts,
        trace_id=trace_id,
        span_id=f"trace:{trace_id}",
        started_ns=started_ns,
        version_ns=nanoseconds(row["updated_at"]) or started_ns,
        user_id=name_in({"id": row["user_id"]}, ("id",)),
    )


def _metadata(row: Row, metadata: dict[str, Any]) -> dict[str, Any]:
    kept = kept_metadata(metadata)
    for key in ("tags", "release", "environment"):
        value = row[key]
        if value and value != "default":
            kept[key] = value
    return kept

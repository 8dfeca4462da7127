"""Read the attributes of an OpenTelemetry span: which of the known dialects it speaks, and what it says."""

from collections.abc import Callable, Sequence
from typing import Any

from ingest.interaction import FeedbackEvent
from ingest.traces.dialects import genai, langfuse_sdk, openinference, traceloop, vercel_ai
from ingest.traces.dialects.openinference_votes import annotations
from ingest.traces.dialects.raw_span import DialectFacts, RawSpan
from ingest.traces.errors import error_line
from ingest.traces.facts import SpanFacts

_ERROR_CODE = 2
_DIALECTS: tuple[tuple[frozenset[str], Callable[[RawSpan], DialectFacts | None]], ...] = (
    (
        frozenset({"openinference", "llm", "retrieval", "reranker", "annotations", "evaluations", "embedding"}),
        openinference.read,
    ),
    (frozenset({"langfuse"}), langfuse_sdk.read),
    (frozenset({"traceloop"}), traceloop.read),
    (frozenset({"ai"}), vercel_ai.read),
    (frozenset({"gen_ai", "llm"}), genai.read),
)
"""The first part of the attribute names of each dialect, and its reader."""
_ONLY_OPENINFERENCE = [openinference.read]
_HTTP_STATUS_KEYS = ("http.response.status_code", "http.status_code")


def facts_of(span: RawSpan) -> DialectFacts:
    """Return what `span` says in whichever dialects it speaks, the first to name a thing counting."""
    merged: DialectFacts | None = None
    for read in _readers_of(span.attributes):
        said = read(span)
        if said is not None:
            merged = said if merged is None else merged.filled_from(said)
    merged = merged or DialectFacts(SpanFacts())
    facts = merged.facts
    facts.parent = span.parent_id
    facts.name = span.name
    facts.end_ns = span.end_ns
    if facts.kind:
        facts.error = facts.error or _error_of(span)
        facts.dropped = span.dropped_attributes
    else:
        facts.http_status = _http_status(span.attributes)
    return merged


def _readers_of(attributes: dict[str, Any]) -> Sequence[Callable[[RawSpan], DialectFacts | None]]:
    if openinference.KIND in attributes and attributes.keys().isdisjoint(openinference.OTHER_MARKS):
        return _ONLY_OPENINFERENCE  # the usual case, told without looking at every attribute
    heads = {key.partition(".")[0] for key in attributes}
    return [read for marks, read in _DIALECTS if not marks.isdisjoint(heads)]


def _error_of(span: RawSpan) -> str | None:
    if span.status_code != _ERROR_CODE:
        return None
    exception = next((attributes for name, attributes in span.events if name == "exception"), {})
    kind = exception.get("exception.type") or span.attributes.get("error.type")
    return error_line(span.status_message or exception.get("exception.message"), kind) or "error"


def _http_status(attributes: dict[str, Any]) -> int | None:
    for key in _HTTP_STATUS_KEYS:
        value = attributes.get(key)
        if isinstance(value, int | str) and str(value).isdecimal():
            return int(value)
    return None


def annotation_events(span: RawSpan, merged: DialectFacts) -> list[FeedbackEvent]:
    """Return the votes that stand on `span`, bound to its trace, to the linked one, or to its session."""
    return annotations(span, merged) if merged.groups else []


__all__ = ["DialectFacts", "RawSpan", "annotation_events", "facts_of"]

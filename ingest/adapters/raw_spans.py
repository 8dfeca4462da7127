"""What becomes of a raw span: its staged form, and the votes that stand on it."""

from ingest.adapters.base import Outcome, Skip
from ingest.traces.dialects import annotation_events, facts_of
from ingest.traces.dialects.raw_span import RawSpan
from ingest.traces.facts import to_span


def read_raw_span(raw: RawSpan) -> list[Outcome]:
    """Return a span's staged form and the votes that stand on it."""
    if not raw.trace_id or not raw.span_id:
        return [Skip("span without ids", 0)]
    merged = facts_of(raw)
    votes = annotation_events(raw, merged)
    if votes and raw.links and merged.facts.kind == "evaluator":
        return [*votes]
    span = to_span(
        merged.facts,
        trace_id=raw.trace_id,
        span_id=raw.span_id,
        started_ns=raw.start_ns,
        version_ns=raw.end_ns,
        user_id=merged.user_id,
    )
    return [span, *votes]

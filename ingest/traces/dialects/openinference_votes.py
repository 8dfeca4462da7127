"""Votes that stand on OpenInference spans."""

from typing import Any

from ingest.interaction import FeedbackEvent
from ingest.traces.dialects.openinference import ANNOTATIONS
from ingest.traces.dialects.raw_span import DialectFacts, RawSpan
from ingest.traces.dialects.values import name_in
from ingest.traces.identity import TRACE_SOURCE, moment_of
from ingest.traces.texts import said
from ingest.traces.votes import scorer_kind, vote_value


def annotations(span: RawSpan, merged: DialectFacts) -> list[FeedbackEvent]:
    """Return the votes in `annotations.N.annotation.*` and its kin; a linked span is what they are about."""
    found: list[FeedbackEvent] = []
    groups = merged.groups or {}
    if ANNOTATIONS.isdisjoint(groups):
        return found
    for prefix in sorted(ANNOTATIONS & groups.keys()):
        for number, annotation in sorted(groups[prefix].items()):
            fields = {key.partition(".")[2] or key: value for key, value in annotation.items()}
            event = _vote(span, prefix, number, fields, merged.facts.session_id)
            if event is not None:
                found.append(event)
    return found


def _vote(
    span: RawSpan, prefix: str, number: int, fields: dict[str, Any], session_id: str | None
) -> FeedbackEvent | None:
    name = name_in(fields, ("name",)) or "annotation"
    value = vote_value(fields.get("score"), fields.get("label"))
    if value is None:
        return None
    trace_id = span.links[0][0] if span.links else span.trace_id
    is_about_session = prefix.startswith("session.") and session_id
    return FeedbackEvent(
        source=TRACE_SOURCE,
        target_kind="session" if is_about_session else "interaction",
        target_id=(session_id or trace_id) if is_about_session else trace_id,
        name=name,
        value=value,
        scorer_kind=scorer_kind(fields.get("annotator_kind"), name),
        comment=said(fields.get("explanation")),
        given_at=moment_of(span.end_ns or span.start_ns),
        event_id=f"{span.trace_id}:{span.span_id}:{prefix}{number}",
    )

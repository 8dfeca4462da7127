"""The votes among the assessments of an MLflow trace."""

from collections.abc import Iterator

from ingest.adapters.flat_spans import is_blank
from ingest.adapters.mlflow_traces import MlflowTrace
from ingest.interaction import FeedbackEvent
from ingest.traces.dialects.values import name_in, object_in
from ingest.traces.identity import TRACE_SOURCE, moment_of, nanoseconds
from ingest.traces.texts import said
from ingest.traces.votes import scorer_kind, vote_value


def assessment_events(trace: MlflowTrace) -> Iterator[FeedbackEvent]:
    """Yield the votes among the assessments of a trace; one that a later one overrides is not valid and left out."""
    for assessment in trace.assessments:
        feedback = object_in(assessment.get("feedback"))
        value = feedback.get("value")
        if not feedback or assessment.get("valid") is False or is_blank(value):
            continue
        name = name_in(assessment, ("assessment_name", "name")) or "assessment"
        source = object_in(assessment.get("source"))
        vote = value if isinstance(value, bool) else vote_value(value, value)
        if vote is None:
            continue
        yield FeedbackEvent(
            source=TRACE_SOURCE,
            target_kind="interaction",
            target_id=trace.trace_id,
            name=name,
            value=vote,
            scorer_kind=scorer_kind(source.get("source_type"), name),
            comment=said(assessment.get("rationale")),
            given_at=moment_of(nanoseconds(assessment.get("last_update_time") or assessment.get("create_time"))),
            event_id=name_in(assessment, ("assessment_id",)),
        )

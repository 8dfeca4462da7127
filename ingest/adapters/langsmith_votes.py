"""LangSmith's feedback: records of their own, or the summary that a run carries."""

from collections.abc import Iterator
from typing import Any

from ingest.interaction import FeedbackEvent
from ingest.traces.dialects.values import name_in, object_in
from ingest.traces.identity import moment_of, nanoseconds
from ingest.traces.numbers import decimal
from ingest.traces.texts import said
from ingest.traces.votes import scorer_kind, vote_value


def is_feedback(value: dict[str, Any]) -> bool:
    """Return whether `value` is a feedback record."""
    is_named = isinstance(value.get("key"), str) and ("run_id" in value or "trace_id" in value)
    return is_named and ("score" in value or "value" in value)


def feedback_event(value: dict[str, Any], source: str) -> FeedbackEvent | None:
    """Return the vote of a feedback record; None when it has neither a score nor a value."""
    key = str(value["key"])
    label = value.get("value")
    score = value.get("score")
    if score is None and isinstance(label, int | float):
        score = float(label)
    vote = vote_value(score, label if isinstance(label, str) else None)
    target = value.get("trace_id") or value.get("run_id")
    if vote is None or not target:
        return None
    origin = object_in(value.get("feedback_source"))
    return FeedbackEvent(
        source=source,
        target_kind="interaction",
        target_id=str(target),
        name=key,
        value=vote,
        scorer_kind=scorer_kind(origin.get("type") or value.get("feedback_source_type"), key),
        comment=said(value.get("comment")),
        given_at=moment_of(nanoseconds(value.get("modified_at") or value.get("created_at"))),
        event_id=name_in(value, ("id",)),
    )


def stats_events(run: dict[str, Any], source: str) -> Iterator[FeedbackEvent]:
    """Yield the votes that a run's summary gives away: of one vote, or of several that all agree on 0 or 1.

    Their ids begin with `stats:`; a feedback record of the same vote is later and so counts instead.
    """
    for key, held in object_in(run.get("feedback_stats")).items():
        stats = object_in(held)
        average = decimal(stats.get("avg"))
        count = decimal(stats.get("n")) or 0
        if average is None or not (count == 1 or average in {0.0, 1.0}):
            continue
        comments = stats.get("comments")
        comment = comments[0] if count == 1 and isinstance(comments, list) and comments else None
        sources = stats.get("sources")
        stated = sources[0] if isinstance(sources, list) and sources else None
        yield FeedbackEvent(
            source=source,
            target_kind="interaction",
            target_id=str(run.get("trace_id") or run["id"]),
            name=key,
            value=average,
            scorer_kind=scorer_kind(stated, key),
            comment=said(comment),
            given_at=moment_of(nanoseconds(run.get("end_time"))),
            event_id=f"stats:{run['id']}:{key}",
        )

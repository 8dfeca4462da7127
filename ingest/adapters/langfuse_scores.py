"""Langfuse's scores: rows of their own, or a column per name in the UI's exports of traces and observations."""

from collections.abc import Iterator
from typing import Any

from ingest.adapters.flat_spans import is_blank
from ingest.adapters.langfuse_rows import Row
from ingest.interaction import FeedbackEvent
from ingest.traces.dialects.values import name_in
from ingest.traces.identity import TRACE_SOURCE, hex_id, moment_of, nanoseconds
from ingest.traces.numbers import decimal
from ingest.traces.texts import parsed, said
from ingest.traces.votes import scorer_kind, vote_value

_DATA_TYPES = frozenset({"NUMERIC", "BOOLEAN", "CATEGORICAL", "TEXT", "CORRECTION"})
_FALSE = frozenset({"0", "0.0", "false", "no"})
_LIST_COLUMNS = frozenset(
    {"tags", "comments", "input", "output", "metadata", "toolCalls", "toolCallNames", "tool_calls"}
)
_LIST_COLUMNS |= {"tool_call_names", "toolDefinitions", "tool_definitions", "observations", "scores", "parentIds"}
_TEXT_COLUMNS = frozenset({"id", "name", "statusMessage", "status_message", "version", "release", "userId", "user_id"})
_TEXT_COLUMNS |= {"sessionId", "session_id", "traceId", "trace_id", "traceName", "trace_name", "environment", "level"}


def is_score(row: Row) -> bool:
    """Return whether `row` is a score: a name, a value, and what it is about."""
    if not isinstance(row["name"], str) or "type" in row or not ("value" in row or "string_value" in row):
        return False
    has_target = "subject" in row or "trace_id" in row or "session_id" in row or "observation_id" in row
    return has_target and (str(row["data_type"]).upper() in _DATA_TYPES or "source" in row)


def score_event(row: Row) -> FeedbackEvent | None:
    """Return the vote of a score row; None when it has no value or is about neither a trace nor a session."""
    kind, target = _target(row)
    value = _value(row)
    if not target or value is None:
        return None
    name = str(row["name"])
    return FeedbackEvent(
        source=TRACE_SOURCE,
        target_kind=kind,
        target_id=target,
        name=name,
        value=value,
        scorer_kind=scorer_kind(row["source"], name),
        comment=said(row["comment"]),
        given_at=moment_of(nanoseconds(row["timestamp"] or row["created_at"])),
        event_id=name_in({"id": row["id"]}, ("id",)),
    )


def _target(row: Row) -> tuple[str, str]:
    subject = parsed(row["subject"])
    if isinstance(subject, dict):
        trace_id = subject.get("traceId") or subject.get("trace_id")
        if subject.get("kind") == "session":
            return "session", str(subject.get("id") or "")
        return "interaction", hex_id(trace_id or subject.get("id"))
    found = hex_id(row["trace_id"]) or hex_id(row["observation_id"])
    if found:
        return "interaction", found
    return "session", name_in({"id": row["session_id"]}, ("id",)) or ""


def _value(row: Row) -> float | str | bool | None:
    value, text = row["value"], row["string_value"]
    data_type = str(row["data_type"]).upper()
    if data_type == "BOOLEAN":
        stated = text if value is None else value
        return None if stated is None else str(stated).strip().lower() not in _FALSE
    if data_type in {"CATEGORICAL", "TEXT"}:
        return said(text) or said(value) or decimal(value)
    number = decimal(value) if not isinstance(value, bool) else value
    return vote_value(number, text or (value if isinstance(value, str) and number is None else None))


def _score_values(name: str, held: Any) -> list[Any]:
    """Return the values of a score's column; a column that Langfuse names itself counts only when it is a list."""
    if name in _LIST_COLUMNS:
        return []
    values = held if name in _TEXT_COLUMNS else parsed(held)
    return values if isinstance(values, list) else []


def score_events_of_columns(row: Row, trace_id: Any) -> Iterator[FeedbackEvent]:
    """Yield the votes in the columns that the UI's exports add, one a score name, each a list of values.

    A score may be called like a column of the row; a list of plain values in such a column is a score all the same.
    """
    given_at = moment_of(nanoseconds(row["timestamp"] or row["end_time"] or row["start_time"]))
    for name, held in row.value.items():
        values = _score_values(name, held)
        for place, value in enumerate(values):
            if isinstance(value, str | int | float) and not is_blank(value):
                yield FeedbackEvent(
                    source=TRACE_SOURCE,
                    target_kind="interaction",
                    target_id=hex_id(trace_id),
                    name=name,
                    value=value,
                    scorer_kind=scorer_kind(None, name),
                    given_at=given_at,
                    event_id=f"column:{hex_id(trace_id)}:{name}:{place}",
                )

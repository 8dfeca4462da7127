"""The Langfuse adapter: observations, traces and scores from blob exports, the API, the UI and one-trace downloads."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.adapters.base import Caution, Outcome, Record, Skip, Trace
from ingest.adapters.guarding import guarded, surest
from ingest.adapters.langfuse_rows import Row, observation_span, trace_span
from ingest.adapters.langfuse_scores import is_score, score_event, score_events_of_columns
from ingest.interaction import FeedbackEvent, Interaction
from ingest.traces.assembly import assemble
from ingest.traces.identity import TRACE_SOURCE
from ingest.traces.texts import parsed
from ingest.traces.votes import unclear_scorer

_TYPES = frozenset(
    {"SPAN", "GENERATION", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"}
)
_TRACE_MARKS = frozenset({"bookmarked", "public", "environment", "sessionId", "session_id", "release", "tags"})
_INGESTION = {"score-create": "score", "trace-create": "trace"}


class LangfuseAdapter:
    """Reads one row, API answer or trace download a record."""

    name = "langfuse"
    description = "Langfuse: blob exports (v2, legacy), API answers, UI exports, one-trace downloads, scores"
    family = "trace"

    def detects(self, sample: Sequence[Any]) -> float:
        """Return how surely the records are Langfuse's."""
        return surest(_confidence, sample)

    def read(self, records: Iterable[Record]) -> Iterator[Outcome]:
        """Yield spans of observations and traces, and a vote of each score."""
        for record in records:
            yield from guarded(_outcomes, record, "a Langfuse row")

    def assemble(self, trace: Trace) -> Iterator[Interaction | FeedbackEvent | Skip | Caution]:
        """Yield the interaction of one trace, whichever formats its spans came in."""
        return assemble(trace, TRACE_SOURCE)


ADAPTER = LangfuseAdapter()


def _confidence(value: Any) -> float:
    if not isinstance(value, dict):
        return 0.0
    if _rows_in(value):
        return 0.9
    row = Row(value)
    if _is_observation(row) or is_score(row):
        return 0.9
    return 0.8 if _is_trace(row) else 0.0


def _rows_in(value: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of an envelope: a trace download, an API page, a batch of the ingestion API; else none."""
    trace = parsed(value.get("trace"))
    observations = parsed(value.get("observations"))
    if isinstance(trace, dict) and isinstance(observations, list):
        scores = trace.get("scores")
        return [trace, *_dicts(observations), *_dicts(scores), *_dicts(value.get("scores"))]
    for key in ("data", "batch"):
        rows = _dicts(value.get(key))
        if rows and (key == "batch" or "meta" in value) and all(_is_known(row) for row in rows):
            return rows
    if isinstance(observations, list) and any(_is_observation(Row(row)) for row in _dicts(observations)):
        rest = {key: held for key, held in value.items() if key not in {"observations", "scores"}}
        return [rest, *_dicts(observations), *_dicts(value.get("scores"))]
    body = value.get("body")
    return [body] if isinstance(body, dict) and str(value.get("type")) in _INGESTION else []


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _is_known(value: dict[str, Any]) -> bool:
    row = Row(value)
    is_event = isinstance(value.get("body"), dict) and str(value.get("type")) in _INGESTION
    return is_event or _is_observation(row) or is_score(row) or _is_trace(row)


def _is_observation(row: Row) -> bool:
    return bool(row["trace_id"]) and str(row["type"]).upper() in _TYPES and "start_time" in row


def _is_trace(row: Row) -> bool:
    marks = sum(mark in row.value for mark in _TRACE_MARKS)
    return bool(row["id"]) and "timestamp" in row and "trace_id" not in row and marks >= 3  # noqa: PLR2004


def _votes(vote: FeedbackEvent | None) -> Iterator[Outcome]:
    if vote is None:
        yield Skip("score without a target or a value")
        return
    yield vote
    caution = unclear_scorer(vote)
    if caution is not None:
        yield caution


def _outcomes(value: Any) -> Iterator[Outcome]:
    if not isinstance(value, dict):
        yield Skip("not a Langfuse row")
        return
    inner = _rows_in(value)
    for held in inner:
        yield from _outcomes(held)
    if inner:
        return
    row = Row(value)
    if _is_observation(row):
        yield observation_span(row)
        yield from score_events_of_columns(row, row["trace_id"])
    elif is_score(row):
        yield from _votes(score_event(row))
    elif row["id"] and ("timestamp" in row or "created_at" in row):
        yield trace_span(row)
        yield from score_events_of_columns(row, row["id"])
    else:
        yield Skip("neither an observation, a trace nor a score")

"""The Arize Phoenix adapter: data frames, REST and UI downloads of spans, and annotations."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.adapters.base import Caution, Outcome, Record, Skip, Span, Trace
from ingest.adapters.flat_spans import console_span, flattened, frame_span, is_blank, is_console_span, label_id
from ingest.adapters.guarding import guarded, surest
from ingest.adapters.raw_spans import read_raw_span
from ingest.interaction import FeedbackEvent, Interaction
from ingest.reading.envelopes import ROW_LABEL
from ingest.traces.assembly import assemble
from ingest.traces.dialects.values import name_in
from ingest.traces.identity import TRACE_SOURCE, hex_id, moment_of, nanoseconds
from ingest.traces.texts import said
from ingest.traces.votes import scorer_kind, vote_value

_TARGETS = ("span_id", "context.span_id", "trace_id", "session_id", ROW_LABEL)
"""What an annotation may stand on: the client labels the rows of a frame with the span, the trace or the session."""
_FRAME_MARKS = ("span_kind", "start_time", "context.trace_id", "context.span_id")


class PhoenixAdapter:
    """Reads one span or annotation a record; spans are OpenInference spans written flat."""

    name = "phoenix"
    description = "Arize Phoenix: span data frames (Parquet, CSV), REST and UI downloads, annotations"
    family = "trace"

    def detects(self, sample: Sequence[Any]) -> float:
        """Return how surely the records are Phoenix spans or annotations."""
        return surest(_confidence, sample)

    def read(self, records: Iterable[Record]) -> Iterator[Outcome]:
        """Yield each span's staged form, the votes that stand on it, and the vote of each annotation."""
        for record in records:
            yield from guarded(_outcomes, record, "a Phoenix span")

    def assemble(self, trace: Trace) -> Iterator[Interaction | FeedbackEvent | Skip | Caution]:
        """Yield the interaction of one trace, whichever formats its spans came in."""
        return assemble(trace, TRACE_SOURCE)


ADAPTER = PhoenixAdapter()


def _confidence(value: Any) -> float:
    if not isinstance(value, dict):
        return 0.0
    if is_console_span(value) and "span_kind" in value:
        return 0.95
    if _is_frame_row(value) or _is_annotation(value):
        return 0.9
    return 0.9 if _rows_in(value) else 0.0


def _is_frame_row(value: dict[str, Any]) -> bool:
    return sum(mark in value for mark in _FRAME_MARKS) >= 3 and "context.trace_id" in value  # noqa: PLR2004


def _is_annotation(value: dict[str, Any]) -> bool:
    has_target = any(key in value for key in _TARGETS)
    has_result = "result" in value or any(key.startswith("result.") for key in value)
    return has_target and "annotator_kind" in value and (has_result or "label" in value or "score" in value)


def _rows_in(value: dict[str, Any]) -> list[dict[str, Any]]:
    rows = value.get("data")
    listed = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    is_ours = all(is_console_span(row) or _is_annotation(row) for row in listed)
    return listed if listed and "next_cursor" in value and is_ours else []


def _outcomes(value: Any) -> Iterator[Outcome]:
    if not isinstance(value, dict):
        yield Skip("not a Phoenix row")
        return
    rows = _rows_in(value)
    for row in rows:
        yield from _outcomes(row)
    if rows:
        return
    if is_console_span(value):
        yield from _with_alias(read_raw_span(console_span(value)))
    elif _is_annotation(value):
        yield _vote(value) or Skip("annotation without a value or a target")
    elif _is_frame_row(value) or "context.span_id" in value:
        yield from _with_alias(read_raw_span(frame_span(value)))
    else:
        yield Skip("neither a span nor an annotation")


def _with_alias(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """Let annotations find the interaction by the id of any of its spans: they name no trace."""
    for outcome in outcomes:
        if isinstance(outcome, Span) and outcome.payload.kind:
            outcome.payload.aliases = [outcome.span_id]
        yield outcome


def _vote(value: dict[str, Any]) -> FeedbackEvent | None:
    row = {key: held for key, held in value.items() if not is_blank(held)}
    result = flattened(row.get("result")) or {key[7:]: row[key] for key in row if key.startswith("result.")} or row
    name = name_in(row, ("annotation_name", "name")) or "annotation"
    vote = vote_value(result.get("score"), result.get("label"))
    kind, target = _target(row)
    if vote is None or not target:
        return None
    return FeedbackEvent(
        source=TRACE_SOURCE,
        target_kind=kind,
        target_id=target,
        name=name,
        value=vote,
        scorer_kind=scorer_kind(row.get("annotator_kind"), name),
        comment=said(result.get("explanation")),
        given_at=moment_of(nanoseconds(row.get("updated_at") or row.get("created_at"))),
        event_id=name_in(row, ("id",)),
    )


def _target(row: dict[str, Any]) -> tuple[str, str]:
    """Return what an annotation stands on; an empty id when it does not say."""
    label = label_id(row)
    spans = (row.get("trace_id"), row.get("span_id"), row.get("context.span_id"), label)
    if target := next(filter(None, map(hex_id, spans)), ""):
        return "interaction", target
    return "session", name_in(row, ("session_id", ROW_LABEL)) or ""

"""The OpenTelemetry adapter: traces and log events in every container, in five attribute dialects."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.adapters.base import Caution, Outcome, Record, Reject, Skip, Trace, UsualLines
from ingest.adapters.flat_spans import console_log, console_span, is_console_log, is_console_span
from ingest.adapters.guarding import ODD_VALUE_ERRORS, surest
from ingest.adapters.otlp_json import BadPart, Part, RawLog, is_container, is_lone_span, log_of, parts_of, span_of
from ingest.adapters.otlp_lines import read_usual_lines
from ingest.adapters.raw_spans import read_raw_span
from ingest.interaction import FeedbackEvent, Interaction
from ingest.traces.assembly import assemble
from ingest.traces.dialects.genai import evaluation, read_log
from ingest.traces.dialects.raw_span import RawSpan
from ingest.traces.facts import to_span
from ingest.traces.identity import TRACE_SOURCE
from ingest.traces.votes import unclear_scorer


class OtlpAdapter:
    """Reads OTLP JSON in its spellings, protobuf and console exports, with their log events."""

    name = "otlp"
    description = "OpenTelemetry traces and log events: OTLP JSON, protobuf, collector files, console exporter"
    family = "trace"
    turn_source = TRACE_SOURCE

    def detects(self, sample: Sequence[Any]) -> float:
        """Return how surely the records are OTLP messages, lone OTLP spans or console exports."""
        return surest(_confidence, sample)

    def read(self, records: Iterable[Record]) -> Iterator[Outcome]:
        """Yield the spans, log events and votes of each message; a message without any is a Skip."""
        for record in records:
            yield from _read_record(record)

    def read_lines(self, lines: Sequence[bytes]) -> UsualLines:
        """Read the lines in the collector's own spelling."""
        return read_usual_lines(lines)

    def assemble(self, trace: Trace) -> Iterator[Interaction | FeedbackEvent | Skip | Caution]:
        """Yield the interaction of one trace, whichever formats its spans came in."""
        return assemble(trace, TRACE_SOURCE)


ADAPTER = OtlpAdapter()


def _confidence(value: Any) -> float:
    if isinstance(value, bytes):
        from ingest.adapters.otlp_binary import holds_spans  # protobuf takes long to import, and JSON does without

        return 0.9 if holds_spans(value) else 0.0
    if is_container(value) or (isinstance(value, dict) and is_container(value.get("trace"))):
        return 0.95
    if is_console_span(value):
        return 0.9 if "span_kind" not in value else 0.0
    return 0.85 if is_lone_span(value) or is_console_log(value) else 0.0


def _read_record(record: Record) -> Iterator[Outcome]:
    parts = list(_parts(record.value))
    if not parts:
        yield Skip("message without spans or log events")
        return
    outcomes: list[Outcome] = []
    refused = 0
    for part in parts:
        bad = part if isinstance(part, BadPart) else _taken(part, outcomes)
        if bad is not None:
            refused += 1
            outcomes.append(_reject(record, bad, is_whole=refused == len(parts)))
    yield from outcomes or [Skip("log events that hold no question, answer or vote")]


def _taken(part: RawSpan | RawLog, outcomes: list[Outcome]) -> BadPart | None:
    try:
        outcomes.extend(_read_log(part) if isinstance(part, RawLog) else read_raw_span(part))
    except ODD_VALUE_ERRORS as error:
        return BadPart(f"not a span that can be understood: {type(error).__name__}: {error}"[:500], repr(part))
    return None


def _parts(value: Any) -> Iterable[Part]:
    if isinstance(value, bytes):
        from ingest.adapters.otlp_binary import parts_of_bytes

        return parts_of_bytes(value)
    if is_console_span(value):
        return [_guarded(console_span, value)]
    if is_console_log(value):
        return [_guarded(console_log, value)]
    if isinstance(value, dict) and "body" in value and ("traceId" in value or "trace_id" in value):
        return [log_of(value, {})]
    if isinstance(value, dict) and _names_batches(value):
        return parts_of(value)
    return [span_of(value, {}) if is_lone_span(value) else BadPart("not an OTLP message", value)]


def _names_batches(value: dict[str, Any]) -> bool:
    return is_container(value) or is_container(value.get("trace")) or not value or "resourceMetrics" in value


def _guarded(read_part: Any, value: dict[str, Any]) -> Part:
    try:
        part: Part = read_part(value)
    except ODD_VALUE_ERRORS as error:
        return BadPart(f"not a console span: {error}", value)
    return part


def _reject(record: Record, part: BadPart, *, is_whole: bool) -> Reject:
    raw = part.part if isinstance(part.part, str) else json.dumps(part.part, default=str, ensure_ascii=False)
    return Reject(record.file, record.line, part.reason, raw[:2000], records=1 if is_whole else 0)


def _read_log(log: RawLog) -> Iterator[Outcome]:
    record = log.record
    if record.name == "gen_ai.evaluation.result":
        vote = evaluation(record)
        caution = unclear_scorer(vote) if vote is not None else None
        yield from (outcome for outcome in (vote, caution) if outcome is not None)
        return
    merged = read_log(record, log.body) if record.trace_id and record.name.startswith("gen_ai.") else None
    if merged is None:
        return
    yield to_span(
        merged.facts,
        trace_id=record.trace_id,
        span_id=_event_id(record, log.body),
        started_ns=record.start_ns,
        version_ns=record.start_ns,
        user_id=merged.user_id,
    )


def _event_id(record: RawSpan, body: Any) -> str:
    content = json.dumps([record.attributes, body], default=str, sort_keys=True)
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{record.span_id}:{record.name}:{record.start_ns}:{digest}"

"""Undo the OTLP container in JSON: its spellings become raw spans and log records, one bad span at a time refused."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from opentelemetry.proto_json.common.v1.common import AnyValue
from opentelemetry.proto_json.logs.v1.logs import LogRecord
from opentelemetry.proto_json.trace.v1.trace import Span as ProtoSpan

from ingest.adapters.guarding import ODD_VALUE_ERRORS
from ingest.traces.dialects.raw_span import RawSpan
from ingest.traces.identity import hex_id, nanoseconds

CANONICAL_TRACE_ID = 32
_DIGITS_OF_NS = 19
STATUS_CODES = {"STATUS_CODE_OK": 1, "OK": 1, "STATUS_CODE_ERROR": 2, "ERROR": 2}
_SPAN_LISTS = ("resourceSpans", "resource_spans", "batches")
_LOG_LISTS = ("resourceLogs", "resource_logs")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans")
_LOG_SCOPES = ("scopeLogs", "scope_logs", "instrumentationLibraryLogs", "instrumentation_library_logs")
_LOG_RECORDS = ("logRecords", "log_records", "logs")
_CAMEL = {
    name: "".join([head, *(part.capitalize() for part in rest)])
    for name in (
        *("trace_id", "span_id", "parent_span_id", "trace_state", "start_time_unix_nano", "end_time_unix_nano"),
        *("dropped_attributes_count", "dropped_events_count", "dropped_links_count", "time_unix_nano", "event_name"),
        *("observed_time_unix_nano", "severity_number", "severity_text", "string_value", "int_value", "double_value"),
        *("bool_value", "array_value", "kvlist_value", "bytes_value"),
    )
    for head, *rest in [name.split("_")]
}
_UNREAD = frozenset({"kind", "flags", "traceState", "severityNumber", "severityText"})


class RawLog(NamedTuple):
    """One log record; its event name is `record.name`, and its own span id `record.span_id`."""

    record: RawSpan
    body: Any


class BadPart(NamedTuple):
    """A span or log record inside a message that could not be read."""

    reason: str
    part: Any


Part = RawSpan | RawLog | BadPart


def is_container(value: Any) -> bool:
    """Return whether `value` is a message that holds resource spans or resource logs."""
    return isinstance(value, dict) and any(isinstance(value.get(key), list) for key in (*_SPAN_LISTS, *_LOG_LISTS))


def is_lone_span(value: Any) -> bool:
    """Return whether `value` is one OTLP span without its container, as a REST answer lists them."""
    if not isinstance(value, dict):
        return False
    has_ids = ("traceId" in value and "spanId" in value) or ("trace_id" in value and "span_id" in value)
    return has_ids and isinstance(value.get("attributes"), list) and ("name" in value or "startTimeUnixNano" in value)


def parts_of(value: dict[str, Any]) -> Iterator[Part]:
    """Yield the spans and log records of a message, each either read or refused."""
    held = value.get("trace")
    message = held if isinstance(held, dict) and is_container(held) else value  # Tempo wraps a trace once more
    for resource_spans in _listed(message, _SPAN_LISTS):
        resource = resource_of(resource_spans)
        for scope in _listed(resource_spans, _SCOPES):
            for span in _listed(scope, ("spans",)):
                yield span_of(span, resource)
    for resource_logs in _listed(message, _LOG_LISTS):
        resource = resource_of(resource_logs)
        for scope in _listed(resource_logs, _LOG_SCOPES):
            for record in _listed(scope, _LOG_RECORDS):
                yield log_of(record, resource)


def span_of(span: Any, resource: dict[str, Any]) -> RawSpan | BadPart:
    """Return one OTLP span in any JSON spelling."""
    try:
        if len(span.get("traceId") or "") == CANONICAL_TRACE_ID:
            return _canonical_span(span, resource)
        return span_of_message(ProtoSpan.from_dict(_normalised(span)), resource)
    except ODD_VALUE_ERRORS as error:
        return BadPart(f"not an OTLP span: {error}", span)


def log_of(record: Any, resource: dict[str, Any]) -> RawLog | BadPart:
    """Return one OTLP log record in any JSON spelling."""
    try:
        return log_of_message(LogRecord.from_dict(_normalised(record)), resource)
    except ODD_VALUE_ERRORS as error:
        return BadPart(f"not an OTLP log record: {error}", record)


def _canonical_span(span: dict[str, Any], resource: dict[str, Any]) -> RawSpan:
    """Read the collector's spelling straight from its dict: the reference reader costs four times as much."""
    get = span.get
    status = get("status") or _NO_STATUS
    code = status.get("code") or 0
    return RawSpan(
        _usual_id(span["traceId"]),
        _usual_id(get("spanId")),
        _usual_id(get("parentSpanId")),
        str(get("name") or ""),
        nanoseconds_of(get("startTimeUnixNano")),
        nanoseconds_of(get("endTimeUnixNano")),
        code if isinstance(code, int) else STATUS_CODES.get(code, 0),
        str(status.get("message") or ""),
        _attributes(get("attributes")),
        events_of(get("events")),
        links_of(get("links")),
        int(get("droppedAttributesCount") or 0),
        resource,
    )


_NO_STATUS: dict[str, Any] = {}
known_hex_id = lru_cache(maxsize=1 << 12)(hex_id)
"""`hex_id` of a text; the ids of a trace stand in each of its spans, and in their children."""


def _usual_id(value: Any) -> str:
    return known_hex_id(value) if type(value) is str else hex_id(value)


def events_of(events: Any) -> tuple[tuple[str, dict[str, Any]], ...]:
    """Return the name and attributes of each event of a span."""
    return tuple((str(event.get("name")), _attributes(event.get("attributes"))) for event in events) if events else ()


def links_of(links: Any) -> tuple[tuple[str, str], ...]:
    """Return the trace id and span id of each span that a span is linked to."""
    return tuple((hex_id(link.get("traceId")), hex_id(link.get("spanId"))) for link in links) if links else ()


def nanoseconds_of(value: Any) -> int:
    """Return a time of a span, in nanoseconds since 1970; 0 when there is none."""
    is_usual = isinstance(value, str) and len(value) == _DIGITS_OF_NS and value.isdecimal()
    return int(value) if is_usual else nanoseconds(value)


def _attributes(pairs: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pair in pairs or ():
        value = pair.get("value")
        if value:
            text = value.get("stringValue")
            found[pair["key"]] = text if text is not None else plain_value(value)
        else:
            found[pair["key"]] = None
    return found


def whole_number(held: Any) -> int | None:
    """Return a 64-bit number, which JSON spells as text; None for a text that is none, no fault of the span."""
    try:
        return int(held)
    except ValueError:
        return None


def plain_value(value: dict[str, Any]) -> Any:
    """Return the plain value of an AnyValue in JSON, None for bytes and for none."""
    for kind, held in value.items():
        if held is None:
            continue
        if kind == "intValue":
            return whole_number(held)
        if kind == "arrayValue":
            return [plain_value(item) for item in held.get("values") or ()]
        if kind == "kvlistValue":
            return {pair["key"]: plain_value(pair.get("value") or {}) for pair in held.get("values") or ()}
        if kind == "doubleValue":
            return float(held)
        return held if kind != "bytesValue" else None
    return None


def _normalised(value: Any) -> Any:
    """Bring snake case, nulls, base64 ids and enum names to the one spelling that the reference reader takes."""
    if isinstance(value, list):
        return [_normalised(item) for item in value]
    if not isinstance(value, dict):
        return value
    found: dict[str, Any] = {}
    for key, held in value.items():
        name = _CAMEL.get(key, str(key))
        if held is None or name in _UNREAD:
            continue
        if name in {"traceId", "spanId", "parentSpanId"}:
            found[name] = hex_id(held)
        elif name == "code" and isinstance(held, str):
            found[name] = STATUS_CODES.get(held, 0)
        elif name in {"startTimeUnixNano", "endTimeUnixNano", "timeUnixNano", "observedTimeUnixNano"}:
            found[name] = nanoseconds(held)
        else:
            found[name] = held if name in {"stringValue", "key"} else _normalised(held)
    return found


def span_of_message(span: Any, resource: dict[str, Any]) -> RawSpan:
    """Return the raw span of a message object: protobuf's own, or the JSON reference reader's, alike in names."""
    return RawSpan(
        hex_id(span.trace_id),
        hex_id(span.span_id),
        hex_id(span.parent_span_id),
        span.name,
        int(span.start_time_unix_nano),
        int(span.end_time_unix_nano),
        int(span.status.code or 0) if span.status else 0,
        (span.status.message or "") if span.status else "",
        attributes_of_message(span.attributes),
        tuple((event.name, attributes_of_message(event.attributes)) for event in span.events),
        tuple((hex_id(link.trace_id), hex_id(link.span_id)) for link in span.links),
        int(span.dropped_attributes_count or 0),
        resource,
    )


def log_of_message(record: Any, resource: dict[str, Any]) -> RawLog:
    """Return the raw log record of a message object; its event name is a field or an attribute."""
    attributes = attributes_of_message(record.attributes)
    name = record.event_name or attributes.get("event.name") or ""
    time_ns = int(record.time_unix_nano or 0) or int(record.observed_time_unix_nano or 0)
    raw = RawSpan(
        hex_id(record.trace_id), hex_id(record.span_id), "", str(name), time_ns, time_ns, 0, "", attributes,
        resource=resource,
    )  # fmt: skip
    return RawLog(raw, value_of_message(record.body))


def attributes_of_message(pairs: Any) -> dict[str, Any]:
    """Return key-value messages as a dict of plain values."""
    return {pair.key: value_of_message(pair.value) for pair in pairs}


def value_of_message(value: Any) -> Any:
    """Return the plain value of an AnyValue message, None for bytes and for none."""
    kind = _kind_of_value(value)
    if kind is None or kind == "bytes_value":
        return None
    held = getattr(value, kind)
    if kind == "array_value":
        return [value_of_message(item) for item in held.values]
    if kind == "kvlist_value":
        return attributes_of_message(held.values)
    return held


def _kind_of_value(value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, AnyValue):
        kind = value.WhichOneof("value")
        return str(kind) if kind is not None else None
    return next((kind for kind in _VALUE_KINDS if getattr(value, kind) is not None), None)


_VALUE_KINDS = ("string_value", "bool_value", "int_value", "double_value", "array_value", "kvlist_value")


def resource_of(holder: Any) -> dict[str, Any]:
    """Return the attributes of the resource that a message names; {} when they cannot be understood."""
    resource = holder.get("resource") if isinstance(holder, dict) else None
    pairs = resource.get("attributes") if isinstance(resource, dict) else None
    try:
        return _attributes(_normalised(pairs))
    except ODD_VALUE_ERRORS:
        return {}


def _listed(holder: Any, names: tuple[str, ...]) -> Iterator[Any]:
    if isinstance(holder, dict):
        for name in names:
            items = holder.get(name)
            yield from items if isinstance(items, list) else ()

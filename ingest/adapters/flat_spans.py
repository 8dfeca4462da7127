"""Read spans written flat: the SDK's console exporter, Phoenix's REST answers, UI downloads and data frames."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ingest.adapters.otlp_json import RawLog
from ingest.normalising import parsed_list
from ingest.reading.envelopes import ROW_LABEL
from ingest.traces.dialects.raw_span import RawSpan
from ingest.traces.identity import hex_id, nanoseconds
from ingest.traces.texts import parsed

_ERROR = frozenset({"ERROR", "STATUSCODE.ERROR", "STATUS_CODE_ERROR", "2"})
_SPAN_OR_TRACE = re.compile(r"[0-9a-f]{16}(?:[0-9a-f]{16})?")
_LISTED = ("llm.", "retrieval.", "reranker.", "annotations", "evaluations", "trace.", "session.", "message")
"""Where OpenInference spells lists of objects as flat keys, and data frames put them back together."""


def is_console_span(value: Any) -> bool:
    """Return whether `value` is a span as `span.to_json()` writes it; a root may leave its parent out."""
    context = value.get("context") if isinstance(value, dict) else None
    return isinstance(context, dict) and ("parent_id" in value or ("span_id" in context and "start_time" in value))


def is_console_log(value: Any) -> bool:
    """Return whether `value` is a log record as the SDK's console exporter writes it."""
    return isinstance(value, dict) and "severity_number" in value and "trace_id" in value and "body" in value


def console_span(value: dict[str, Any]) -> RawSpan:
    """Return a span of the console exporter, or of Phoenix's REST answer, whose shape is the same but for names."""
    context = value["context"]
    status = value.get("status")
    stated = status.get("status_code") if isinstance(status, dict) else value.get("status_code")
    message = status.get("description") if isinstance(status, dict) else value.get("status_message")
    resource = value.get("resource")
    attributes = flattened(value.get("attributes"))
    kind = value.get("span_kind")
    if isinstance(kind, str) and kind and kind != "UNKNOWN":
        attributes.setdefault("openinference.span.kind", kind)
    return RawSpan(
        hex_id(context.get("trace_id")),
        hex_id(context.get("span_id")),
        hex_id(value.get("parent_id")),
        str(value.get("name") or ""),
        nanoseconds(value.get("start_time")),
        nanoseconds(value.get("end_time")),
        2 if str(stated).upper() in _ERROR else 1,
        message if isinstance(message, str) else "",
        attributes,
        tuple(events_of(value.get("events"))),
        tuple(_links(value.get("links"))),
        int(value.get("dropped_attributes") or 0),
        flattened(resource.get("attributes")) if isinstance(resource, dict) else {},
    )


def console_log(value: dict[str, Any]) -> RawLog:
    """Return a log record of the console exporter."""
    attributes = flattened(value.get("attributes"))
    name = value.get("event_name") or attributes.get("event.name") or ""
    time_ns = nanoseconds(value.get("timestamp")) or nanoseconds(value.get("observed_timestamp"))
    raw = RawSpan(
        hex_id(value.get("trace_id")), hex_id(value.get("span_id")), "", str(name), time_ns, time_ns,
        attributes=attributes,
    )  # fmt: skip
    return RawLog(raw, parsed(value.get("body")))


def frame_span(row: Mapping[str, Any]) -> RawSpan:
    """Return a span of a Phoenix data frame row: `attributes.…` columns, some of them nested."""
    prefix = "attributes."
    attributes = flattened(
        {key[len(prefix) :]: value for key, value in row.items() if key.startswith(prefix) and not is_blank(value)}
    )
    kind = row.get("span_kind")
    if isinstance(kind, str) and kind and kind != "UNKNOWN":
        attributes.setdefault("openinference.span.kind", kind)
    message = row.get("status_message")
    return RawSpan(
        hex_id(row.get("context.trace_id")),
        hex_id(row.get("context.span_id") or row.get("span_id")) or label_id(row),
        hex_id(row.get("parent_id")),
        str(row.get("name") or ""),
        nanoseconds(row.get("start_time")),
        nanoseconds(row.get("end_time")),
        2 if str(row.get("status_code")).upper() in _ERROR else 1,
        message if isinstance(message, str) else "",
        attributes,
        tuple(events_of(row.get("events"))),
    )


def label_id(row: Mapping[str, Any]) -> str:
    """Return the id of a span or a trace that labels a row of a data frame; '' when there is none."""
    label = row.get(ROW_LABEL)
    return label if isinstance(label, str) and _SPAN_OR_TRACE.fullmatch(label) else ""


def is_blank(value: Any) -> bool:
    """Return whether a cell of a data frame is empty."""
    return value is None or (isinstance(value, float) and value != value)  # noqa: PLR0124 - NaN


def flattened(attributes: Any) -> dict[str, Any]:
    """Return nested attributes in their flat spelling: lists of objects become `key.N.field`."""
    found: dict[str, Any] = {}
    if isinstance(attributes, Mapping):
        for key, value in attributes.items():
            _flatten_into(found, str(key), value)
    return found


def _flatten_into(found: dict[str, Any], key: str, value: Any) -> None:
    is_listed = key.startswith(_LISTED)
    inner = parsed_list(value) if is_listed and key.endswith(("documents", "_messages")) else value
    if is_listed and isinstance(inner, list) and inner and all(isinstance(item, Mapping) for item in inner):
        for place, item in enumerate(inner):
            for field, held in item.items():
                _flatten_into(found, f"{key}.{place}.{field}", held)
    elif isinstance(inner, Mapping) and not key.endswith("metadata"):
        for field, held in inner.items():
            _flatten_into(found, f"{key}.{field}", held)
    elif not is_blank(inner):
        found[key] = inner


def events_of(events: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and attributes of each event of a span."""
    for event in events if isinstance(events, list) else ():
        if isinstance(event, Mapping):
            yield str(event.get("name") or ""), flattened(event.get("attributes"))


def _links(links: Any) -> Iterator[tuple[str, str]]:
    for link in links if isinstance(links, list) else ():
        context = link.get("context") if isinstance(link, Mapping) else None
        if isinstance(context, Mapping):
            yield hex_id(context.get("trace_id")), hex_id(context.get("span_id"))

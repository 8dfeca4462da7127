"""The spans of OTLP JSON messages in the collector's own spelling, as typed objects; others are refused."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec
import orjson

from ingest.adapters.otlp_json import (
    STATUS_CODES,
    events_of,
    known_hex_id,
    links_of,
    nanoseconds_of,
    plain_value,
    resource_of,
    whole_number,
)
from ingest.traces.dialects.raw_span import RawSpan


class UsualValue(msgspec.Struct, gc=False, forbid_unknown_fields=True, rename="camel"):
    """The value of an attribute; one of its fields is set, or none."""

    string_value: str | None = None
    int_value: str | int | None = None
    double_value: float | None = None
    bool_value: bool | None = None
    array_value: dict[str, Any] | None = None
    kvlist_value: dict[str, Any] | None = None
    bytes_value: str | None = None

    def plain(self) -> Any:
        """Return what is set as a plain value."""
        if self.string_value is not None:
            return self.string_value
        if self.int_value is not None:
            return whole_number(self.int_value)
        if self.double_value is not None:
            return self.double_value
        if self.bool_value is not None:
            return self.bool_value
        for kind, held in (("arrayValue", self.array_value), ("kvlistValue", self.kvlist_value)):
            if held is not None:
                return plain_value({kind: held})
        return None


class UsualAttribute(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """One attribute of a span."""

    key: str
    value: UsualValue | None = None


class _Status(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    code: int | str | None = None
    message: str | None = None


class UsualSpan(msgspec.Struct, gc=False, forbid_unknown_fields=True, rename="camel"):
    """One span as it stands in the line."""

    trace_id: str
    span_id: str
    parent_span_id: str | None = None
    name: str | None = None
    start_time_unix_nano: str | int | None = None
    end_time_unix_nano: str | int | None = None
    attributes: list[UsualAttribute] | None = None
    status: _Status | None = None
    events: list[dict[str, Any]] | None = None
    links: list[dict[str, Any]] | None = None
    dropped_attributes_count: int | None = None
    dropped_events_count: int | None = None
    dropped_links_count: int | None = None
    kind: int | str | None = None
    flags: int | None = None
    trace_state: str | None = None


class _Scope(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    spans: list[UsualSpan]
    scope: msgspec.Raw = msgspec.Raw(b"null")
    schema_url: str | None = None


class _Resource(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    scope_spans: list[_Scope]
    resource: msgspec.Raw = msgspec.Raw(b"null")
    schema_url: str | None = None


class _Message(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    resource_spans: list[_Resource]


UNUSUAL_ERRORS = (msgspec.DecodeError, orjson.JSONDecodeError, RecursionError)
"""What is raised for a message that has anything in it that is spelled in another way, or is no JSON."""
_decode = msgspec.json.Decoder(_Message).decode
_NO_STATUS = _Status()


def spans_of(line: bytes) -> Iterator[tuple[UsualSpan, dict[str, Any]]]:
    """Yield the spans of a message with the attributes of their resource; raises one of UNUSUAL_ERRORS."""
    for resource_spans in _decode(line).resource_spans:
        resource = resource_of_text(bytes(resource_spans.resource))
        for scope in resource_spans.scope_spans:
            scope_of_text(bytes(scope.scope))
            for span in scope.spans:
                yield span, resource


@lru_cache(maxsize=256)
def scope_of_text(text: bytes) -> Any:
    """Parse what is passed over, so that its faults are found all the same; it is the same in line after line."""
    return orjson.loads(text)


@lru_cache(maxsize=256)
def resource_of_text(text: bytes) -> dict[str, Any]:
    """Return the attributes of a resource, the same object for the same text; raises one of UNUSUAL_ERRORS."""
    return resource_of({"resource": orjson.loads(text)})


def raw_span(span: UsualSpan, resource: dict[str, Any]) -> RawSpan:
    """Return the span as every dialect can read it."""
    status = span.status or _NO_STATUS
    code = status.code or 0
    return RawSpan(
        known_hex_id(span.trace_id),
        known_hex_id(span.span_id),
        known_hex_id(span.parent_span_id or ""),
        span.name or "",
        nanoseconds_of(span.start_time_unix_nano),
        nanoseconds_of(span.end_time_unix_nano),
        code if isinstance(code, int) else STATUS_CODES.get(code, 0),
        status.message or "",
        {entry.key: entry.value and entry.value.plain() for entry in span.attributes or ()},
        events_of(span.events),
        links_of(span.links),
        span.dropped_attributes_count or 0,
        resource,
    )

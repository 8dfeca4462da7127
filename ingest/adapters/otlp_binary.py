"""Undo the OTLP container in protobuf: a whole message, or length-prefixed ones as the collector writes them."""

import struct
from collections.abc import Iterator
from typing import Any

from google.protobuf.message import DecodeError
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from ingest.adapters.otlp_json import (
    BadPart,
    Part,
    attributes_of_message,
    log_of_message,
    span_of_message,
)

_PREFIX = struct.Struct(">I")


def parts_of_bytes(message: bytes) -> Iterator[Part]:
    """Yield the spans and log records of a protobuf message, or a BadPart when it is none of ours."""
    found = _parts_of_message(message)
    if not found:
        frames = _frames(message)
        found = [part for frame in frames for part in _parts_of_message(frame)]
    if found:
        yield from found
    else:
        yield BadPart("bytes that are no OTLP protobuf message", message[:200].hex())


def holds_spans(message: bytes) -> bool:
    """Return whether `message` is OTLP protobuf with at least one span or log record."""
    return any(not isinstance(part, BadPart) for part in parts_of_bytes(message))


def _parts_of_message(message: bytes) -> list[Part]:
    # Both kinds of message share their outer field numbers; only the right reading finds ids in the innermost.
    return list(_spans(_message(TracesData, message))) or list(_records(_message(LogsData, message)))


def _message(kind: Any, message: bytes) -> Any:
    found = kind()
    try:
        found.ParseFromString(message)
    except DecodeError:
        return kind()
    return found


def _spans(traces: Any) -> Iterator[Part]:
    for resource_spans in traces.resource_spans:
        resource = attributes_of_message(resource_spans.resource.attributes)
        for scope in resource_spans.scope_spans:
            for span in scope.spans:
                if span.trace_id and span.span_id:
                    yield span_of_message(span, resource)


def _records(logs: Any) -> Iterator[Part]:
    for resource_logs in logs.resource_logs:
        resource = attributes_of_message(resource_logs.resource.attributes)
        for scope in resource_logs.scope_logs:
            for record in scope.log_records:
                if record.trace_id or record.event_name or record.time_unix_nano:
                    yield log_of_message(record, resource)


def _frames(message: bytes) -> list[bytes]:
    frames = []
    place = 0
    while place + _PREFIX.size <= len(message):
        (length,) = _PREFIX.unpack_from(message, place)
        place += _PREFIX.size
        if not 0 < length <= len(message) - place:
            return []
        frames.append(message[place : place + length])
        place += length
    return frames if place == len(message) else []

"""Read OTLP JSON in the collector's own spelling straight into typed spans; other spellings are left to `otlp_json`."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import msgspec
import orjson

from ingest.adapters.base import Outcome, Span, UsualLines
from ingest.adapters.guarding import ODD_VALUE_ERRORS
from ingest.adapters.otlp_json import (
    CANONICAL_TRACE_ID,
    STATUS_CODES,
    events_of,
    known_hex_id,
    links_of,
    nanoseconds_of,
    plain_value,
    resource_of,
    whole_number,
)
from ingest.adapters.raw_spans import read_raw_span
from ingest.traces.dialects.attribute_columns import Unusual
from ingest.traces.dialects.openinference_columns import read_together
from ingest.traces.dialects.openinference_shapes import Shape, shape_of
from ingest.traces.dialects.raw_span import RawSpan
from ingest.traces.facts import LAST_NS, facts_of_columns


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


_decode = msgspec.json.Decoder(_Message).decode
_UNFAILED = (1, 0, None)
_ID_SIZES = frozenset({0, 16, 32})
_TIME_SIZES = frozenset({19})
_NO_IDS = frozenset({"0" * 16, "0" * 32})


class _Left(ValueError):  # noqa: N818 - no error: the full reader takes over
    """There is more to a line than the usual spans."""


class _Group(NamedTuple):
    """Spans that are read together: they have the same attributes, kind and resource."""

    shape: Shape
    kind: str
    resource: dict[str, Any]
    spans: list[UsualSpan]


class _Shaped(NamedTuple):
    """The groups of one shape, by kind and by the identity of their resource."""

    shape: Shape
    groups: dict[tuple[str, int], _Group]


class _Reading:
    """The spans of some lines, put into groups that are read together."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self._shaped: dict[tuple[str, ...], _Shaped | None] = {}
        self.rest: list[Outcome] = []
        self._alone: list[Span] = []

    def take(self, line: bytes) -> bool:
        """Take the spans of a line and return true; take none when the line has to be read in full."""
        groups: list[_Group] = []
        spans: list[UsualSpan] = []
        alone: list[Outcome] = []
        try:
            for span, resource in _spans_of(_decode(line)):
                group = self._group_of(span, resource)
                if group is None:
                    alone.extend(read_raw_span(_raw_span(span, resource)))
                else:
                    groups.append(group)
                    spans.append(span)
        except (msgspec.DecodeError, *ODD_VALUE_ERRORS):
            return False
        for group, span in zip(groups, spans, strict=True):
            group.spans.append(span)
        self._take_alone(alone)
        return bool(groups or alone)

    def _take_alone(self, outcomes: Iterable[Outcome]) -> None:
        for outcome in outcomes:
            if isinstance(outcome, Span):
                self.texts.update(outcome.texts or {})
                self._alone.append(outcome)
            else:
                self.rest.append(outcome)

    def _group_of(self, span: UsualSpan, resource: dict[str, Any]) -> _Group | None:
        """Return the spans that a span is read together with; None when it is read alone."""
        if len(span.trace_id) != CANONICAL_TRACE_ID:
            raise _Left
        attributes, status = span.attributes, span.status
        if not attributes or (status is not None and status.code not in _UNFAILED):
            return None
        keys = tuple([attribute.key for attribute in attributes])
        try:
            shaped = self._shaped[keys]
        except KeyError:
            shape = shape_of(keys)
            shaped = self._shaped[keys] = _Shaped(shape, {}) if shape is not None else None
        if shaped is None:
            return None
        value = attributes[shaped.shape.kind].value
        kind = value.string_value if value is not None else None
        if kind is None:
            return None
        key = kind, id(resource)
        group = shaped.groups.get(key)
        if group is None:
            group = shaped.groups[key] = _Group(shaped.shape, kind, resource, [])
        return group

    def spans(self) -> list[Span]:
        """Return the staged form of all spans taken; raises one of ODD_VALUE_ERRORS for what no span can hold."""
        together = [span for group in self.groups() for span in self._together(group)]
        return [*self._alone, *together]

    def groups(self) -> list[_Group]:
        """Return the groups that have spans."""
        found = (group for shaped in self._shaped.values() if shaped for group in shaped.groups.values())
        return [group for group in found if group.spans]

    def _together(self, group: _Group) -> list[Span]:
        spans = group.spans
        names = [span.name or "" for span in spans]
        try:
            attributes = [span.attributes or () for span in spans]
            said = read_together(group.shape, group.kind, attributes, names, group.resource)
        except Unusual:
            self._take_alone(made for span in spans for made in read_raw_span(_raw_span(span, group.resource)))
            return []
        self.texts.update(said.texts)
        ends = _times([span.end_time_unix_nano for span in spans])
        starts = _times([span.start_time_unix_nano for span in spans])
        parents = _ids([span.parent_span_id or "" for span in spans])
        dropped = [span.dropped_attributes_count or 0 for span in spans]
        fields = {**said.fields, "name": names, "parent": parents, "end_ns": ends, "dropped": dropped}
        facts = facts_of_columns(fields, len(spans))
        trace_ids, span_ids = _ids([span.trace_id for span in spans]), _ids([span.span_id for span in spans])
        if not (all(trace_ids) and all(span_ids)):
            raise _Left
        versions = _stored([end or start for end, start in zip(ends, starts, strict=True)])
        columns = (trace_ids, span_ids, facts, _stored(starts), versions, said.user_ids, [None] * len(spans))
        return list(map(_as_span, zip(*columns, [""] * len(spans), strict=True)))


_as_span = partial(tuple.__new__, Span)
"""`Span._make`, at a third of its cost."""


def read_usual_lines(lines: Sequence[bytes]) -> UsualLines:
    """Read the lines that are messages in the usual spelling; a line with anything else in it is left."""
    reading = _Reading()
    left = [at for at, line in enumerate(lines) if not reading.take(line)]
    try:
        return UsualLines(reading.spans(), reading.texts, reading.rest, left)
    except ODD_VALUE_ERRORS:  # such as a number that is none, of which the full reader knows the place
        return _read_one_by_one(lines)


def _read_one_by_one(lines: Sequence[bytes]) -> UsualLines:
    if len(lines) == 1:
        return UsualLines([], {}, [], [0])
    out = UsualLines([], {}, [], [])
    for at, line in enumerate(lines):
        found = read_usual_lines([line])
        out.spans.extend(found.spans)
        out.texts.update(found.texts)
        out.rest.extend(found.rest)
        out.left.extend([at] if found.left else [])
    return out


def _spans_of(message: _Message) -> Iterator[tuple[UsualSpan, dict[str, Any]]]:
    for resource_spans in message.resource_spans:
        resource = _resource_of(bytes(resource_spans.resource))
        for scope in resource_spans.scope_spans:
            _parsed(bytes(scope.scope))
            for span in scope.spans:
                yield span, resource


@lru_cache(maxsize=256)
def _parsed(text: bytes) -> Any:
    """Parse what is passed over, so that its faults are found all the same; it is the same in line after line."""
    return orjson.loads(text)


@lru_cache(maxsize=256)
def _resource_of(text: bytes) -> dict[str, Any]:
    return resource_of({"resource": _parsed(text)})


def _raw_span(span: UsualSpan, resource: dict[str, Any]) -> RawSpan:
    """Return the span as every dialect can read it; raises ValueError for a number that is none."""
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


_NO_STATUS = _Status()


def _ids(written: list[str]) -> list[str]:
    """Return ids in their one spelling; a look at all together tells that they have it already."""
    joined = "".join(written)
    if not joined:
        return written
    try:
        bytes.fromhex(joined)
    except ValueError:
        return list(map(known_hex_id, written))
    is_plain = joined.isalnum() and joined == joined.lower() and _ID_SIZES.issuperset(map(len, written))
    return written if is_plain and _NO_IDS.isdisjoint(written) else list(map(known_hex_id, written))


def _times(written: list[Any]) -> list[int]:
    """Return times in nanoseconds since 1970; a look at all together tells that they are such numbers."""
    try:
        joined = "".join(written)
    except TypeError:  # numbers, or none
        return list(map(nanoseconds_of, written))
    is_plain = joined.isdecimal() and _TIME_SIZES.issuperset(map(len, written))
    return list(map(int, written)) if is_plain else list(map(nanoseconds_of, written))


def _stored(times: list[int]) -> list[int]:
    return times if max(times) <= LAST_NS else [min(time, LAST_NS) for time in times]

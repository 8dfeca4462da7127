"""Read lines of OTLP JSON in the collector's own spelling, spans of one shape together; others are left."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from ingest.adapters.base import Outcome, Span, UsualLines
from ingest.adapters.guarding import ODD_VALUE_ERRORS
from ingest.adapters.otlp_json import CANONICAL_TRACE_ID, known_hex_id, nanoseconds_of
from ingest.adapters.otlp_messages import UNUSUAL_ERRORS, UsualSpan, raw_span, spans_of
from ingest.adapters.raw_spans import read_raw_span
from ingest.traces.dialects.attribute_columns import Unusual
from ingest.traces.dialects.openinference_columns import read_together
from ingest.traces.dialects.openinference_shapes import Shape, shape_of
from ingest.traces.facts import LAST_NS, facts_of_columns

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
            for span, resource in spans_of(line):
                group = self._group_of(span, resource)
                if group is None:
                    alone.extend(read_raw_span(raw_span(span, resource)))
                else:
                    groups.append(group)
                    spans.append(span)
        except (*UNUSUAL_ERRORS, *ODD_VALUE_ERRORS):
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
            self._take_alone(made for span in spans for made in read_raw_span(raw_span(span, group.resource)))
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

"""Shapes in which an interaction is not one record: conversations, a row a message or a chunk, event streams."""

import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from ingest.adapters.base import Span, Trace
from ingest.adapters.mapping_file import InteractionsSection, MessagesSpec, TurnsSpec
from ingest.adapters.mapping_paths import compile_path
from ingest.normalising import instant, text
from ingest.staging import as_json, nanoseconds

Record = dict[str, Any]


class Expanded(NamedTuple):
    """The turns of conversation documents as records, and where each document stood."""

    origins: list[int]
    """Row of the document of each turn."""
    records: list[Record]
    empty: list[int]
    """Rows of documents without a single question."""


def expand_turns(spec: TurnsSpec, documents: list[Record]) -> Expanded:
    """Make one record a turn: the keys of the document, `user`, `assistant` (or None), `turn` and `document`."""
    origins: list[int] = []
    records: list[Record] = []
    empty = []
    for row, document in enumerate(documents):
        turns = _turns_of(spec, document)
        origins.extend([row] * len(turns))
        records.extend(turns)
        if not turns:
            empty.append(row)
    return Expanded(origins, records, empty)


def _turns_of(spec: TurnsSpec, document: Record) -> list[Record]:
    messages = compile_path(spec.list).get(document)
    if isinstance(messages, dict):
        messages = list(messages.values())
    if not isinstance(messages, list):
        return []
    return [
        {**document, "document": document, "user": user, "assistant": answer, "turn": turn}
        for turn, (user, answer) in enumerate(paired(messages, spec))
    ]


def paired(messages: list[Any], spec: TurnsSpec | MessagesSpec) -> list[tuple[Any, Any]]:
    """Pair each user message with what answers it: by parent id where there is one, else the next answer in order.

    Several answers to one question, as when a user asks for another, are a pair each when parent ids tell them apart;
    else they are pieces of one answer, of which the last stays.
    """
    role_of = compile_path(spec.role).get
    pairs: list[tuple[Any, Any]] = []
    by_id: dict[str, int] = {}
    for message in messages:
        role = str(role_of(message)).lower()
        if role in spec.user_roles:
            by_id[_text_at(spec.message_id, message)] = len(pairs)
            pairs.append((message, None))
        elif role in spec.assistant_roles and pairs:
            parent = _text_at(spec.parent_id, message)
            place = by_id.get(parent, len(pairs) - 1) if parent else len(pairs) - 1
            if parent and pairs[place][1] is not None:
                pairs.append((pairs[place][0], message))
            else:
                pairs[place] = (pairs[place][0], message)
    return pairs


def _text_at(path: str, message: Any) -> str:
    return text(compile_path(path).get(message)) or "" if path else ""


class SpanShape(Protocol):
    """A shape whose records are staged and put together once all are there."""

    def spans(self, file: str, lines: list[int], records: list[Record]) -> list[Span]:
        """Return a span for every record."""

    def records(self, trace: Trace) -> Iterator[Record]:
        """Return the records that one trace makes, for the paths of the mapping to read."""


def span_shape(section: InteractionsSection) -> SpanShape | None:
    """Return the shape of a mapping whose interactions spread over records, None when each stands alone."""
    if section.messages is not None:
        return _Messages(section.messages)
    if section.retrieved is not None and section.retrieved.rows is not None:
        return _ChunkRows(section.retrieved.rows.group_by, section.retrieved.rows.rank)
    return _Events(section.trace) if section.trace else None


class _Messages:
    """One row a message."""

    def __init__(self, spec: MessagesSpec) -> None:
        self.spec = spec

    def spans(self, file: str, lines: list[int], records: list[Record]) -> list[Span]:
        spec = self.spec
        session, at = compile_path(spec.session).get, compile_path(spec.time).get if spec.time else None
        native = compile_path(spec.message_id).get if spec.message_id else None
        return [
            Span(
                trace_id=text(session(record)) or "",
                span_id=(native and text(native(record))) or _content_id(record),
                payload={**record, "_place": [file, line]},
                started_ns=_time_ns(at and at(record)),
            )
            for line, record in zip(lines, records, strict=True)
        ]

    def records(self, trace: Trace) -> Iterator[Record]:
        rows = [span.payload for span in sorted(trace.spans, key=_in_order)]
        for turn, (user, assistant) in enumerate(paired(rows, self.spec)):
            yield {"user": user, "assistant": assistant, "turn": turn}


class _ChunkRows:
    """One row a chunk; the rows of one interaction share an id."""

    def __init__(self, group_by: str, rank: str) -> None:
        self.group_by, self.rank = group_by, rank

    def spans(self, file: str, lines: list[int], records: list[Record]) -> list[Span]:
        group = compile_path(self.group_by).get
        return [
            Span(text(group(record)) or "", _content_id(record), {**record, "_place": [file, line]})
            for line, record in zip(lines, records, strict=True)
        ]

    def records(self, trace: Trace) -> Iterator[Record]:
        rows = [span.payload for span in sorted(trace.spans, key=_in_order)]
        if self.rank:
            rank = compile_path(self.rank).get
            rows.sort(key=lambda row: _sortable(rank(row)))
        if rows:
            yield {**rows[0], "rows": rows}


class _Events:
    """Several records a turn, such as callback events of one run."""

    def __init__(self, trace: str) -> None:
        self.trace = trace

    def spans(self, file: str, lines: list[int], records: list[Record]) -> list[Span]:
        group = compile_path(self.trace).get
        return [
            Span(text(group(record)) or "", _content_id(record), {**record, "_place": [file, line]})
            for line, record in zip(lines, records, strict=True)
        ]

    def records(self, trace: Trace) -> Iterator[Record]:
        events = [span.payload for span in sorted(trace.spans, key=_in_order)]
        yield {"trace_id": trace.trace_id, "events": events}


def _in_order(span: Span) -> tuple[Any, ...]:
    file, line = span.payload.get("_place") or ("", 0)
    return (span.started_ns, file, line, span.span_id)


def _content_id(record: Record) -> str:
    return hashlib.blake2b(as_json(record).encode("utf-8", "replace"), digest_size=12).hexdigest()


def _time_ns(value: Any) -> int:
    try:
        found = instant(value)
    except (ValueError, TypeError, OverflowError, ArithmeticError):
        return 0
    return nanoseconds(found and found.at)


def _sortable(value: Any) -> tuple[int, float, str]:
    try:
        return (0, float(value), "")
    except (TypeError, ValueError):
        return (1, 0.0, str(value))

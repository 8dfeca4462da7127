"""Puts together traces of which all spans were read the usual way: each is written in one piece and one turn."""

from collections.abc import Collection, Iterable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec

from ingest.adapters.base import Span, Trace
from ingest.spans.privacy import SpanRedactor, hinted_spans, is_named, redacted_spans
from ingest.spans.rows import packed
from ingest.staging import StagedRows
from ingest.traces.plain_forms import Form, form_of
from ingest.traces.plain_turns import FormedTrace, add_turns

_UNWRITABLE = (TypeError, ValueError, OverflowError)
_place = itemgetter(Span._fields.index("started_ns"), Span._fields.index("span_id"))
_encode_lines = msgspec.json.Encoder().encode_lines


class UsualSpans(NamedTuple):
    """Spans as they were read, not yet redacted."""

    spans: list[Span]
    source: str
    """The source of the interactions made of them."""
    redactor: SpanRedactor


class UsualTraces(NamedTuple):
    """The rows of traces that are one plain turn each, and the redacted spans of all others."""

    rows: list[tuple[Any, ...]]
    left: list[Span]


class _Written(NamedTuple):
    formed: FormedTrace
    users: dict[str, str]
    """User ids and their hashes."""


def put_usual_together(usual: UsualSpans, adapter: str, torn: Collection[str], made: StagedRows) -> UsualTraces:
    """Add to `made` the turns of traces that nothing has to be redacted in; `torn` are traces with spans elsewhere."""
    redactor = usual.redactor
    left: list[Span] = []
    whole: list[_Written] = []
    hinted = {usual.spans[at].trace_id for at in hinted_spans(redactor, usual.spans)}
    for trace_id, spans in by_trace(usual.spans).items():
        if len(spans) > 1:
            spans.sort(key=_place)
        form = None if trace_id in torn or trace_id in hinted else _form(spans)
        if form is None:
            left.extend(spans)
        else:
            users = {user: redactor.hash_user(user) for span in spans if (user := span.user_id)}
            whole.append(_Written(FormedTrace(Trace(trace_id, tuple(spans)), form), users))
    rows = []
    plain = []
    for written, text in zip(whole, _texts(whole, adapter), strict=True):
        trace = written.formed.trace
        if text is None or any(is_named(user, text) for user in written.users):
            left.extend(trace.spans)
        else:
            plain.append(written.formed)
            made_of = [f"{usual.source}:{trace.trace_id}"]
            last_ns = trace.spans[-1].started_ns
            rows.append(
                (trace.trace_id, len(trace.spans), last_ns, [*written.users.values()], made_of, packed(text.encode()))
            )
    add_turns(made, plain, usual.source, hash_user=redactor.hash_user)
    return UsualTraces(rows, redacted_spans(redactor, left))


def _form(spans: Sequence[Span]) -> Form | None:
    """Return the form of a trace whose spans are in order, None when one of them comes twice."""
    form = form_of(spans)
    return form if form is not None and len({span.span_id for span in spans}) == len(spans) else None


def _texts(traces: Iterable[_Written], adapter: str) -> list[str | None]:
    """Return the spans of each trace in the form in which the store keeps them."""
    staged = [
        [
            (span_id, adapter, started_ns, version_ns, users[user] if user else None, payload)
            for _, span_id, payload, started_ns, version_ns, user, _, _ in formed.trace.spans
        ]
        for formed, users in traces
    ]
    try:
        return [*_encode_lines(staged).decode().split("\n")[: len(staged)]]
    except _UNWRITABLE:
        return [None] * len(staged)


def by_trace(spans: Iterable[Span]) -> dict[str, list[Span]]:
    """Return spans by the trace they belong to."""
    traces: dict[str, list[Span]] = {}
    for span in spans:
        known = traces.get(span.trace_id)
        if known is None:
            traces[span.trace_id] = [span]
        else:
            known.append(span)
    return traces

"""Puts together, in the process that read them, the traces whose spans stand side by side in one block."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import pyarrow as pa

from ingest.adapters.base import Outcome, Span, Trace
from ingest.adapters.guarding import ODD_VALUE_ERRORS
from ingest.interaction import Interaction
from ingest.spans.rows import in_order, read_payload
from ingest.spans.staging import trace_row, trace_table
from ingest.spans.usual_traces import UsualSpans, by_trace, put_usual_together
from ingest.staging import StagedRows
from ingest.traces.facts import SpanFacts, payload_text
from ingest.traces.plain_turns import put_together_alike

Assemble = Callable[[Trace], Iterable[Outcome]]
"""What an adapter makes of a trace."""


class WholeTraces(NamedTuple):
    """The traces of a block, and the interactions made of those that need no second look."""

    table: pa.Table
    made: StagedRows


def put_together(
    spans: Iterable[Span],
    adapter: str,
    assemble: Assemble | None,
    turn_source: str = "",
    usual: UsualSpans | None = None,
) -> WholeTraces:
    """Return the traces that redacted spans make up, and spans read the `usual` way, with their interactions.

    Only a trace that is interactions and nothing else is taken here: what is skipped or cautioned is counted once,
    when every file is read. `turn_source` says that `assemble` is that of `traces.assembly`, with this source.
    """
    made = StagedRows()
    traces = by_trace(spans)
    rows: list[tuple[Any, ...]] = []
    if usual is not None:
        rows, left = put_usual_together(usual, adapter, traces, made)
        for span in left:
            traces.setdefault(span.trace_id, []).append(span)
    ordered = {trace_id: in_order(found) for trace_id, found in traces.items()}
    ids = _made_of(ordered, assemble, turn_source, made) if assemble is not None else {}
    rows.extend(trace_row(trace_id, found, adapter, ids.get(trace_id)) for trace_id, found in ordered.items())
    return WholeTraces(trace_table(rows), made)


def _made_of(
    ordered: dict[str, list[Span]], assemble: Assemble, turn_source: str, made: StagedRows
) -> dict[str, list[str]]:
    """Add to `made` the interactions of the traces that are nothing else, and return their ids by trace."""
    traces = [Trace(trace_id, tuple([_as_read_again(span) for span in found])) for trace_id, found in ordered.items()]
    plain = put_together_alike(traces if turn_source else (), turn_source, made)
    ids = {trace_id: [interaction_id] for trace_id, interaction_id in plain.items()}
    for trace in traces:
        interactions = None if trace.trace_id in ids else _interactions(trace, assemble)
        for interaction in interactions or ():
            made.take(interaction)
        if interactions:
            ids[trace.trace_id] = [interaction.interaction_id for interaction in interactions]
    return ids


def _interactions(trace: Trace, assemble: Assemble) -> list[Interaction] | None:
    try:
        made = list(assemble(trace))
    except ODD_VALUE_ERRORS:
        return None  # the assembly at the end says so
    for outcome in made:
        if not isinstance(outcome, Interaction):
            return None
    return made  # type: ignore[return-value] # nothing else is left


_PLAIN = frozenset({str, float, bool, type(None)})


def _as_read_again(span: Span) -> Span:
    """Return a span as the store gives it back, which for plain values is as it is: late spans change nothing else."""
    facts = span.payload
    if isinstance(facts, SpanFacts):
        for value in facts.metadata.values():
            if type(value) not in _PLAIN:
                break
        else:
            return span
    return span._replace(payload=read_payload(span.written or payload_text(facts)))

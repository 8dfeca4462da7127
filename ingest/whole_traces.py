"""Puts together, in the process that read them, the traces whose spans stand side by side in one block."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import pyarrow as pa

from ingest.adapters.base import Outcome, Span, Trace
from ingest.adapters.guarding import ODD_VALUE_ERRORS
from ingest.interaction import Interaction
from ingest.span_staging import trace_row, trace_table
from ingest.staging import StagedRows
from ingest.trace_rows import in_order, read_payload
from ingest.traces.facts import SpanFacts, payload_text

Assemble = Callable[[Trace], Iterable[Outcome]]
"""What an adapter makes of a trace."""


class WholeTraces(NamedTuple):
    """The traces of a block, and the interactions made of those that need no second look."""

    table: pa.Table
    made: StagedRows


def put_together(spans: Iterable[Span], adapter: str, assemble: Assemble | None) -> WholeTraces:
    """Return the traces that redacted spans make up, with their interactions.

    Only a trace that is interactions and nothing else is taken here: what is skipped or cautioned is counted once,
    when every file is read.
    """
    made = StagedRows()
    rows: list[tuple[Any, ...]] = []
    for trace_id, found in _by_trace(spans).items():
        ordered = in_order(found)
        interactions = _interactions(trace_id, ordered, assemble) if assemble is not None else None
        for interaction in interactions or ():
            made.take(interaction)
        ids = [interaction.interaction_id for interaction in interactions] if interactions else None
        rows.append(trace_row(trace_id, ordered, adapter, ids))
    return WholeTraces(trace_table(rows), made)


def _by_trace(spans: Iterable[Span]) -> dict[str, list[Span]]:
    traces: dict[str, list[Span]] = {}
    for span in spans:
        known = traces.get(span.trace_id)
        if known is None:
            traces[span.trace_id] = [span]
        else:
            known.append(span)
    return traces


def _interactions(trace_id: str, spans: list[Span], assemble: Assemble) -> list[Interaction] | None:
    try:
        made = list(assemble(Trace(trace_id, tuple([_as_read_again(span) for span in spans]))))
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

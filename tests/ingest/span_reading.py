"""Run a span adapter in memory: stage what it reads, then assemble trace by trace, as the ingest does."""

import random
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar

import orjson

from ingest.adapters.base import Caution, Record, Reject, Skip, Span, SpanAdapter, Trace
from ingest.interaction import FeedbackEvent, Interaction
from ingest.traces.facts import payload_text

Kind = TypeVar("Kind")


class Read(NamedTuple):
    """What came out, interactions in order of time."""

    interactions: list[Interaction]
    votes: list[FeedbackEvent]
    skips: list[str]
    rejects: list[Reject]
    cautions: list[Caution]

    @property
    def only(self) -> Interaction:
        """The one interaction there is."""
        (interaction,) = self.interactions
        return interaction


def read_values(adapter: SpanAdapter, values: Iterable[Any], *, shuffled_by: int | None = None) -> Read:
    """Return what `adapter` makes of records with `values`, staged in any order."""
    records = [Record("sample", place + 1, value) for place, value in enumerate(values)]
    if shuffled_by is not None:
        random.Random(shuffled_by).shuffle(records)  # noqa: S311 - an order, not a secret
    outcomes = list(adapter.read(records))
    traces: dict[str, dict[str, Span]] = {}
    texts: dict[str, str] = {}
    for span in (outcome for outcome in outcomes if isinstance(outcome, Span)):
        texts.update(span.texts or {})
        known = traces.setdefault(span.trace_id, {})
        stored = span._replace(payload=orjson.loads(payload_text(span.payload)))
        if span.span_id not in known or _rank(stored) > _rank(known[span.span_id]):
            known[span.span_id] = stored
    for trace_id, spans in traces.items():
        ordered = sorted(spans.values(), key=lambda span: (span.started_ns, span.span_id))
        outcomes.extend(adapter.assemble(Trace(trace_id, tuple(ordered))))
    made = [_with_texts(interaction, texts) for interaction in _of(outcomes, Interaction)]
    return Read(
        sorted(made, key=lambda made: (str(made.asked_at), made.interaction_id)),
        _of(outcomes, FeedbackEvent),
        [skip.reason for skip in _of(outcomes, Skip)],
        _of(outcomes, Reject),
        _of(outcomes, Caution),
    )


def _with_texts(made: Interaction, texts: dict[str, str]) -> Interaction:
    chunks = (chunk._replace(text=texts.get(chunk.text_hash or ""), text_hash=None) for chunk in made.retrieved)
    return made._replace(retrieved=tuple(chunks))


def _rank(span: Span) -> tuple[int, int, bytes]:
    payload = payload_text(span.payload).encode()
    return (span.version_ns, len(payload), payload)


def _of(outcomes: list[Any], kind: type[Kind]) -> list[Kind]:
    return [outcome for outcome in outcomes if isinstance(outcome, kind)]

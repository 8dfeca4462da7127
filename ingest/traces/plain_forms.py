"""The form of a trace: which of its spans says what, when it is one turn in which nothing is out of the ordinary."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ingest.adapters.base import Span
from ingest.traces.facts import SpanFacts
from ingest.traces.several_turns import BESIDE, is_batch
from ingest.traces.turn import question_of

SPEAKING = frozenset({"agent", "chain"})
_ENTRIES = SPEAKING | {"llm"}
_RETRIEVING = frozenset({"retriever", "reranker"})
_CLIENT_ERROR = 400
_MOST_FORMS = 1 << 12


class Place(NamedTuple):
    """What of a span decides the form of its trace."""

    kind: str
    parent: int
    """The place of the span above it; -1 for none that is known."""
    has_chunks: bool


class Form(NamedTuple):
    """The places of spans, in order of time, by what they are to the turn."""

    size: int
    """How many spans there are, those of other software among them."""
    entry: int
    order: tuple[int, ...]
    """The entry and then all spans of AI software: where what stands on any of them is looked for."""
    speaking: tuple[int, ...]
    """Chains and agents, the higher ones first."""
    models: tuple[int, ...]
    """Model calls that hold no other."""
    retrieving: tuple[int, ...]
    """Retrievers and rerankers."""
    steps: tuple[tuple[int, str], ...]
    """The spans whose passages count, and whether each retrieved or reranked."""
    may_be_turns: bool
    """Whether what stands below an entry that says nothing may be turns of a session."""


def form_of(spans: Sequence[Span]) -> Form | None:
    """Return the form of a trace from its spans, in order, each once; None when `assembly` has to look at it."""
    places = {span.span_id: at for at, span in enumerate(spans)}
    found = []
    for span in spans:
        facts = span.payload
        if type(facts) is not SpanFacts or not span.started_ns or _is_odd(facts):
            return None
        found.append((facts.kind, places.get(facts.parent, -1), bool(facts.chunks)))
    form = _form(tuple(found))
    return form if form is not None and _is_turn(form, spans) else None


def form_of_places(places: Iterable[Place]) -> Form | None:
    """Return the form of traces with these places, of which none is odd; None when `assembly` has to look at them."""
    return _form(tuple(tuple(place) for place in places))


def _is_turn(form: Form, spans: Sequence[Span]) -> bool:
    entry: SpanFacts = spans[form.entry].payload
    if form.may_be_turns and is_batch(entry, _below(form, spans)):
        return False
    if entry.question and entry.kind in SPEAKING:
        return True
    if form.may_be_turns and not entry.question and not entry.answer:
        return False
    return bool(asked_in(form, [span.payload for span in spans]))


def _below(form: Form, spans: Sequence[Span]) -> list[SpanFacts]:
    above = spans[form.entry].span_id
    return [span.payload for span in spans if span.payload.parent == above and span.payload.kind in SPEAKING]


def asked_in(form: Form, facts: Sequence[SpanFacts]) -> str | None:
    """Return the question of a turn, from the facts of its spans."""
    return question_of(*([facts[at] for at in places] for places in (form.speaking, form.models, form.retrieving)))


def _is_odd(facts: SpanFacts) -> bool:
    """Return whether a span failed, was cut, lost attributes, or is more or less than a span of a user's turn."""
    return bool(
        facts.error
        or facts.skip
        or facts.aliases
        or facts.dropped
        or facts.is_cut
        or facts.of
        or (facts.http_status and facts.http_status >= _CLIENT_ERROR)
    )


@lru_cache(maxsize=_MOST_FORMS)
def _form(written: tuple[tuple[str, int, bool], ...]) -> Form | None:
    places = [Place(*place) for place in written]
    above = [tuple(_above(places, at)) for at in range(len(places))]
    if any(place.kind == "trace" for place in places) or any(at in above[at] for at in range(len(places))):
        return None
    of_ai = [at for at, place in enumerate(places) if place.kind]
    entries = [at for at in of_ai if places[at].kind != "evaluator" and not any(places[up].kind for up in above[at])]
    if len(entries) != 1 or places[entries[0]].kind not in _ENTRIES:
        return None
    entry = entries[0]
    models = [at for at in of_ai if places[at].kind == "llm"]
    wrapping = {up for at in models for up in above[at]}
    speaking = [at for at in of_ai if places[at].kind in SPEAKING]
    steps = _outermost(_with_chunks(places, of_ai), above)
    return Form(
        size=len(places),
        entry=entry,
        order=(entry, *(at for at in of_ai if at != entry)),
        speaking=tuple(sorted(speaking, key=lambda at: len(above[at]))),
        models=tuple(at for at in models if at not in wrapping),
        retrieving=tuple(at for at in of_ai if places[at].kind in _RETRIEVING),
        steps=tuple((at, "reranker" if places[at].kind == "reranker" else "retriever") for at in steps),
        may_be_turns=_may_be_turns([places[at] for at in of_ai if places[at].parent == entry]),
    )


def _may_be_turns(below: list[Place]) -> bool:
    heads = [place.kind for place in below if place.kind not in BESIDE]
    return len(heads) > 1 and SPEAKING.issuperset(heads)


def _above(places: list[Place], at: int) -> Iterator[int]:
    """Yield the places above one, nearest first; it comes again itself when it stands in a circle."""
    seen: set[int] = set()
    while (at := places[at].parent) >= 0 and at not in seen:
        seen.add(at)
        yield at


def _with_chunks(places: list[Place], of_ai: list[int]) -> list[int]:
    stated = [at for at in of_ai if places[at].has_chunks and places[at].kind in _RETRIEVING]
    return stated or [at for at in of_ai if places[at].has_chunks and places[at].kind != "evaluator"]


def _outermost(listed: list[int], above: list[tuple[int, ...]]) -> list[int]:
    return [at for at in listed if not any(up in listed for up in above[at])]

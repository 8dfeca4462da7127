"""Put together many traces of one form at once, column by column, to what `assembly` makes of each."""

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from operator import attrgetter
from typing import Any, NamedTuple

from evalsets.chunks import canonical_chunk_id
from ingest.adapters.base import Span, Trace
from ingest.interaction import RetrievedChunk
from ingest.staging import Alias, StagedRows, as_json
from ingest.traces.context import Retrieval, Step, context_of, step_of
from ingest.traces.facts import SpanFacts
from ingest.traces.plain_forms import SPEAKING, Form, asked_in, form_of
from ingest.traces.turn import Reply, reply_of

_Column = list[Any]


HashUser = Callable[[str], str]


class FormedTrace(NamedTuple):
    """A trace whose spans are in order, and its form."""

    trace: Trace
    form: Form


def put_together_alike(traces: Iterable[Trace], source: str, made: StagedRows) -> dict[str, str]:
    """Add to `made` the turns of the traces that are one plain turn each, and return their ids by trace.

    The spans are redacted, and in order; what is no plain turn is left to `assembly`.
    """
    formed = [FormedTrace(trace, form) for trace in traces if (form := form_of(trace.spans)) is not None]
    add_turns(made, formed, source)
    return {trace.trace_id: f"{source}:{trace.trace_id}" for trace, _ in formed}


def add_turns(
    made: StagedRows, traces: Sequence[FormedTrace], source: str, *, hash_user: HashUser | None = None
) -> None:
    """Add to `made` the turn of each trace; `hash_user` when the user ids of their spans are not hashed yet."""
    groups: dict[Form, list[Trace]] = {}
    for trace, form in traces:
        groups.setdefault(form, []).append(trace)
    for form, alike in groups.items():
        group = _Group(form, [trace.spans for trace in alike], hash_user)
        ids = [f"{source}:{trace.trace_id}" for trace in alike]
        _add(made, group, alike, ids, source)


class _Group:
    """Traces of one form: of each of its places the spans, their facts, and fields of these, one entry a trace."""

    def __init__(self, form: Form, traces: list[Sequence[Span]], hash_user: HashUser | None) -> None:
        self.form, self.size = form, len(traces)
        self._hash_user = hash_user
        self.spans = list(zip(*traces, strict=True))
        self.facts: list[list[SpanFacts]] = [[span.payload for span in spans] for spans in self.spans]

    def field(self, place: int, name: str) -> _Column:
        """Return a field of the facts of one place."""
        return list(map(attrgetter(name), self.facts[place]))

    def entries(self) -> list[SpanFacts]:
        """Return the facts of the entries."""
        return self.facts[self.form.entry]

    def users(self) -> _Column:
        """Return the hashed user id of each trace."""
        users = ([span.user_id or None for span in self.spans[place]] for place in self.form.order)
        found = _first_of(users, self.size)
        return found if self._hash_user is None else [user and self._hash_user(user) for user in found]

    def questions(self) -> _Column:
        """Return the question of each trace."""
        found = [facts.question if facts.kind in SPEAKING else None for facts in self.entries()]
        if None in found:
            traces = zip(*self.facts, strict=True)
            found = [known or asked_in(self.form, facts) for known, facts in zip(found, traces, strict=True)]
        return found

    def steps(self) -> list[list[Step]]:
        """Return the steps of each trace that found its passages."""
        columns = [[step_of(facts, stage) for facts in self.facts[place]] for place, stage in self.form.steps]
        return list(map(list, zip(*columns, strict=True))) if columns else [[] for _ in range(self.size)]

    def first(self, places: Iterable[int], name: str) -> _Column:
        """Return of each trace the first of `places` that has a field."""
        return _first_of((self.field(place, name) for place in places), self.size)

    def summed(self, name: str) -> _Column:
        """Return the sum over the model calls; where none says a number, the first that is said anywhere."""
        stated = [self.field(place, name) for place in self.form.models]
        if len(stated) > 1:
            stated = [[_sum(numbers) for numbers in zip(*stated, strict=True)]]
        return _first_of([*stated, *(self.field(place, name) for place in self.form.order)], self.size)


def _sum(numbers: Iterable[Any]) -> Any:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def _first_of(columns: Iterable[_Column], size: int) -> _Column:
    found: _Column | None = None
    for column in columns:
        if found is None:
            found = column
        else:
            found = [known if known is not None else other for known, other in zip(found, column, strict=True)]
        if None not in found:
            return found
    return found if found is not None else [None] * size


def _add(rows: StagedRows, group: _Group, traces: list[Trace], ids: list[str], source: str) -> None:
    form, entries = group.form, group.entries()
    questions = group.questions()
    replies = _replies(group)
    latest = form.models[::-1]
    starts = [span.started_ns for span in group.spans[form.entry]]
    chunks, steps = _retrieved(group, questions)
    columns: dict[str, Iterable[Any]] = {
        "interaction_id": ids,
        "source": repeat(source, group.size),
        "session_id": group.first(form.order, "session_id"),
        "user_id": group.users(),
        "asked_at": [start // 1000 for start in starts],
        "question": questions,
        "answer": [reply.text for reply in replies],
        "model": group.first((*latest, *form.order), "model"),
        "prompt_version": group.first((*latest, *form.order), "prompt_version"),
        "latency_ms": [_latency_ms(start, facts) for start, facts in zip(starts, entries, strict=True)],
        "input_tokens": group.summed("input_tokens"),
        "output_tokens": group.summed("output_tokens"),
        "cost": group.summed("cost"),
        "error": repeat(None, group.size),
        "stream_cut": [reply.is_cut for reply in replies],
        "metadata": _metadata(group, steps),
        "version_ns": [max([span.version_ns for span in trace.spans]) for trace in traces],
        "cautions": repeat(None, group.size),
    }
    _add_links(rows, chunks)
    for name, values in columns.items():
        rows.columns[name].extend(values)
    for trace, interaction_id in zip(traces, ids, strict=True):
        entry_id = trace.spans[form.entry].span_id
        if entry_id != trace.trace_id:
            rows.aliases.append(Alias(source, entry_id, interaction_id))


def _replies(group: _Group) -> list[Reply]:
    stated = [facts.answer or None if facts.kind in SPEAKING else None for facts in group.entries()]
    last = group.field(group.form.models[-1], "answer") if group.form.models else [None] * group.size
    return [
        Reply(said, is_cut=False) if said == told else reply_of(said, told, is_cut=False)
        for said, told in zip(stated, last, strict=True)
    ]


def _latency_ms(start: int, facts: SpanFacts) -> float | None:
    return (facts.end_ns - start) / 1e6 if facts.end_ns >= start else facts.latency_ms


_Contexts = tuple[list[Sequence[RetrievedChunk]], Sequence[tuple[Step, ...]]]


def _retrieved(group: _Group, questions: list[str | None]) -> _Contexts:
    """Return the passages of each turn, and the steps that found them where these say more than the turn does."""
    if not group.form.steps:
        return [()] * group.size, [()] * group.size
    if len(group.form.steps) == 1 and (alone := _only_step(group, questions)) is not None:
        return alone
    found = list(map(context_of, group.steps()))
    told = [
        steps if Retrieval(chunks, steps).is_worth_telling(question) else ()
        for (chunks, steps), question in zip(found, questions, strict=True)
    ]
    return [chunks for chunks, _ in found], told


def _only_step(group: _Group, questions: list[str | None]) -> _Contexts | None:
    """Return what was retrieved in one step; None unless every list of it is in order and names each passage once."""
    ((place, stage),) = group.form.steps
    facts = group.facts[place]
    listed: list[Sequence[RetrievedChunk]] = [entry.chunks for entry in facts]
    places = [(at, rank) for at, chunks in enumerate(listed) for rank in range(len(chunks))]
    stated = [(chunk.chunk_id, chunk.rank, chunk.stage) for chunks in listed for chunk in chunks]
    ids, ranks, stages = zip(*stated, strict=True)
    traces, in_order = zip(*places, strict=True)
    if ranks != in_order or set(stages) != {stage} or len(set(zip(traces, ids, strict=True))) < len(ids):
        return None
    queries = [entry.query or entry.question for entry in facts]
    told = [
        (step_of(entry, stage),) if query and query != question else ()
        for entry, query, question in zip(facts, queries, questions, strict=True)
    ]
    return listed, told


def _add_links(rows: StagedRows, chunks: list[Sequence[RetrievedChunk]]) -> None:
    first, links = rows.size, rows.links
    links["row"].extend([first + at for at, listed in enumerate(chunks) for _ in listed])
    flat = [chunk for listed in chunks for chunk in listed]
    if not flat:
        return
    ids, _, docs, scores, ranks, stages, origins, hashes = zip(*flat, strict=True)
    links["rank"].extend(ranks)
    links["chunk_id"].extend([key if key.isascii() and key == key.strip() else canonical_chunk_id(key) for key in ids])
    for name, values in (("doc_id", docs), ("text_hash", hashes), ("score", scores), ("stage", stages)):
        links[name].extend(values)
    links["id_origin"].extend(origins)


def _metadata(group: _Group, steps: Sequence[tuple[Step, ...]]) -> list[str | None]:
    stated = zip(*(group.field(place, "metadata") for place in group.form.order), strict=True)
    known: dict[int, str | None] = {}
    out: list[str | None] = []
    for metadata, told in zip(stated, steps, strict=True):
        first = metadata[0]
        if not told and metadata.count(first) == len(metadata):
            key = id(first)
            if key not in known:
                known[key] = as_json(first) if first else None
            out.append(known[key])
        else:
            out.append(_merged(metadata, told))
    return out


def _merged(metadata: Sequence[dict[str, Any]], steps: Sequence[Step]) -> str | None:
    found: dict[str, object] = {}
    for entry in metadata:
        for key, value in entry.items():
            found.setdefault(key, value)
    if steps:
        found["retrieval_steps"] = [step.as_metadata() for step in steps]
    return as_json(found) if found else None

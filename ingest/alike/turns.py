"""Makes of traces that are alike their turns, column by column."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingest.alike.blocks import Array, Block, Ints, Slices
from ingest.alike.columns import Column, Numbers, first_known, told
from ingest.alike.hints import hinted
from ingest.alike.places import Place
from ingest.alike.retrieved import STAGE, constant, links_of, steps_of, texts_at
from ingest.alike.stored_spans import WrittenSpans, naming, written_spans
from ingest.columnar import Tables, no_rows
from ingest.compiled.spans import Known
from ingest.spans.privacy import SpanRedactor, as_written
from ingest.staging import as_json
from ingest.traces.plain_forms import SPEAKING, Form
from ingest.traces.turn import reply_of

_MOST_USERS = 1 << 16


class MadeBy:
    """The adapter that would read the spans, the source of their turns, and what redacts them."""

    def __init__(self, adapter: str, source: str, redactor: SpanRedactor) -> None:
        """Know no user yet."""
        self.adapter, self.source, self.redactor = adapter, source, redactor
        self.users = Known(self._user, 2, _MOST_USERS)

    def _user(self, user: bytes) -> tuple[bytes, bytes]:
        """Return the hash of a user id, and the id as it stands in JSON."""
        text = user.decode()
        return self.redactor.hash_user(text).encode(), (as_written(text) or "").encode()


class _Users(NamedTuple):
    """The users at one place."""

    hashed: Slices
    written: Slices
    """Their ids as they stand in JSON."""


class Turns(NamedTuple):
    """The turns of alike traces, and their spans as they are stored."""

    tables: Tables
    trace_ids: Array
    spans: WrittenSpans
    users: Array
    """The hashed ids of the users of each trace."""
    last_ns: Ints
    odd: Ints
    """Which traces are left to the other readers."""


class _Alike:
    """Alike traces, their places in order of time."""

    def __init__(self, block: Block, form: Form, places: Sequence[Place], users: Known) -> None:
        self.block, self.form, self.places, self.size = block, form, places, places[0].size
        self.odd: Ints = np.logical_or.reduce([place.odd for place in places])
        self.users = list(_users_at(block, places, users))
        self.hashed = [found and found.hashed for found in self.users]

    def nothing(self, kind: Any) -> Array:
        return pa.nulls(self.size, kind)

    def first(self, places: Iterable[int], name: str) -> Slices:
        """Return of each trace the first text of `places` in a field."""
        found = first_known(column.values for at in places if (column := self.places[at].text(name)) is not None)
        nowhere = np.full(self.size, -1)
        return Slices(nowhere, nowhere) if found is None else found

    def summed(self, name: str, kind: Any) -> Array:
        """Return the sum over the model calls; where none says a number, the first that is said anywhere."""
        stated = [field for at in self.form.models if isinstance(field := self.places[at].fields.get(name), Numbers)]
        if len(stated) > 1:
            raise ValueError("numbers of several model calls")
        if not stated:
            others = (self.places[at].fields.get(name) for at in self.form.order)
            stated = [field for field in others if isinstance(field, Numbers)]
        return pa.array(stated[0].values) if stated else self.nothing(kind)


def _users_at(block: Block, places: Sequence[Place], known: Known) -> Iterator[_Users | None]:
    """Yield what is known of the users at each place, the same object for the same users."""
    met: list[tuple[Slices, _Users]] = []
    for place in places:
        if place.users is None:
            yield None
            continue
        values = place.users.values
        found = next((found for others, found in met if block.equal(values, others).all()), None)
        if found is None:
            found = _Users(*told(known, block, values))
            met.append((values, found))
        yield found


def turns_of(block: Block, form: Form, places: Sequence[Place], made_by: MadeBy) -> Turns:
    """Return the turns of alike traces; raises one of UNREADABLE when nothing can be said of them together."""
    source, redactor = made_by.source, made_by.redactor
    alike = _Alike(block, form, places, made_by.users)
    spans = written_spans(block, places, alike.hashed, made_by.adapter)
    if not redactor.is_off:
        alike.odd |= hinted(block, places, redactor)
    for users in _distinct(alike):
        alike.odd |= naming(block, spans, users.written)
    ids = places[0].ids("trace_id")
    made = _named(block, source, ids)
    questions = _questions(alike)
    alike.odd |= ~questions.known()
    entry_ids = block.array(places[form.entry].ids("span_id"))
    tables = Tables(
        _interactions(alike, made, questions, source),
        _links(alike),
        *no_rows()[2:4],
        pa.table(
            [pa.repeat(source, alike.size), entry_ids, made],
            ["source", "alias", "interaction_id"],
        ),
    )
    return Turns(tables, block.array(ids), spans, _users(alike), places[-1].started, alike.odd)


def _named(block: Block, source: str, ids: Slices) -> Array:
    """Return the ids of the turns."""
    part = (f"{source}:".encode(), *ids, b"", b"")
    return pa.StringArray.from_buffers(len(ids.starts), *map(pa.py_buffer, block.texts.woven([part], len(ids.starts))))


def _distinct(alike: _Alike) -> list[_Users]:
    """Return what is known of the users of all places that differ."""
    return list({id(found): found for found in alike.users if found is not None}.values())


def _users(alike: _Alike) -> Array:
    """Return the hashed ids of the users of each trace."""
    columns = _distinct(alike)
    if len(columns) == 1 and columns[0].hashed.known().all():
        offsets = pa.array(np.arange(alike.size + 1, dtype=np.int32))
        return pa.ListArray.from_arrays(offsets, alike.block.array(columns[0].hashed))
    named = [texts_at(alike.block, found.hashed) for found in columns]
    rows = zip(*named, strict=True) if named else repeat((), alike.size)
    return pa.array([list(dict.fromkeys(filter(None, row))) for row in rows], pa.list_(pa.string()))


def _questions(alike: _Alike) -> Slices:
    form = alike.form
    kinds = {place.kind for place in alike.places}
    if form.entry in form.speaking:
        return alike.first([form.entry], "question")
    if form.models != (form.entry,) or kinds & {*SPEAKING, "retriever"}:
        raise ValueError("asked of several")
    return alike.first(form.models, "question")


def _interactions(alike: _Alike, made: Array, questions: Slices, source: str) -> pa.Table:
    form, array = alike.form, alike.block.array
    entry = alike.places[form.entry]
    answers, are_cut = _answers(alike)
    latest = form.models[::-1]
    users = first_known(hashed for at in form.order if (hashed := alike.hashed[at]) is not None)
    text = pa.string()
    columns: dict[str, Array] = {
        "interaction_id": made,
        "source": constant(source, alike.size),
        "session_id": array(alike.first(form.order, "session_id")),
        "user_id": alike.nothing(text) if users is None else array(users),
        "asked_at": pa.array(entry.started // 1000).cast(pa.timestamp("us", "UTC")),
        "question": array(questions),
        "answer": answers,
        "model": array(alike.first((*latest, *form.order), "model")).dictionary_encode(),
        "prompt_version": array(alike.first((*latest, *form.order), "prompt_version")).dictionary_encode(),
        "latency_ms": _latencies_ms(entry),
        "input_tokens": alike.summed("input_tokens", pa.int64()),
        "output_tokens": alike.summed("output_tokens", pa.int64()),
        "cost": alike.summed("cost", pa.float64()),
        "error": alike.nothing(text),
        "stream_cut": are_cut,
        "metadata": _metadata(alike, questions),
        "version_ns": pa.array(np.maximum.reduce([_versions(place) for place in alike.places])),
        "cautions": alike.nothing(text),
    }
    return pa.table(columns)


def _versions(place: Place) -> Ints:
    return place.started if place.ended is None else place.ended


def _latencies_ms(entry: Place) -> Array:
    if entry.ended is None:
        return pa.nulls(entry.size, pa.float64())
    return pa.array((entry.ended - entry.started) / 1e6, pa.float64(), mask=entry.ended < entry.started)


def _answers(alike: _Alike) -> tuple[Array, Array]:
    """Return the answers, and which of them were cut."""
    form, block = alike.form, alike.block
    stated = alike.first([form.entry] if form.entry in form.speaking else [], "answer")
    last = alike.first(form.models[-1:], "answer")
    are_cut = np.zeros(alike.size, bool)
    differ = np.flatnonzero(~block.equal(stated, last))
    if not len(differ):
        return block.array(stated), pa.array(are_cut)
    column = Column(block, stated, stated)
    pairs = zip(*(texts_at(block, found.take(differ)) for found in (stated, last)), strict=True)
    replies = [reply_of(said, told_by_model, is_cut=False) for said, told_by_model in pairs]
    are_cut[differ] = [reply.is_cut for reply in replies]
    return column.with_texts(_mask(differ, alike.size), [reply.text for reply in replies]).array(), pa.array(are_cut)


def _mask(rows: Ints, size: int) -> Ints:
    mask = np.zeros(size, bool)
    mask[rows] = True
    return mask


def _retrieving(alike: _Alike) -> Place | None:
    if len(alike.form.steps) > 1:
        raise ValueError("several steps")
    return alike.places[alike.form.steps[0][0]] if alike.form.steps else None


def _metadata(alike: _Alike, questions: Slices) -> Array:
    """Return what is kept of the metadata, and the step that found the passages where it says more than the turn."""
    stated: dict[str, Any] = {}
    for at in alike.form.order:
        for key, value in alike.places[at].metadata.items():
            stated.setdefault(key, value)
    plain = as_json(stated) if stated else None
    found = pa.repeat(pa.scalar(plain, pa.string()), alike.size)
    place = _retrieving(alike)
    query = None if place is None else place.text("query")
    if place is None or query is None:
        return found
    differ = query.known() & ~alike.block.equal(query.values, questions)
    rows = np.flatnonzero(differ)
    if not len(rows) or place.chunks is None:
        return found
    told_steps = [as_json({**stated, "retrieval_steps": [step]}) for step in steps_of(query, place.chunks, rows)]
    return pc.replace_with_mask(found, pa.array(differ), pa.array(told_steps, pa.string()))


def _links(alike: _Alike) -> pa.Table:
    place = _retrieving(alike)
    if place is None or place.chunks is None:
        return no_rows().links
    if alike.form.steps[0][1] != STAGE:
        raise ValueError("passages of another stage")
    return links_of(alike.block, place.chunks, alike.size)

"""Makes of traces that are alike their turns and their rows for the store, column by column."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evalsets.chunks import canonical_chunk_id
from ingest.alike.columns import Column, first_known
from ingest.alike.places import Chunks, Place
from ingest.alike.quotes import Array, Ints
from ingest.columnar import Tables, as_tables
from ingest.span_privacy import SpanRedactor, as_written
from ingest.staging import StagedRows, as_json
from ingest.traces.plain_forms import SPEAKING, Form
from ingest.traces.turn import reply_of

_encode = msgspec.json.Encoder().encode
_STAGE, _ORIGIN = "retriever", "explicit"


class MadeBy(NamedTuple):
    """The adapter that would read the spans, the source of their turns, and what redacts them."""

    adapter: str
    source: str
    redactor: SpanRedactor


class Turns(NamedTuple):
    """The turns of alike traces, and the JSON texts of their spans."""

    tables: Tables
    trace_ids: Array
    texts: list[str]
    users: list[list[str]]
    last_ns: Ints
    odd: Ints
    """Which traces are left to the other readers."""


@cache
def _nothing() -> Tables:
    return as_tables(StagedRows())


class _Alike:
    """Alike traces, their places in order of time."""

    def __init__(self, form: Form, places: Sequence[Place], redactor: SpanRedactor) -> None:
        self.form, self.places, self.size = form, places, places[0].size
        self.odd: Ints = np.logical_or.reduce([place.odd for place in places])
        self.hashed: list[Array | None] = []
        known: list[tuple[Array, Array]] = []
        for place in places:
            if place.users is None:
                self.hashed.append(None)
                continue
            found = next((hashed for users, hashed in known if users.equals(place.users)), None)
            if found is None:
                encoded = place.users.dictionary_encode()
                names = [redactor.hash_user(user) for user in encoded.dictionary.to_pylist()]
                found = pa.array(names, pa.string()).take(encoded.indices)
                known.append((place.users, found))
            self.hashed.append(found)

    def nothing(self, kind: Any) -> Array:
        return pa.nulls(self.size, kind)

    def first(self, places: Iterable[int], name: str, kind: Any) -> Array:
        """Return of each trace the first of `places` that has a field."""
        columns = [self.places[at].fields[name].values for at in places if name in self.places[at].fields]
        found = first_known(columns)
        return self.nothing(kind) if found is None else found

    def summed(self, name: str, kind: Any) -> Array:
        """Return the sum over the model calls; where none says a number, the first that is said anywhere."""
        models = [self.places[at].fields[name].values for at in self.form.models if name in self.places[at].fields]
        if len(models) > 1:
            raise ValueError("numbers of several model calls")
        found = first_known([*models, self.first(self.form.order, name, kind)])
        return self.nothing(kind) if found is None else found

    def mark(self, rows: Array) -> None:
        self.odd |= rows.to_numpy(zero_copy_only=False)


def turns_of(form: Form, places: Sequence[Place], ids: Array, made_by: MadeBy) -> Turns:
    """Return the turns of alike traces; raises one of UNREADABLE when nothing can be said of them together."""
    adapter, source, redactor = made_by
    alike = _Alike(form, places, redactor)
    written = _texts(alike, adapter)
    if not redactor.is_off:
        alike.mark(_hinted(alike, redactor))
    texts = written.to_pylist()
    alike.odd |= _naming(alike, texts)
    made = pc.binary_join_element_wise(f"{source}:", ids, "")
    questions = _questions(alike)
    alike.mark(pc.is_null(questions))
    tables = Tables(
        _interactions(alike, made, questions, source),
        _links(alike),
        *_nothing()[2:4],
        pa.table(
            [_constant(source, alike.size).cast(pa.string()), places[form.entry].ids("span_id"), made],
            ["source", "alias", "interaction_id"],
        ),
    )
    return Turns(tables, ids, texts, _users(alike), places[-1].started, alike.odd)


def _users(alike: _Alike) -> list[list[str]]:
    """Return the hashed ids of the users of each trace."""
    columns = {id(hashed): hashed for hashed in alike.hashed if hashed is not None}
    found = [hashed.to_pylist() for hashed in columns.values()]
    if not found:
        return [[] for _ in range(alike.size)]
    if len(found) == 1:
        return [[user] if user else [] for user in found[0]]
    return [list(dict.fromkeys(filter(None, row))) for row in zip(*found, strict=True)]


def _questions(alike: _Alike) -> Array:
    form = alike.form
    kinds = {place.kind for place in alike.places}
    if form.entry in form.speaking:
        return alike.first([form.entry], "question", pa.string())
    if form.models != (form.entry,) or kinds & {*SPEAKING, "retriever"}:
        raise ValueError("asked of several")
    return alike.first(form.models, "question", pa.string())


def _interactions(alike: _Alike, made: Array, questions: Array, source: str) -> pa.Table:
    form = alike.form
    entry = alike.places[form.entry]
    answers, are_cut = _answers(alike)
    if form.may_be_turns:
        alike.mark(pc.is_null(questions))
    latest = form.models[::-1]
    users = first_known([hashed for at in form.order if (hashed := alike.hashed[at]) is not None])
    text, count, number = pa.string(), pa.int64(), pa.float64()
    columns: dict[str, Array] = {
        "interaction_id": made,
        "source": _constant(source, alike.size),
        "session_id": alike.first(form.order, "session_id", text),
        "user_id": alike.nothing(text) if users is None else users,
        "asked_at": pa.array(entry.started // 1000).cast(pa.timestamp("us", "UTC")),
        "question": questions,
        "answer": answers,
        "model": alike.first((*latest, *form.order), "model", text).dictionary_encode(),
        "prompt_version": alike.first((*latest, *form.order), "prompt_version", text).dictionary_encode(),
        "latency_ms": _latencies_ms(entry),
        "input_tokens": alike.summed("input_tokens", count),
        "output_tokens": alike.summed("output_tokens", count),
        "cost": alike.summed("cost", number),
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
    form, text = alike.form, pa.string()
    stated = alike.first([form.entry] if form.entry in form.speaking else [], "answer", text)
    last = alike.first(form.models[-1:], "answer", text)
    are_cut = np.zeros(alike.size, bool)
    if stated.equals(last):
        return stated, pa.array(are_cut)
    replies = [
        reply_of(said, told, is_cut=False) for said, told in zip(stated.to_pylist(), last.to_pylist(), strict=True)
    ]
    return pa.array([reply.text for reply in replies], text), pa.array([reply.is_cut for reply in replies], pa.bool_())


def _retrieving(alike: _Alike) -> Place | None:
    if len(alike.form.steps) > 1:
        raise ValueError("several steps")
    return alike.places[alike.form.steps[0][0]] if alike.form.steps else None


def _metadata(alike: _Alike, questions: Array) -> Array:
    """Return what is kept of the metadata, and the step that found the passages where it says more than the turn."""
    stated: dict[str, Any] = {}
    for at in alike.form.order:
        for key, value in alike.places[at].metadata.items():
            stated.setdefault(key, value)
    plain = as_json(stated) if stated else None
    found = pa.array([plain], pa.string()).take(pa.array(np.zeros(alike.size, np.int32)))
    place = _retrieving(alike)
    if place is None or "query" not in place.fields:
        return found
    queries = place.fields["query"].values
    differ = pc.and_(pc.is_valid(queries), pc.not_equal(queries, questions).fill_null(fill_value=True))
    rows = np.flatnonzero(differ.to_numpy(zero_copy_only=False))
    if not len(rows):
        return found
    told = [as_json({**stated, "retrieval_steps": [step]}) for step in _steps(place, queries, rows)]
    return pc.replace_with_mask(found, differ, pa.array(told, pa.string()))


def _steps(place: Place, queries: Array, rows: Ints) -> Iterable[dict[str, Any]]:
    picked = pa.array(rows)
    ids = zip(*(chunks.ids.values.take(picked).to_pylist() for chunks in place.chunks), strict=True)
    scores = zip(*(chunks.scores.values.take(picked).to_pylist() for chunks in place.chunks), strict=True)
    for query, named, scored in zip(queries.take(picked).to_pylist(), ids, scores, strict=True):
        yield {"stage": _STAGE, "query": query, "chunk_ids": [*named], "scores": [*scored]}


def _links(alike: _Alike) -> pa.Table:
    place = _retrieving(alike)
    chunks = place.chunks if place is not None else []
    if not chunks:
        return _nothing().links
    if [column.rank for column in chunks] != list(range(len(chunks))) or alike.form.steps[0][1] != _STAGE:
        raise ValueError("ranks out of order")
    many = len(chunks)
    order = pa.array(np.arange(many * alike.size).reshape(many, alike.size).T.ravel())

    def woven(columns: list[Array]) -> Array:
        return pa.concat_arrays(columns).take(order)

    ids = woven([column.ids.values for column in chunks]).dictionary_encode()
    rows = np.arange(alike.size, dtype=np.int32)
    return pa.table(
        {
            "row": pa.array(np.repeat(rows, many)),
            "rank": pa.array(np.tile(np.arange(many, dtype=np.int32), alike.size)),
            "chunk_id": _canonical(ids),
            "doc_id": woven([column.docs.values for column in chunks]).dictionary_encode(),
            "text_hash": woven([column.hashes for column in chunks]).dictionary_encode(),
            "score": woven([column.scores.values for column in chunks]),
            "stage": _constant(_STAGE, many * alike.size),
            "id_origin": _constant(_ORIGIN, many * alike.size),
        }
    )


def _canonical(ids: Array) -> Array:
    if pc.all(pc.string_is_ascii(ids.dictionary)).as_py() is not False:
        return ids
    named = list(map(canonical_chunk_id, ids.dictionary.to_pylist()))
    return pa.array(named, pa.string()).take(ids.indices).dictionary_encode()


def _constant(text: str, size: int) -> Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(size, np.int32)), pa.array([text], pa.string()))


class _Text:
    """A JSON text in parts, of which some are columns."""

    def __init__(self) -> None:
        self._parts: list[Any] = []
        self._fixed = ""

    def add(self, *parts: Any) -> None:
        for part in parts:
            if isinstance(part, str):
                self._fixed += part
            else:
                self._parts += self._fixed, part
                self._fixed = ""

    def joined(self) -> Array:
        return pc.binary_join_element_wise(*self._parts, self._fixed, "", null_handling="replace", null_replacement="")


def _texts(alike: _Alike, adapter: str) -> Array:
    """Return the spans of each trace as `trace_rows` writes them."""
    text = _Text()
    for at, place in enumerate(alike.places):
        text.add("," if at else "[", '["', place.ids("span_id"), f'","{adapter}",')
        text.add(_digits(place.started), ",", _digits(_versions(place)), ",")
        text.add(*_nullable(alike.hashed[at]), ',{"kind":"', place.kind, '"')
        _add_facts(text, place)
        text.add("}]")
    text.add("]")
    return text.joined()


def _digits(times: Ints) -> Array:
    return pa.array(times).cast(pa.string())


def _nullable(values: Array | None) -> list[Any]:
    """Return the parts of a text or null."""
    if values is None:
        return ["null"]
    if not values.null_count:
        return ['"', values, '"']
    return [pc.coalesce(pc.binary_join_element_wise('"', values, '"', ""), "null")]


def _add_facts(text: _Text, place: Place) -> None:
    def add(key: str, column: Column | None, quote: str = '"') -> None:
        if column is None:
            return
        if not column.nulls:
            text.add(f',"{key}":{quote}', column.written, quote)
        else:
            text.add(pc.binary_join_element_wise(f',"{key}":{quote}', column.written, quote, ""))

    fields = place.fields
    add("name", fields.get("name"))
    parents = place.ids("parent_span_id")
    if parents is not None:
        text.add(',"parent_id":"', parents, '"')
    if place.ended is not None:
        text.add(',"end_ns":', _digits(place.ended))
    for name in ("question", "answer", "query"):
        add(name, fields.get(name))
    _add_chunks(text, place.chunks)
    for name in ("session_id", "model", "prompt_version"):
        add(name, fields.get(name))
    for name in ("input_tokens", "output_tokens", "cost"):
        add(name, fields.get(name), "")
    text.add(*_silence(place))
    if place.metadata:
        text.add(',"metadata":', _encode(place.metadata).decode())


def _silence(place: Place) -> list[Array]:
    silent = place.is_silent()
    return [] if silent is None else [pa.array(np.where(silent, ',"is_silent":true', ""))]


def _add_chunks(text: _Text, chunks: Sequence[Chunks]) -> None:
    for at, column in enumerate(chunks):
        text.add("," if at else ',"chunk_ids":[', '["', column.ids.written, '",null,', *_nullable(column.docs.written))
        text.add(",", column.scores.written, f',{column.rank},"{_STAGE}","{_ORIGIN}","', column.hashes, '"]')
    if chunks:
        text.add("]")


def _naming(alike: _Alike, texts: list[str]) -> Ints:
    """Return the traces of which the text names a user."""
    odd = np.zeros(alike.size, bool)
    known: list[Array] = []
    for place in alike.places:
        if place.users is None or any(users.equals(place.users) for users in known):
            continue
        known.append(place.users)
        pairs = zip(map(as_written, place.users.to_pylist()), texts, strict=True)
        odd |= np.array([user is not None and user in text for user, text in pairs])
    return odd


def _hinted(alike: _Alike, redactor: SpanRedactor) -> Array:
    """Return the traces with a text that needs a closer look."""
    found = pa.array(np.zeros(alike.size, bool))
    seen: list[Array] = []
    for column in (column for place in alike.places for column in _loose(place)):
        if any(known.equals(column) for known in seen):
            continue
        seen.append(column)
        found = pc.or_(found, redactor.hints(column))
    return found


def _loose(place: Place) -> Iterable[Array]:
    """Yield what redaction has to look at: all but ids and counts, and of ids those like an address."""
    for name in ("name", "question", "answer", "query", "model", "prompt_version"):
        if name in place.fields:
            yield place.fields[name].values
    if place.metadata:
        yield pa.array([as_json(place.metadata)]).take(pa.array(np.zeros(place.size, np.int32)))
    ids = [place.fields["session_id"]] if "session_id" in place.fields else []
    for column in (*ids, *(part for chunks in place.chunks for part in (chunks.ids, chunks.docs))):
        has_mark = pc.match_substring(column.values, "@")
        if pc.any(has_mark).as_py():
            yield pc.if_else(has_mark, column.values, None)

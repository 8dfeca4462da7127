"""What the spans at one place of many traces say, in OpenInference attributes, column by column."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingest.alike.columns import Column, Strings, counts, numbers, plain_counts, unescaped
from ingest.alike.quotes import Array, Ints, QuotedBlock
from ingest.alike.templates import Template
from ingest.traces.dialects import openinference as full
from ingest.traces.dialects.openinference_shapes import Document, Message
from ingest.traces.dialects.values import NO_MODELS, object_in
from ingest.traces.documents import document_id
from ingest.traces.facts import hash_of
from ingest.traces.texts import answer_in, question_in, said

_encode = msgspec.json.Encoder().encode
_REPLYING = frozenset({"assistant", None})
_KINDS = {
    spelled: kind for kind in ("chain", "agent", "llm", "retriever", "embedding") for spelled in (kind, kind.upper())
}
_MOST_TEXTS = 1 << 14
_NO_TIME = 10**18
_NO_TEXT = hash_of("")
_NO_MODELS = pa.array(list(NO_MODELS))


class Chunks(NamedTuple):
    """The passages at one place of the lists of many spans."""

    rank: int
    ids: Column
    docs: Column
    scores: Column
    hashes: Array


class Place:
    """The spans at one place of many traces."""

    def __init__(self, block: QuotedBlock, template: Template, firsts: Ints, resource: dict[str, Any]) -> None:
        """Read spans by the places of their first quotes; raises one of UNREADABLE."""
        self._block, self._template, self._firsts = block, template, firsts
        self.size = len(firsts)
        self.kind = kind_of(template) or ""
        self.odd: Ints = np.zeros(self.size, bool)
        """Which spans say what only the full reader understands."""
        self.metadata = full.with_tags({}, None, resource)
        self.chunks: list[Chunks] = []
        self.texts: dict[str, str] = {}
        """Passages by their hash."""
        self.started = self._times("start_time_unix_nano")
        self.ended = self._times("end_time_unix_nano") if "end_time_unix_nano" in template.fields else None
        self.fields: dict[str, Column] = {}
        shape = template.shape
        self._add("session_id", self._names(shape.session))
        self._add("prompt_version", self._names(shape.version))
        user = self._names(shape.user)
        self.users = user.values if user is not None else None
        if "name" in template.fields:
            self._add("name", self._strings(template.fields["name"]).plain())
        _READERS[self.kind](self)

    def _add(self, name: str, column: Column | None) -> None:
        if column is not None and column.nulls < self.size:
            self.fields[name] = column

    def ids(self, name: str) -> Array | None:
        """Return ids as they are written; None when spans have none."""
        at = self._template.fields.get(name)
        return None if at is None else self._written(at)

    def _times(self, name: str) -> Ints:
        found = self._written(self._template.fields[name]).cast(pa.int64()).to_numpy()
        if found.min() < _NO_TIME:  # not nanoseconds, of 19 digits
            raise ValueError("no time")
        return found

    def _written(self, at: int) -> Array:
        return self._block.strings.take(pa.array(self._firsts + 2 * at))

    def _strings(self, at: int) -> Strings:
        return Strings(self._block, self._firsts // 2 + at)

    def _attribute(self, place: int) -> Strings | None:
        return self._strings(self._template.texts[place]) if place >= 0 else None

    def _names(self, place: int) -> Column | None:
        found = self._attribute(place)
        return None if found is None else found.names()

    def _spoken(self, place: int, type_place: int, read_text: Any) -> Column | None:
        found = self._attribute(place)
        if found is None:
            return None
        kind = self._template.constants.get(type_place)
        return found.said(lambda text: full.text_of({"value": text, "mime_type": kind}, "value", read_text))

    def _asked(self) -> Column | None:
        shape = self._template.shape
        return self._spoken(shape.input, shape.input_type, question_in)

    def _answered(self) -> Column | None:
        shape = self._template.shape
        return self._spoken(shape.output, shape.output_type, answer_in)

    def _message(self, messages: Iterable[Message], roles: frozenset[str | None]) -> Column | None:
        """Return the text of the last message of one of these roles, where it says something."""
        for role, content in messages:
            if self._template.constants.get(role) in roles:
                found = self._attribute(content)
                if found is not None:
                    return found.said(lambda text: said(text) or None)
                if "user" in roles:
                    return None
        return None

    def read_model(self) -> None:
        """Read what a model was asked and said, which model it is, and what that cost."""
        shape = self._template.shape
        if shape.asked is None or shape.replied is None:
            raise ValueError("messages of several parts")
        replies = [message for message in shape.replied if self._template.constants.get(message.role) in _REPLYING]
        if len(replies) > 1 and self._has_gaps(replies):
            raise ValueError("an answer before the last one")
        question = _filled(self._message(shape.asked, frozenset({"user"})), self._asked)
        answer = _filled(self._message(shape.replied, _REPLYING), self._answered)
        self._add("question", question)
        self._add("answer", answer)
        self._add("model", self._model())
        for name, place in (("input_tokens", shape.tokens_in), ("output_tokens", shape.tokens_out)):
            if place in self._template.counts:
                self._add(name, counts(self._block, self._firsts // 2 + self._template.counts[place]))
            elif place >= 0:
                self._add(name, plain_counts(self._block, self._firsts, self._template.numbers[place]))
        if shape.cost >= 0:
            self._add("cost", numbers(self._block, self._firsts, [self._template.numbers[shape.cost]]))

    def _has_gaps(self, replies: list[Message]) -> bool:
        found = self._message(replies[:1], _REPLYING)
        return found is None or bool(found.nulls)

    def _model(self) -> Column | None:
        shape = self._template.shape
        columns = [column for at in shape.models if (column := self._names(at)) is not None]
        if not columns:
            return None
        found = columns[0]
        if len(columns) > 1:
            self.odd |= ~found.known()
        unnamed = pc.is_in(found.values, _NO_MODELS).to_numpy(zero_copy_only=False)
        return found.with_texts(unnamed, [None] * int(unnamed.sum())) if unnamed.any() else found

    def read_retriever(self) -> None:
        """Read what was looked for and found."""
        self._add("query", self._asked())
        documents = self._template.shape.documents
        if not documents:
            raise ValueError("passages of another form")
        self.chunks = list(self._chunks_of(documents))
        ids = [chunks.ids.values for chunks in self.chunks]
        for at, one in enumerate(ids):
            for other in ids[at + 1 :]:
                self.odd |= pc.equal(one, other).fill_null(fill_value=True).to_numpy(zero_copy_only=False)

    def _chunks_of(self, documents: list[Document]) -> Iterable[Chunks]:
        """Yield the passages of all spans by their places, which are read one after the other at a time."""
        ids = self._of_all([document.chunk_id for document in documents]).names()
        contents = self._of_all([document.content for document in documents]).said(lambda text: said(text) or None)
        written = [self._written(self._template.texts[document.metadata]) for document in documents]
        known = list(map(_document_of, pa.concat_arrays(written).to_pylist()))
        docs = Column(*(pa.array([entry[at] for entry in known], pa.string()) for at in (1, 2)))
        are_whole = np.array([entry.is_stated for entry in known]) & ids.known() & contents.known()
        self.odd |= ~are_whole.reshape(len(documents), self.size).all(axis=0)
        found = contents.values.to_pylist()
        if contents.nulls:
            found = ["" if text is None else text for text in found]
        hashes = list(map(hash_of, found))
        self.texts.update(zip(hashes, found, strict=True))
        self.texts.pop(_NO_TEXT, None)
        places = [self._template.numbers[document.score] for document in documents]
        scores, hashed = numbers(self._block, self._firsts, places), pa.array(hashes, pa.string())
        for at, document in enumerate(documents):
            some = at * self.size, self.size
            named, stated, scored = (column.slice(*some) for column in (ids, docs, scores))
            yield Chunks(document.rank, named, stated, scored, hashed.slice(*some))

    def _of_all(self, attributes: list[int]) -> Strings:
        """Return the strings of several attributes, those of one after those of the other."""
        places = [self._firsts // 2 + self._template.texts[attribute] for attribute in attributes]
        return Strings(self._block, np.concatenate(places))

    def read_step(self) -> None:
        """Read the question and the answer of a step."""
        shape = self._template.shape
        if shape.has_documents:
            raise ValueError("passages on a step")
        self._add("question", self._asked())
        self._add("answer", self._answered())
        if self.kind == "chain" and "name" in self.fields:
            named = self.fields["name"].values.dictionary_encode()
            if any(map(full.is_postprocessor, named.dictionary.to_pylist())):
                raise ValueError("a step that chooses among passages")
        if (output := self._attribute(shape.output)) is not None:
            texts = output.column.values
            for mark in full.DOCUMENT_MARKS:
                self.odd |= pc.match_substring(texts, mark).to_numpy(zero_copy_only=False)

    def read_nothing(self) -> None:
        """Read nothing: an embedding says nothing of the turn."""

    def is_silent(self) -> Ints | None:
        """Return which model calls say neither what was asked nor answered; None when all do."""
        if self.kind != "llm":
            return None
        silent = np.ones(self.size, bool)
        for name in ("question", "answer"):
            if name in self.fields:
                silent &= ~self.fields[name].known()
        return silent if silent.any() else None


_READERS = {
    "llm": Place.read_model,
    "retriever": Place.read_retriever,
    "chain": Place.read_step,
    "agent": Place.read_step,
    "embedding": Place.read_nothing,
}


def kind_of(template: Template) -> str | None:
    """Return what spans of a template are; None for kinds that are not read as columns."""
    kind = _KINDS.get(template.kind)
    return None if kind == "llm" and template.shape.builds_prompt else kind


def _filled(column: Column | None, others: Any) -> Column | None:
    """Return a column, and in its gaps the values of another one."""
    if column is not None and not column.nulls:
        return column
    other: Column | None = others()
    if column is None or other is None:
        return column if other is None else other
    return column.or_else(other)


class _KnownDocument(NamedTuple):
    is_stated: bool
    doc_id: str | None
    written: str | None
    """The id as it stands in JSON."""


@lru_cache(maxsize=_MOST_TEXTS)
def _document_of(metadata: str) -> _KnownDocument:
    """Return the document that metadata names, from the metadata as it is written."""
    found = object_in(unescaped([metadata])[0])
    doc_id = document_id(found)
    return _KnownDocument(bool(found), doc_id, None if doc_id is None else _encode(doc_id).decode()[1:-1])

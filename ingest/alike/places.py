"""What the spans at one place of many traces say, in OpenInference attributes, column by column."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec
import numpy as np

from evalsets.chunks import chunk_text_hash
from ingest.alike.blocks import Block, Ints, Slices
from ingest.alike.columns import Column, Numbers, Strings, counts, decimals, slices_at, told, unescaped
from ingest.alike.templates import Template
from ingest.compiled.spans import Known
from ingest.traces.dialects import openinference as full
from ingest.traces.dialects.openinference_shapes import Document, Message
from ingest.traces.dialects.values import NO_MODELS, object_in
from ingest.traces.documents import document_id
from ingest.traces.texts import answer_in, question_in, said

_encode = msgspec.json.Encoder().encode
_REPLYING = frozenset({"assistant", None})
_MOST_TEXTS = 1 << 14
_MOST_PASSAGES = 100_000
_ID_DIGITS, _TIME_DIGITS = 16, 19
_IDS = {"trace_id": (10, 32), "span_id": (11, _ID_DIGITS)}
"""Where the scanner says that an id stands, and how long ids are."""


class Chunks(NamedTuple):
    """The passages of many spans: the first ones of all, then the second ones of all, and so on."""

    ranks: list[int]
    ids: Column
    docs: Column
    scores: Numbers
    hashes: Slices

    def places_of(self, at: int) -> slice:
        """Return where those of one rank stand."""
        size = len(self.hashes.starts) // len(self.ranks)
        return slice(at * size, (at + 1) * size)

    def order(self) -> Ints:
        """Return the places of all passages of the first span, then of the second, and so on."""
        return np.arange(len(self.hashes.starts)).reshape(len(self.ranks), -1).T.ravel()


class Memory:
    """What was found out about texts that come again and again."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self.documents = Known(_document_of, 3, _MOST_TEXTS)
        self.hashes = Known(self._hash_of, 1, _MOST_PASSAGES)
        self._met: dict[str, str] = {}

    def _hash_of(self, passage: bytes) -> tuple[bytes]:
        text = passage.decode()
        found = chunk_text_hash(text)
        self._met[found] = text
        return (found.encode(),)

    def take_passages(self) -> dict[str, str]:
        """Return the passages that are new since the last time, by their hash."""
        met, self._met = self._met, {}
        return met


class Place:
    """The spans at one place of many traces."""

    def __init__(self, block: Block, template: Template, spans: Ints, resource: dict[str, Any], memory: Memory) -> None:
        """Read spans by their places in the block; raises one of UNREADABLE."""
        self.block, self._template, self._memory = block, template, memory
        self._spans = np.ascontiguousarray(block.spans[spans].T)
        self._firsts = self._spans[2]
        self.size = len(spans)
        self.kind = template.kind
        self.odd: Ints = np.zeros(self.size, bool)
        """Which spans say what only the full reader understands."""
        self.metadata = full.with_tags({}, None, resource)
        self.chunks: Chunks | None = None
        self.started, self.start_digits = self._spans[8], self._digits(13)
        self.ended = self._spans[9] if template.has_end else None
        self.end_digits = self._digits(14) if template.has_end else self.start_digits
        self.fields: dict[str, Column | Numbers] = {}
        shape = template.shape
        self._add("session_id", self._names(shape.session))
        self._add("prompt_version", self._names(shape.version))
        self.users = self._names(shape.user)
        self._add("name", self._name())
        _READERS[self.kind](self)

    def _add(self, name: str, column: Column | None) -> None:
        if column is not None and column.known().any():
            self.fields[name] = column

    def _digits(self, at: int) -> Slices:
        return self._texts(at, _TIME_DIGITS)

    def _name(self) -> Column | None:
        """Return the names, which may be any texts; blank ones are none."""
        if not self._template.has_name:
            return None
        starts, lengths = self._spans[15], self._spans[16]
        raw = Slices(starts, np.where(lengths == 0, -1, lengths))
        column = Column(self.block, raw, raw)
        escaped = self._spans[17] != 0
        return column.with_texts(escaped, unescaped(self.block.strings(raw.take(escaped)))) if escaped.any() else column

    def text(self, name: str) -> Column | None:
        """Return a field that is text; None when no span has it."""
        found = self.fields.get(name)
        return found if isinstance(found, Column) else None

    def ids(self, name: str) -> Slices:
        """Return the `trace_id` or `span_id` of all spans as they are written."""
        return self._texts(*_IDS[name])

    @property
    def parents(self) -> Slices | None:
        """The ids of the spans above; None when these are roots."""
        return self._texts(12, _ID_DIGITS) if self._template.has_parent else None

    def _texts(self, at: int, length: int) -> Slices:
        return Slices(self._spans[at], np.full(self.size, length))

    def _attribute(self, place: int) -> Strings | None:
        return Strings(self.block, self._firsts + place) if place >= 0 else None

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
            if place >= 0:
                self.fields[name] = counts(self.block, self._firsts + place)
        if shape.cost >= 0:
            self.fields["cost"] = decimals(self.block, self._firsts + shape.cost)

    def _has_gaps(self, replies: list[Message]) -> bool:
        found = self._message(replies[:1], _REPLYING)
        return found is None or found.has_gaps

    def _model(self) -> Column | None:
        shape = self._template.shape
        columns = [column for at in shape.models if (column := self._names(at)) is not None]
        if not columns:
            return None
        found = columns[0]
        if len(columns) > 1:
            self.odd |= ~found.known()
        may_be = np.flatnonzero(np.isin(found.values.lengths, list(map(len, NO_MODELS))))
        texts = self.block.strings(found.values.take(may_be))
        unnamed = np.zeros(self.size, bool)
        unnamed[may_be] = [text in NO_MODELS for text in texts]
        return found.with_texts(unnamed, [None] * int(unnamed.sum())) if unnamed.any() else found

    def read_retriever(self) -> None:
        """Read what was looked for and found."""
        self._add("query", self._asked())
        documents = self._template.shape.documents
        if not documents:
            raise ValueError("passages of another form")
        self.chunks = chunks = self._chunks_of(documents)
        for at in range(len(documents)):
            one = chunks.ids.values.take(chunks.places_of(at))
            for other in range(at + 1, len(documents)):
                self.odd |= self.block.equal(one, chunks.ids.values.take(chunks.places_of(other)))

    def _chunks_of(self, documents: list[Document]) -> Chunks:
        """Return the passages of all spans by their places, which are read one after the other at a time."""
        block, memory = self.block, self._memory
        ids = Strings(block, self._rows([document.chunk_id for document in documents])).names()
        found = Strings(block, self._rows([document.content for document in documents]))
        contents = found.said(lambda text: said(text) or None)
        metadata = slices_at(block, self._rows([document.metadata for document in documents]))
        named, written, stated = told(memory.documents, block, metadata)
        are_whole = stated.known() & ids.known() & contents.known()
        self.odd |= ~are_whole.reshape(len(documents), self.size).all(axis=0)
        (hashes,) = told(memory.hashes, block, contents.values)
        scores = decimals(block, self._rows([document.score for document in documents]))
        ranks = [document.rank for document in documents]
        return Chunks(ranks, ids, Column(block, named, written), scores, hashes)

    def _rows(self, attributes: list[int]) -> Ints:
        """Return the places of several attributes, those of one after those of the other."""
        return np.concatenate([self._firsts + attribute for attribute in attributes])

    def read_step(self) -> None:
        """Read the question and the answer of a step."""
        shape = self._template.shape
        if shape.has_documents:
            raise ValueError("passages on a step")
        self._add("question", self._asked())
        self._add("answer", self._answered())
        if self.kind == "chain" and (named := self.text("name")) is not None:
            names = set(self.block.texts.listed(*named.values)) - {None}
            if any(full.is_postprocessor(name.decode()) for name in names if name):
                raise ValueError("a step that chooses among passages")
        if (output := self._attribute(shape.output)) is not None:  # only quotes that are escaped stand in a text
            rows = np.flatnonzero(output.escaped)
            texts = self.block.strings(output.column.values.take(rows))
            self.odd[rows] |= np.array([any(mark in text for mark in full.DOCUMENT_MARKS) for text in texts], bool)

    def read_nothing(self) -> None:
        """Read nothing: an embedding says nothing of the turn."""

    def is_silent(self) -> Ints | None:
        """Return which model calls say neither what was asked nor answered; None when all do."""
        if self.kind != "llm":
            return None
        silent = np.ones(self.size, bool)
        for name in ("question", "answer"):
            if (column := self.text(name)) is not None:
                silent &= ~column.known()
        return silent if silent.any() else None


_READERS = {
    "llm": Place.read_model,
    "retriever": Place.read_retriever,
    "chain": Place.read_step,
    "agent": Place.read_step,
    "embedding": Place.read_nothing,
}


def _filled(column: Column | None, others: Any) -> Column | None:
    """Return a column, and in its gaps the values of another one."""
    if column is not None and not column.has_gaps:
        return column
    other: Column | None = others()
    if column is None or other is None:
        return column if other is None else other
    return column.or_else(other)


def _document_of(metadata: bytes) -> tuple[bytes | None, bytes | None, bytes | None]:
    """Return the document that metadata names, its id as it stands in JSON, and a text unless nothing is stated."""
    found = object_in(unescaped([metadata.decode()])[0])
    is_stated = b"" if found else None
    doc_id = document_id(found)
    return (None, None, is_stated) if doc_id is None else (doc_id.encode(), _encode(doc_id)[1:-1], is_stated)

"""Read OpenInference spans of one shape together, column by column: what is where is looked for once.

It says what `openinference.read` says, or raises Unusual: whatever is spelled in a rarer way is left to that.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import repeat
from typing import Any, NamedTuple

from ingest.interaction import RetrievedChunk
from ingest.traces.dialects import openinference as full
from ingest.traces.dialects.attribute_columns import Attribute, AttributeColumns, Texts, Unusual
from ingest.traces.dialects.openinference_shapes import Document, Message, Shape
from ingest.traces.dialects.values import (
    NO_MODELS,
    PROMPT_VERSION_KEYS,
    SESSION_KEYS,
    USER_KEYS,
    kept_metadata,
    name_in,
    object_in,
)
from ingest.traces.documents import document_id
from ingest.traces.facts import hash_of, without_texts
from ingest.traces.texts import PRINTED_STARTS, UNPLAIN_STARTS, answer_in, question_in, said

_REPLYING = frozenset({"assistant", None})
_MOST_TEXTS = 1 << 14


class SaidTogether(NamedTuple):
    """What spans say: fields of SpanFacts, each one value a span, and whose they are."""

    fields: dict[str, Iterable[Any]]
    user_ids: Texts
    texts: dict[str, str]
    """Passages by their hash."""


def read_together(
    shape: Shape,
    stated_kind: str,
    attributes: Sequence[Sequence[Attribute]],
    names: list[str],
    resource: dict[str, Any],
) -> SaidTogether:
    """Return what spans of one shape, kind and resource say, from their attributes and names; raises Unusual."""
    kind = _KINDS.get(stated_kind)
    if kind is None:
        raise Unusual
    kind = "prompt" if kind == "llm" and shape.builds_prompt else kind
    columns = AttributeColumns(shape, attributes, names)
    said_of = SaidTogether(
        {"kind": repeat(kind), "skip": repeat(full.offline(resource))}, columns.names(shape.user), {}
    )
    _READERS[kind](said_of, columns)
    return _with_metadata(said_of, columns, resource)


def _read_models(found: SaidTogether, columns: AttributeColumns) -> None:
    shape, fields = columns.shape, found.fields
    asked, replied = _last_asked(shape.asked, columns), _last_replies(shape.replied, columns)
    questions = _filled(asked, lambda: _spoken(columns, shape.input, shape.input_type, question_in))
    answers = _filled(replied, lambda: _spoken(columns, shape.output, shape.output_type, answer_in))
    fields["question"], fields["answer"] = questions, answers
    fields["model"] = _models(columns)
    fields["input_tokens"] = columns.counts(shape.tokens_in)
    fields["output_tokens"] = columns.counts(shape.tokens_out)
    fields["cost"] = columns.numbers(shape.cost)
    fields["is_silent"] = [q is None and a is None for q, a in zip(questions, answers, strict=True)]


def _read_retrievers(found: SaidTogether, columns: AttributeColumns) -> None:
    shape = columns.shape
    found.fields["query"] = _spoken(columns, shape.input, shape.input_type, question_in)
    chunks = _plain_chunks(columns, found.texts)
    found.fields["chunks"] = [
        listed if listed is not None else without_texts(full.chunks_of_retriever(columns.all_of(row)), found.texts)
        for row, listed in enumerate(chunks)
    ]


def _read_chains(found: SaidTogether, columns: AttributeColumns) -> None:
    if any(map(full.is_postprocessor, columns.span_names)):
        raise Unusual
    _read_steps(found, columns)


def _read_steps(found: SaidTogether, columns: AttributeColumns) -> None:
    shape = columns.shape
    if shape.has_documents:
        raise Unusual
    _read_questions(found, columns)
    found.fields["answer"] = _spoken(columns, shape.output, shape.output_type, answer_in)
    if shape.output >= 0:
        handed_on = map(full.handed_on, columns.texts(shape.output))
        found.fields["chunks"] = [without_texts(chunks, found.texts) if chunks else chunks for chunks in handed_on]


def _read_questions(found: SaidTogether, columns: AttributeColumns) -> None:
    found.fields["question"] = _spoken(columns, columns.shape.input, columns.shape.input_type, question_in)


def _read_nothing(_found: SaidTogether, _columns: AttributeColumns) -> None:
    """An embedding says nothing of the turn."""


_READERS: dict[str, Callable[[SaidTogether, AttributeColumns], None]] = {
    "llm": _read_models,
    "retriever": _read_retrievers,
    "chain": _read_chains,
    "agent": _read_steps,
    "prompt": _read_questions,
    "evaluator": _read_questions,
    "embedding": _read_nothing,
}
_KINDS = {spelled: kind for kind in _READERS for spelled in (kind, kind.upper())}


def _filled(texts: Texts, others: Callable[[], Texts]) -> Texts:
    """Return the texts, and in their gaps the others."""
    if all(texts):
        return texts
    return [text or other for text, other in zip(texts, others(), strict=True)]


def _spoken(columns: AttributeColumns, at: int, type_at: int, read_text: Callable[[Any], str | None]) -> Texts:
    if at < 0:
        return columns.nothing
    types = columns.texts(type_at) if type_at >= 0 else columns.nothing
    return [
        text
        if text[:1] not in UNPLAIN_STARTS and not text.startswith(PRINTED_STARTS)
        else full.text_of({"value": text, "mime_type": kind}, "value", read_text)
        for text, kind in zip(columns.texts(at), types, strict=True)
    ]


def _last_asked(messages: list[Message] | None, columns: AttributeColumns) -> Texts:
    """Return the text of the last message of each span whose role is user."""
    found: Texts = [None] * columns.size
    waiting = list(range(columns.size))
    for roles, texts in _messages(messages, columns):
        for row in waiting:
            if roles[row] == "user":
                found[row] = said(texts[row]) or None
        waiting = [row for row in waiting if roles[row] != "user"]
        if not waiting:
            break
    return found


def _last_replies(messages: list[Message] | None, columns: AttributeColumns) -> Texts:
    """Return the last text of each span whose role is assistant, or unknown."""
    found: Texts = [None] * columns.size
    waiting = list(range(columns.size))
    for roles, texts in _messages(messages, columns):
        for row in waiting:
            if roles[row] in _REPLYING:
                found[row] = said(texts[row]) or None
        waiting = [row for row in waiting if found[row] is None]
        if not waiting:
            break
    return found


def _messages(
    messages: list[Message] | None, columns: AttributeColumns
) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
    """Yield the roles and the texts of the messages, the last ones first."""
    if messages is None:
        raise Unusual
    for role, content in messages:
        roles = columns.texts(role) if role >= 0 else columns.nothing
        yield roles, columns.texts(content) if content >= 0 else columns.nothing


def _models(columns: AttributeColumns) -> Texts:
    names = columns.nothing
    for at in columns.shape.models:
        names = [name or other for name, other in zip(names, columns.names(at), strict=True)]
    return [None if name in NO_MODELS else name for name in names]


class _Described(NamedTuple):
    kept: dict[str, Any]
    session_id: str | None
    prompt_version: str | None
    user_id: str | None


@lru_cache(maxsize=1 << 10)
def _described(text: str) -> _Described:
    """Read the metadata that all spans of a turn carry."""
    metadata = object_in(text)
    return _Described(
        kept_metadata(metadata),
        name_in(metadata, SESSION_KEYS),
        name_in(metadata, PROMPT_VERSION_KEYS),
        name_in(metadata, USER_KEYS),
    )


def _with_metadata(found: SaidTogether, columns: AttributeColumns, resource: dict[str, Any]) -> SaidTogether:
    """Add sessions, prompt versions and users, which may stand in the metadata, and what is kept of it."""
    shape, fields = columns.shape, found.fields
    sessions, versions = columns.names(shape.session), columns.names(shape.version)
    fields["session_id"], fields["prompt_version"] = sessions, versions
    if shape.metadata < 0 and shape.tags < 0:
        fields["metadata"] = repeat(full.with_tags({}, None, resource))
        return found
    tags = columns.tags() if shape.tags >= 0 else columns.nothing
    if shape.metadata < 0:
        fields["metadata"] = [full.with_tags({}, tag, resource) for tag in tags]
        return found
    described = list(map(_described, columns.texts(shape.metadata)))
    fields["session_id"] = [name or entry.session_id for name, entry in zip(sessions, described, strict=True)]
    fields["prompt_version"] = [name or entry.prompt_version for name, entry in zip(versions, described, strict=True)]
    fields["metadata"] = [
        full.with_tags(dict(entry.kept), tag, resource) for entry, tag in zip(described, tags, strict=True)
    ]
    users = [name or entry.user_id for name, entry in zip(found.user_ids, described, strict=True)]
    return found._replace(user_ids=users)


def _plain_chunks(columns: AttributeColumns, texts: dict[str, str]) -> list[list[RetrievedChunk] | None]:
    """Return the passages of each span that says of each its id, text, document and score; None for other spans."""
    if columns.shape.documents is None:
        return [None] * columns.size
    ranked = [_chunks_at(document, columns, texts) for document in columns.shape.documents]
    return [list(chunks) if None not in chunks else None for chunks in zip(*ranked, strict=True)]


def _chunks_at(document: Document, columns: AttributeColumns, texts: dict[str, str]) -> list[RetrievedChunk | None]:
    ids, written = columns.names(document.chunk_id), columns.texts(document.content)
    contents = [text if text[:1] not in UNPLAIN_STARTS else said(text) or "" for text in written]
    known = list(map(_document_of, columns.texts(document.metadata)))
    scores = columns.numbers(document.score)
    are_stated = [entry.is_stated for entry in known]
    if not (all(ids) and all(contents) and all(are_stated)) or None in scores:
        return [None] * columns.size
    hashes = list(map(hash_of, contents))
    texts.update(zip(hashes, contents, strict=True))
    docs = [entry.doc_id for entry in known]
    rest = repeat(document.rank), repeat("retriever"), repeat("explicit"), hashes
    return list(map(_as_chunk, zip(ids, repeat(None), docs, scores, *rest)))


_as_chunk = partial(tuple.__new__, RetrievedChunk)
"""`RetrievedChunk._make`, at a third of its cost."""


class _KnownDocument(NamedTuple):
    is_stated: bool
    doc_id: str | None


@lru_cache(maxsize=_MOST_TEXTS)
def _document_of(metadata: str) -> _KnownDocument:
    found = object_in(metadata)
    return _KnownDocument(bool(found), document_id(found))

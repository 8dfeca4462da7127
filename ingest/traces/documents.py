"""Read retrieved passages in the many shapes that retrievers log, with the fallback chain of chunk ids."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from evalsets.chunks import canonical_chunk_id, chunk_text_hash
from ingest.interaction import RetrievedChunk
from ingest.traces.numbers import decimal
from ingest.traces.texts import parsed, said
from ingest.traces.tool_results import plain_result

_LISTS = (
    *("documents", "docs", "source_documents", "retrieved_documents", "results", "retrieval_results", "matches"),
    *("nodes", "source_nodes", "hits", "chunks", "contexts", "passages", "sources", "retrieved", "points", "items"),
    *("output", "outputs", "output_documents", "result", "data", "response", "retriever", "context"),
)
_RETURNED = (
    *("source_documents", "documents", "docs", "retrieved_docs", "retrieved_documents", "context", "contexts"),
    *("sources", "source_nodes", "chunks", "passages", "citations"),
)
_TEXT_KEYS = (
    *(
        "text",
        "content",
        "page_content",
        "pageContent",
        "chunk_text",
        "passage",
        "snippet",
        "chunk",
        "body",
        "document",
    ),
)
_CHUNK_ID_KEYS = ("chunk_id", "chunkId", "id", "id_", "_id", "node_id", "document_chunk_id", "segment_id", "uuid")
_METADATA_ID_KEYS = ("chunk_id", "chunkId", "id", "_id", "node_id")
_DOC_ID_KEYS = (
    *("doc_id", "document_id", "documentId", "docId", "file_id", "doc_uri", "source", "url", "uri", "ref_doc_id"),
    *("filename", "file_name", "file_path", "file", "path"),
)
_SCORE_KEYS = ("score", "similarity", "relevance_score", "rerank_score", "similarity_score", "_score", "distance")
_METADATA_KEYS = ("metadata", "meta", "payload", "_source", "fields", "extra_info")
_RETRIEVER_NAME = re.compile(
    r"retriev|vector.?(store|db|search)|search|look.?up|knowledge|relevant"
    r"|(?:fetch|get|find|load|query).?(docs|documents|contexts?|passages|chunks|information)",
    re.IGNORECASE,
)
_NODE_REPR = re.compile(r"id_='?([^,')]+)'?.*?score=([-+.\deE]+|None)")
_DEEPEST = 4
_NUMBERED = re.compile(r"([^\d]*?\.)(\d{1,6})\.(.*)", re.DOTALL)


class Passage(NamedTuple):
    """What a log says of one retrieved passage, before its chunk id is settled."""

    chunk_id: str | None = None
    text: str | None = None
    doc_id: str | None = None
    score: float | None = None
    metadata: dict[str, Any] | None = None
    output_id: str | None = None
    """An id that stands only in the retriever's raw output."""


def settled(passage: Passage, rank: int, stage: str) -> RetrievedChunk | None:
    """Return the chunk with its id by the fallback chain and the link used; None when nothing identifies it.

    The chain: the explicit id, the id in the raw output, an id in the metadata, the hash of the text.
    """
    metadata = passage.metadata or {}
    chunk_id, origin = passage.chunk_id, "explicit"
    if not chunk_id:
        chunk_id, origin = passage.output_id, "output"
    if not chunk_id:
        chunk_id, origin = _first_id(metadata, _METADATA_ID_KEYS), "metadata"
    if not chunk_id and passage.text:
        chunk_id, origin = chunk_text_hash(passage.text), "text_hash"
    if not chunk_id:
        return None
    doc_id = passage.doc_id or _first_id(metadata, _DOC_ID_KEYS)
    score = passage.score if passage.score is not None else _first_number(metadata, _SCORE_KEYS)
    return RetrievedChunk(chunk_id, passage.text, doc_id, score, rank, stage, origin)


def chunks_in(value: Any, stage: str = "retriever") -> list[RetrievedChunk]:
    """Return the passages found in a retriever's output, ranked by their place in it."""
    chunks = (settled(passage, rank, stage) for rank, passage in enumerate(passages_in(value)))
    return [chunk for chunk in chunks if chunk is not None]


def returned_chunks(output: Any) -> list[RetrievedChunk]:
    """Return the passages that a pipeline hands back beside its answer, under a name such as `source_documents`."""
    found = parsed(output)
    if not isinstance(found, dict):
        return []
    for key in _RETURNED:
        listed = found.get(key)
        if isinstance(listed, list) and listed and all(isinstance(item, dict) for item in listed):
            return chunks_in(listed)
    inner = found.get("output")
    return returned_chunks(inner) if isinstance(inner, dict) else []


def chunks_of_tool(name: str, output: Any) -> list[RetrievedChunk]:
    """Return the passages in the output of a step called like a retriever, though it does not say it is one."""
    return chunks_in(plain_result(output)) if _RETRIEVER_NAME.search(name) else []


def passages_in(value: Any, depth: int = 0) -> list[Passage]:
    """Return the passages in a list, in an object holding a list, in parallel arrays, or in JSON text of these."""
    found = parsed(value)
    if isinstance(found, list):
        return _passages_of_list(found, depth)
    if not isinstance(found, dict) or depth > _DEEPEST:
        return []
    columns = _passages_of_columns(found)
    if columns:
        return columns
    for key in _LISTS:
        if isinstance(found.get(key), list | dict | str) and (inner := passages_in(found[key], depth + 1)):
            return inner
    alone = passage_of(found)
    return [alone] if alone is not None and alone.text else []


def passage_of(item: Any) -> Passage | None:
    """Return the passage that one item of a list describes: an object, a text, or an [object, score] pair."""
    if isinstance(item, list) and len(item) == 2 and isinstance(item[1], int | float):  # noqa: PLR2004 - a pair
        inner = passage_of(item[0])
        return inner._replace(score=decimal(item[1])) if inner is not None else None
    if isinstance(item, str):
        return _passage_of_text(item)
    return _passage_of_object(item) if isinstance(item, dict) else None


def _passages_of_list(items: list[Any], depth: int) -> list[Passage]:
    if items and depth <= _DEEPEST and all(isinstance(item, list) for item in items):
        nested = [passage_of(item) for item in items]
        if not all(passage is not None for passage in nested):
            return [passage for item in items for passage in passages_in(item, depth + 1)]
    return [passage for item in items if (passage := passage_of(item)) is not None]


def _passage_of_text(item: str) -> Passage | None:
    found = parsed(item)
    if isinstance(found, dict):
        return _passage_of_object(found)
    node = _NODE_REPR.search(item) if item.startswith("<") else None
    if node is not None:
        return Passage(chunk_id=node[1], score=decimal(node[2]))
    text = said(item)
    return Passage(text=text) if text is not None else None


def _passage_of_object(item: dict[str, Any]) -> Passage | None:
    if item.get("lc") and isinstance(item.get("kwargs"), dict):
        item = item["kwargs"]
    for key in ("node", "document", "doc", "chunk"):
        if key in item and isinstance(item[key], dict):
            inner = _passage_of_object(item[key])
            score = _first_number(item, _SCORE_KEYS)
            if inner is not None:
                return inner if score is None else inner._replace(score=score)
    metadata = _metadata_of(item)
    text = _first_text(item, _TEXT_KEYS) or _first_text(metadata, _TEXT_KEYS) or _scored_text(item)
    chunk_id = _first_id(item, _CHUNK_ID_KEYS)
    if text is None and chunk_id is None and not _first_id(metadata, _METADATA_ID_KEYS):
        return None
    return Passage(chunk_id, text, _first_id(item, _DOC_ID_KEYS), _first_number(item, _SCORE_KEYS), metadata)


def _scored_text(item: dict[str, Any]) -> str | None:
    """Return the one text beside a score, whatever it is called."""
    rest = [value for key, value in item.items() if key not in _SCORE_KEYS]
    return said(rest[0]) if len(rest) == 1 and _first_number(item, _SCORE_KEYS) is not None else None


def _metadata_of(item: dict[str, Any]) -> dict[str, Any]:
    for key in _METADATA_KEYS:
        if key in item and isinstance(metadata := parsed(item[key]), dict):
            return metadata
    return {}


def _passages_of_columns(columns: dict[str, Any]) -> list[Passage]:
    ids = _column(columns.get("ids"))
    texts = _column(columns.get("documents") or columns.get("document"))
    metadatas = _column(columns.get("metadatas") or columns.get("metadata"))
    scores = _column(columns.get("distances") or columns.get("scores"))
    if not (ids or (texts and metadatas)) or any(isinstance(text, dict) for text in texts):
        return []
    return [
        Passage(
            _id(_at(ids, place)),
            said(_at(texts, place)),
            None,
            decimal(_at(scores, place)),
            metadata if isinstance(metadata := _at(metadatas, place), dict) else None,
        )
        for place in range(max(len(ids), len(texts)))
    ]


def _column(value: Any) -> list[Any]:
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        return value[0]
    return value if isinstance(value, list) else []


def _at(column: list[Any], place: int) -> Any:
    return column[place] if place < len(column) else None


def _first_text(item: dict[str, Any], keys: tuple[str, ...]) -> str | None:
    for key in keys:
        if key in item and (text := said(item[key])) is not None:
            return text
    return None


def _first_id(item: dict[str, Any], keys: tuple[str, ...]) -> str | None:
    for key in keys:
        if key in item and (found := _id(item[key])) is not None:
            return found
    return None


def _id(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return canonical_chunk_id(value) or None if said(str(value)) else None


def document_id(metadata: dict[str, Any]) -> str | None:
    """Return the document that a passage's metadata names."""
    return _first_id(metadata, _DOC_ID_KEYS)


def _first_number(item: dict[str, Any], keys: tuple[str, ...]) -> float | None:
    for key in keys:
        if key in item and (found := decimal(item[key])) is not None:
            return found
    return None


FLAT_METADATA = "metadata."
"""Metadata spelled as flat keys; grouped as number 0 though they have none."""
Numbered = dict[str, dict[int, dict[str, Any]]]
"""Flat keys `prefixN.rest` as prefix, then N, then rest."""


class Place(NamedTuple):
    """A key `prefixN.rest`."""

    prefix: str
    number: int
    rest: str


def numbered(attributes: dict[str, Any]) -> Numbered:
    """Return the attributes with a number in their key, by what stands before it, by number, by what stands after."""
    return {
        prefix: {number: {rest: attributes[key] for rest, key in fields} for number, fields in numbers}
        for prefix, numbers in _places_of(tuple(attributes))
    }


_Places = list[tuple[str, list[tuple[int, list[tuple[str, str]]]]]]


@lru_cache(maxsize=1 << 10)
def _places_of(keys: tuple[str, ...]) -> _Places:
    """Return where the values of these keys go; the spans that one step writes have the same keys again and again."""
    found: dict[str, dict[int, list[tuple[str, str]]]] = {}
    for key in keys:
        place = place_of(key)
        if place is not None:
            prefix, number, rest = place
            found.setdefault(prefix, {}).setdefault(number, []).append((rest, key))
    return [(prefix, list(numbers.items())) for prefix, numbers in found.items()]


@lru_cache(maxsize=1 << 14)
def place_of(key: str) -> Place | None:
    """Return where a key with a number in it belongs; None for any other."""
    if key.startswith(FLAT_METADATA):
        return Place(FLAT_METADATA, 0, key[len(FLAT_METADATA) :])
    place = _NUMBERED.match(key)
    return Place(place[1], int(place[2]), place[3]) if place is not None else None


def iter_numbered(attributes: dict[str, Any], prefix: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (N, {rest: value}) of the flat keys `prefixN.rest`, in order of N."""
    yield from sorted(numbered(attributes).get(prefix, {}).items())

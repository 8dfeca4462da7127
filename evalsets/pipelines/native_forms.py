"""From what user code returns (ids, dicts, LangChain or LlamaIndex documents) to chunks and answers, and back."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

from evalsets.chunks import Chunk, canonical_chunk_id, chunk_text_hash
from evalsets.pipelines.base import Answer, Asked, Retrieved
from evalsets.pipelines.faults import CallFailedError

ID_KEYS = ("chunk_id", "id", "_id", "node_id", "passage_id", "document_id")
TEXT_KEYS = ("text", "page_content", "content", "passage", "body", "document")
DOC_KEYS = ("doc_id", "ref_doc_id", "source", "file_name", "document_id", "title")
SCORE_KEYS = ("score", "relevance_score", "similarity", "_score")
ANSWER_KEYS = ("answer", "response", "result", "output", "text", "content")
RETRIEVED_KEYS = (
    "retrieved",
    "chunks",
    "contexts",
    "context",
    "source_documents",
    "documents",
    "sources",
    "source_nodes",
)


def to_retrieved(value: Any) -> Retrieved:
    """Return what a retriever gave as Retrieved; raises CallFailedError that names the value which is no chunk."""
    if isinstance(value, Retrieved):
        return value
    if value is None:
        raise CallFailedError("retrieve returned None; return a list of chunks, empty when nothing was found")
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise CallFailedError(f"retrieve returned {_shown(value)}; return a list of chunk ids, dicts or documents")
    natives = tuple(value)
    forms = {_form_of(native) for native in natives}
    chunks = tuple(to_chunk(native, rank) for rank, native in enumerate(natives))
    form = forms.pop() if len(forms) == 1 else "chunk"
    return Retrieved(chunks, form, natives if form != "chunk" else ())


def to_chunk(native: Any, rank: int = 0) -> Chunk:
    """Return one retrieved thing as a Chunk; without an id of its own it is known by the hash of its text."""
    match _form_of(native):
        case "chunk":
            chunk: Chunk = native._replace(chunk_id=canonical_chunk_id(native.chunk_id))
        case "id":
            chunk = Chunk(canonical_chunk_id(native), "")
        case "dict":
            chunk = _from_mapping(native)
        case "langchain":
            chunk = _from_mapping({"id": native.id, "page_content": native.page_content}, native.metadata or {})
        case "llamaindex":
            chunk = _from_llamaindex(native)
        case _:
            raise CallFailedError(
                f"retrieved chunk {rank + 1} is {_shown(native)}; ids, dicts and documents are understood"
            )
    if chunk.score is not None and not math.isfinite(chunk.score):
        raise CallFailedError(
            f"retrieved chunk {chunk.chunk_id!r} has the score {chunk.score!r}; give a number or leave it out"
        )
    return chunk


def to_answer(value: Any) -> Answer:
    """Return what an answering step gave as Answer; raises CallFailedError on None and on what is no text."""
    if isinstance(value, Answer):
        return value
    if value is None:
        raise CallFailedError("answer returned None; return the text of the answer")
    if isinstance(value, str):
        return Answer(value)
    text = _first(value, ANSWER_KEYS)
    if isinstance(text, Mapping):
        return to_answer(text)
    if not isinstance(text, str):
        raise CallFailedError(f"answer returned {_shown(value)}; return a text, or a dict with the key 'answer'")
    usage = _first(value, ("usage", "usage_metadata")) or value
    return Answer(
        text,
        cited_ids=tuple(canonical_chunk_id(cited) for cited in _first(value, ("cited_ids", "citations")) or ()),
        input_tokens=_first(usage, ("input_tokens", "prompt_tokens")),
        output_tokens=_first(usage, ("output_tokens", "completion_tokens")),
        cost=_first(value, ("cost", "cost_usd", "total_cost")),
        latency_s=_latency_s(value),
    )


def to_asked(value: Any) -> Asked:
    """Return what one `ask` gave (a pair, a dict or a response object) as Asked."""
    if isinstance(value, Asked):
        return value
    if value is None:
        raise CallFailedError("ask returned None; return the answer and the chunks it was made from")
    if isinstance(value, str):
        return Asked(Answer(value), Retrieved(()))
    if isinstance(value, Sequence) and len(value) == len(("answer", "chunks")):
        return Asked(to_answer(value[0]), to_retrieved(value[1]))
    retrieved = _first(value, RETRIEVED_KEYS)
    return Asked(to_answer(value), to_retrieved(retrieved if retrieved is not None else ()))


def natives_of(retrieved: Retrieved) -> list[Any]:
    """Return the chunks in the pipeline's own form, rebuilt where a journal or a planted chunk holds no original."""
    if retrieved.natives and len(retrieved.natives) == len(retrieved.chunks):
        return list(retrieved.natives)
    rebuild = _REBUILDERS.get(retrieved.form)
    return [rebuild(chunk) for chunk in retrieved.chunks] if rebuild else list(retrieved.chunks)


def rebuild_native(form: str, chunk: Chunk) -> Any:
    """Return one chunk in the pipeline's own form."""
    rebuild = _REBUILDERS.get(form)
    return rebuild(chunk) if rebuild else chunk


def _form_of(native: Any) -> str:
    if isinstance(native, Chunk):
        return "chunk"
    if isinstance(native, dict):
        return "dict"
    if isinstance(native, (str, int)) and not isinstance(native, bool):
        return "id"
    if isinstance(native, Mapping):
        return "dict"
    if hasattr(native, "page_content"):
        return "langchain"
    return "llamaindex" if hasattr(getattr(native, "node", native), "node_id") else "unknown"


def _from_mapping(native: Mapping[str, Any], metadata: Mapping[str, Any] | None = None) -> Chunk:
    inner = metadata if metadata is not None else native.get("metadata")
    places = (native, inner) if isinstance(inner, Mapping) else (native,)
    text = str(_first_in(places, TEXT_KEYS) or "")
    chunk_id = _first_in(places, ID_KEYS)
    if chunk_id is None and not text:
        places_of_id = f"its id may be {_listed(ID_KEYS)}"
        raise CallFailedError(f"a retrieved chunk has neither an id nor a text: {_shown(native)}; {places_of_id}")
    doc_id = _first_in(places, DOC_KEYS)
    return Chunk(
        chunk_text_hash(text) if chunk_id is None else canonical_chunk_id(chunk_id),
        text,
        "" if doc_id is None else str(doc_id),
        _score(_first_in(places, SCORE_KEYS)),
    )


def _first_in(places: Iterable[Mapping[str, Any]], names: Iterable[str]) -> Any:
    """Return the first value that is there, by the order of the places, then of the names."""
    for place in places:
        for name in names:
            if name in place and (value := place[name]) is not None:
                return value
    return None


def _from_llamaindex(native: Any) -> Chunk:
    node = getattr(native, "node", native)
    metadata = getattr(node, "metadata", None) or {}
    text = node.get_content() if hasattr(node, "get_content") else getattr(node, "text", "")
    doc_id = getattr(node, "ref_doc_id", None) or _first(metadata, DOC_KEYS) or ""
    chunk_id = _first(metadata, ("chunk_id",)) or node.node_id
    return Chunk(canonical_chunk_id(chunk_id), str(text), str(doc_id), _score(getattr(native, "score", None)))


def _score(value: Any) -> float | None:
    if value is None:
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        raise CallFailedError(f"a retrieved chunk has the score {value!r}; give a number or leave it out") from None


def _latency_s(value: Any) -> float | None:
    milliseconds = _first(value, ("latency_ms",))
    return float(milliseconds) / 1000 if milliseconds is not None else _first(value, ("latency_s",))


def _first(holder: Any, names: Iterable[str]) -> Any:
    return _first_of([holder], names)


def _first_of(holders: Sequence[Any], names: Iterable[str]) -> Any:
    """Return the first value that is there, by the order of the names, then of the holders."""
    for name in names:
        for holder in holders:
            # dict first: asking the abstract class costs more than all else here
            is_mapping = isinstance(holder, dict) or isinstance(holder, Mapping)  # noqa: SIM101
            value = holder.get(name) if is_mapping else getattr(holder, name, None)
            if value is not None and not callable(value):
                return value
    return None


def _langchain_document(chunk: Chunk) -> Any:
    document = import_module("langchain_core.documents").Document
    return document(page_content=chunk.text, metadata={"source": chunk.doc_id}, id=chunk.chunk_id)


def _llamaindex_node(chunk: Chunk) -> Any:
    schema = import_module("llama_index.core.schema")
    return schema.NodeWithScore(node=schema.TextNode(id_=chunk.chunk_id, text=chunk.text), score=chunk.score)


def _plain_dict(chunk: Chunk) -> dict[str, Any]:
    return {**chunk._asdict(), "id": chunk.chunk_id}


_REBUILDERS: dict[str, Callable[[Chunk], Any]] = {
    "id": lambda chunk: chunk.chunk_id,
    "dict": _plain_dict,
    "langchain": _langchain_document,
    "llamaindex": _llamaindex_node,
}


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def _shown(value: Any, limit: int = 120) -> str:
    text = f"{type(value).__name__} {value!r}"
    return text if len(text) <= limit else text[: limit - 1] + "…"

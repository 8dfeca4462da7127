"""What a call handed back as it stands in the journal, and the case that a metric or a judge sees."""

from collections.abc import Mapping
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from evalsets.chunks import Chunk, chunk_text_hash
from evalsets.items import Item
from evalsets.judges.verdict import Verdict
from evalsets.metrics.base import ScoredCase
from evalsets.pipelines.base import Answer, Asked, Retrieved
from evalsets.pipelines.faults import CallFailedError
from evalsets.pipelines.native_forms import rebuild_native, to_answer, to_asked, to_retrieved

PLANTED_AT = 1
"""Planted chunks stand after the first retrieved one: high enough to be read, below what search found best."""


def shaped(step: str, value: Any) -> Any:
    """Return a step's value as Retrieved, Answer, Asked or Verdict; raises CallFailedError for another shape."""
    match step:
        case "retrieve":
            return to_retrieved(value)
        case "answer":
            return to_answer(value)
        case "ask":
            return to_asked(value)
        case _ if isinstance(value, Verdict):
            return value
    raise CallFailedError(f"the judge returned {type(value).__name__} {value!r}; a judge returns a Verdict")


def encode(value: Any) -> Any:
    """Return a shaped value as it stands in the journal: JSON-ready."""
    match value:
        case Asked():
            return {"answer": _wire_answer(value.answer), "retrieved": _wire_retrieved(value.retrieved)}
        case Retrieved():
            return _wire_retrieved(value)
        case Answer():
            return _wire_answer(value)
        case _:
            return value.model_dump(mode="json", exclude_defaults=True) | {"passed": value.passed}


def decode(step: str, wire: Any) -> Any:
    """Return Retrieved, Answer, Asked or Verdict from its journalled form."""
    match step:
        case "retrieve":
            return _retrieved(wire)
        case "answer":
            return _answer(wire)
        case "ask":
            return Asked(_answer(wire["answer"]), _retrieved(wire["retrieved"]))
        case _:
            return Verdict.model_validate(wire)


def case_of(  # noqa: PLR0913 - what a case is made of
    item: Item,
    retrieved: Retrieved | None,
    answer: Answer | None,
    *,
    retrieve_s: float | None = None,
    answer_s: float | None = None,
    verdict: Verdict | None = None,
    texts: Mapping[str, str] | None = None,
) -> ScoredCase:
    """Return the case a judge or metric sees; what failed is None or empty.

    `texts` gives the corpus's text by chunk id, for pipelines that hand over bare ids.
    """
    return ScoredCase(
        item=item,
        retrieved=_known_by_gold_id(item, _with_texts(retrieved.chunks, texts)) if retrieved else (),
        answer=answer.text if answer else None,
        cited_ids=answer.cited_ids if answer else (),
        retrieve_s=retrieve_s,
        answer_s=answer.latency_s if answer and answer.latency_s is not None else answer_s,
        input_tokens=answer.input_tokens if answer else None,
        output_tokens=answer.output_tokens if answer else None,
        cost=answer.cost if answer else None,
        verdict=verdict,
    )


def mix_in_planted(item: Item, retrieved: Retrieved) -> Retrieved:
    """Return what the answering step is given: the retrieved chunks with the item's planted ones among them."""
    if not item.planted:
        return retrieved
    if retrieved.form == "id":
        raise CallFailedError(
            "the pipeline hands on bare chunk ids, so a planted chunk cannot reach it; return chunks with text"
        )
    planted = [Chunk(chunk.chunk_id, chunk.text) for chunk in item.planted]
    at = min(PLANTED_AT, len(retrieved.chunks))
    chunks = (*retrieved.chunks[:at], *planted, *retrieved.chunks[at:])
    if not retrieved.natives:
        return retrieved._replace(chunks=chunks)
    natives = [rebuild_native(retrieved.form, chunk) for chunk in planted]
    return retrieved._replace(chunks=chunks, natives=(*retrieved.natives[:at], *natives, *retrieved.natives[at:]))


def _with_texts(chunks: tuple[Chunk, ...], texts: Mapping[str, str] | None) -> tuple[Chunk, ...]:
    if not texts or all(chunk.text for chunk in chunks):
        return chunks
    return tuple(chunk if chunk.text else chunk._replace(text=texts.get(chunk.chunk_id, "")) for chunk in chunks)


def _known_by_gold_id(item: Item, chunks: tuple[Chunk, ...]) -> tuple[Chunk, ...]:
    """Give a chunk that has no id but its text's hash the id of the gold chunk with that text."""
    if not any(chunk.chunk_id.startswith("sha256:") for chunk in chunks):
        return chunks
    ids = {gold.text_hash: gold.chunk_id for gold in item.gold_chunks if gold.text_hash}
    return tuple(
        chunk._replace(chunk_id=ids.get(chunk.chunk_id, chunk.chunk_id))
        if chunk.chunk_id == chunk_text_hash(chunk.text)
        else chunk
        for chunk in chunks
    )


def _wire_retrieved(retrieved: Retrieved) -> dict[str, Any]:
    """Keep dicts as they came, since `answer` may want all that stands in them; other forms as chunks."""
    if retrieved.form == "dict" and retrieved.natives and _is_json(retrieved.natives):
        return {"form": "dict", "natives": list(retrieved.natives)}
    return {"form": retrieved.form, "chunks": [list(chunk) for chunk in retrieved.chunks]}


def _retrieved(wire: Mapping[str, Any]) -> Retrieved:
    if "natives" in wire:
        return to_retrieved(wire["natives"])
    return Retrieved(tuple(Chunk(*fields) for fields in wire["chunks"]), wire["form"])


def _is_json(value: Any) -> bool:
    try:
        to_json(value)
    except PydanticSerializationError:
        return False
    return True


def _wire_answer(answer: Answer) -> dict[str, Any]:
    wire = {name: value for name, value in answer._asdict().items() if value not in (None, ())}
    return wire | {"text": answer.text}


def _answer(wire: Mapping[str, Any]) -> Answer:
    return Answer(**{**wire, "cited_ids": tuple(wire.get("cited_ids", ()))})

"""Makes of the passages that alike traces retrieved their links, column by column."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evalsets.chunks import canonical_chunk_id
from ingest.alike.blocks import Array, Block, Ints, Slices
from ingest.alike.columns import Column
from ingest.alike.places import Chunks

STAGE, ORIGIN = "retriever", "explicit"


def links_of(block: Block, chunks: Chunks, size: int) -> pa.Table:
    """Return the links of so many turns to what each of them found; raises ValueError for ranks that are not usual."""
    many = len(chunks.ranks)
    if chunks.ranks != list(range(many)):
        raise ValueError("ranks out of order")
    order = chunks.order()

    def encoded(found: Slices) -> Array:
        return block.array(found.take(order)).dictionary_encode()

    rows = np.arange(size, dtype=np.int32)
    return pa.table(
        {
            "row": pa.array(np.repeat(rows, many)),
            "rank": pa.array(np.tile(np.arange(many, dtype=np.int32), size)),
            "chunk_id": _canonical(encoded(chunks.ids.values)),
            "doc_id": encoded(chunks.docs.values),
            "text_hash": encoded(chunks.hashes),
            "score": pa.array(chunks.scores.values[order]),
            "stage": constant(STAGE, many * size),
            "id_origin": constant(ORIGIN, many * size),
        }
    )


def _canonical(ids: Array) -> Array:
    if pc.all(pc.string_is_ascii(ids.dictionary)).as_py() is not False:
        return ids
    named = list(map(canonical_chunk_id, ids.dictionary.to_pylist()))
    return pa.array(named, pa.string()).take(ids.indices).dictionary_encode()


def constant(text: str, size: int) -> Array:
    """Return the same text so many times."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(size, np.int32)), pa.array([text], pa.string()))


def texts_at(block: Block, found: Slices) -> list[str | None]:
    """Return texts of a block, None for what is none."""
    return [None if text is None else text.decode() for text in block.texts.listed(*found)]


def steps_of(query: Column, chunks: Chunks, rows: Ints) -> Iterator[dict[str, Any]]:
    """Yield the steps that found the passages of some turns, as the metadata of a turn tells them."""
    block = query.block
    many = range(len(chunks.ranks))
    places = [np.arange(len(chunks.hashes.starts))[chunks.places_of(at)][rows] for at in many]
    ids = zip(*(texts_at(block, chunks.ids.values.take(at)) for at in places), strict=True)
    scores = zip(*(chunks.scores.values[at].tolist() for at in places), strict=True)
    for text, named, scored in zip(texts_at(block, query.values.take(rows)), ids, scores, strict=True):
        yield {"stage": STAGE, "query": text, "chunk_ids": [*named], "scores": [*scored]}

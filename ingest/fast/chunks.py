"""Turns lists of retrieved chunks, as DuckDB reads them, into links; each passage is looked at once."""

from collections.abc import Callable
from queue import SimpleQueue
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evalsets.chunks import canonical_chunk_id, chunk_text_hash
from ingest.fast.columns import (
    Array,
    Mask,
    Normalised,
    either,
    number_array,
    only_chunk,
    rounded_ids,
    text_array,
    true_rows,
)
from ingest.privacy import Redactor

_MOST_PASSAGES = 100_000
_ORIGINS = pa.array(["explicit", "metadata", "text_hash"])
PassageFinder = Callable[[Array], pa.Table]
"""Finds the passages of the chunks at the given places of a slice: a column for each part, and the hash as `p`."""
_NO_PASSAGES = pa.table(
    {
        "p": pa.array([], pa.uint64()),
        **{name: pa.array([], pa.string()) for name in ("chunk_id", "doc_id", "text_hash")},
        "origin": pa.array([], pa.int32()),
        **{name: pa.array([], pa.bool_()) for name in ("odd", "has_chunk_id", "has_doc_id", "has_text")},
    }
)
"""What is known of passages, by a hash of 64 bits of their parts as logged; `has_` tells which parts are logged."""


class Links(NamedTuple):
    """The chunks of a slice, one row a chunk, and which rows of the slice are for the mapping reader."""

    table: pa.Table
    odd: Mask
    found: set[str]
    """Which of chunk_id, doc_id, text and score some chunk has."""
    given: dict[str, int]
    """How many chunks have each of these, whatever it says."""


class PassageBook:
    """The passages of one log, met by readers on several threads; remembers as many as memory allows."""

    def __init__(self) -> None:
        """Know no passage yet."""
        self._known = _NO_PASSAGES
        self._new: SimpleQueue[tuple[str, str]] = SimpleQueue()
        self._lock = Lock()

    def known(self) -> pa.Table:
        """Return what is known, begun anew when it is too much; each reader keeps to what it was given."""
        with self._lock:
            if self._known.num_rows > _MOST_PASSAGES:
                self._known = _NO_PASSAGES
            return self._known

    def learn(self, known: pa.Table, found: pa.Table, redactor: Redactor) -> pa.Table:
        """Return what is known with the passages that were found."""
        seen = self._seen(found, redactor)
        with self._lock:
            # What others learned meanwhile stays, unless all was begun anew.
            latest = self._known if self._known.num_rows >= known.num_rows else known
            for table in (known, seen):
                is_new = pc.invert(pc.is_in(table["p"], only_chunk(latest["p"])))
                latest = pa.concat_tables([latest, table.filter(is_new)])
            self._known = latest.combine_chunks()
            return self._known

    def _seen(self, found: pa.Table, redactor: Redactor) -> pa.Table:
        columns = {name: only_chunk(found[name]) for name in found.column_names}
        texts, ids, docs = (text_array(columns[name]) for name in ("text", "chunk_id", "doc_id"))
        hashes = self._hashed(texts, redactor)
        odd = _any_of(len(found), texts.odd, ids.odd, docs.odd, rounded_ids(ids.values))
        chosen, docs_found, origin = ids.values, docs.values, np.zeros(len(found), np.int32)
        if in_metadata := _in_metadata("doc_id", columns, odd):
            docs_found = pc.coalesce(docs.values, *in_metadata)
        if in_metadata := _in_metadata("chunk_id", columns, odd):
            named = pc.utf8_trim_whitespace(pc.coalesce(*in_metadata))
            chosen, origin = pc.coalesce(named, hashes), np.where(named.is_valid(), 1, 2).astype(np.int32)
        odd |= true_rows(chosen.is_null())
        given = {f"has_{name}": columns[name].is_valid() for name in ("chunk_id", "doc_id", "text")}
        named_columns = {"chunk_id": _canonical(chosen), "doc_id": docs_found, "text_hash": hashes}
        seen = {"p": columns["p"], **named_columns, "origin": pa.array(origin), "odd": pa.array(odd), **given}
        return pa.table(seen, schema=_NO_PASSAGES.schema)

    def _hashed(self, texts: Normalised, redactor: Redactor) -> Array:
        """Return the hash of each text, and keep the text, redacted, to be handed on; a structure has none."""
        is_text = None if texts.odd is None else pa.array(~texts.odd)
        written = (texts.values if is_text is None else pc.if_else(is_text, texts.values, None)).to_pylist()
        hashes = [None if text is None else chunk_text_hash(text) for text in written]
        for text_hash, shown in zip(hashes, redactor.column(written), strict=True):
            if text_hash is not None:
                # The text first: a reader that sees the hash may hand on its block at once.
                self._new.put((text_hash, shown or ""))
        return pa.array(hashes, pa.string())

    def drained(self) -> dict[str, str]:
        """Return the texts that were met since the last call, by hash.

        Called for each block in order before it is stored, it gives every text no later than the first link to it.
        """
        return dict(self._new.get_nowait() for _ in range(self._new.qsize()))


class ChunkReader:
    """Reads the chunk lists of slices on one thread."""

    def __init__(self, stage: str, redactor: Redactor, book: PassageBook) -> None:
        """Share `book` with the readers of other threads."""
        self.stage, self.redactor, self.book = stage, redactor, book

    def read(self, lists: Array, find_passages: PassageFinder) -> Links:
        """Flatten the lists of one slice; `find_passages` looks up passages not met before."""
        sizes = pc.fill_null(pc.list_value_length(lists), 0).to_numpy()
        chunks = lists.flatten()
        rows = np.repeat(np.arange(len(lists), dtype=np.int32), sizes)
        firsts = np.cumsum(sizes) - sizes
        ranks = (np.arange(len(rows)) - np.repeat(firsts, sizes)).astype(np.int32)
        known, places = self._places(chunks.field("p"), find_passages)
        logged, scores = chunks.field("score"), number_array(chunks.field("score"))
        columns = {name: _picked(only_chunk(known[name]), places) for name in ("chunk_id", "doc_id", "text_hash")}
        table = {
            "row": pa.array(rows),
            "rank": pa.array(ranks),
            **columns,
            "score": scores.values,
            "stage": _constant(self.stage, len(rows)),
            "id_origin": pa.DictionaryArray.from_arrays(only_chunk(known["origin"]).take(pa.array(places)), _ORIGINS),
        }
        odd = np.zeros(len(lists), dtype=bool)
        odd[rows[either(scores.odd, _flags(known, "odd")[places])]] = True
        given = {name: int(_flags(known, f"has_{name}")[places].sum()) for name in ("chunk_id", "doc_id", "text")}
        found = {"chunk_id": columns["chunk_id"], "doc_id": columns["doc_id"], "text": columns["text_hash"]}
        names = {name for name, column in {**found, "score": scores.values}.items() if column.null_count < len(column)}
        return Links(pa.table(table), odd, names, {**given, "score": len(logged) - logged.null_count})

    def _places(self, keys: Array, find_passages: PassageFinder) -> tuple[pa.Table, Any]:
        """Return passages, among them all those of the slice, and where each chunk's stands."""
        known = self.book.known()
        places = pc.index_in(keys, only_chunk(known["p"]))
        if places.null_count:
            unknown = np.flatnonzero(places.is_null())
            firsts = np.unique(keys.to_numpy()[unknown], return_index=True)[1]
            known = self.book.learn(known, find_passages(pa.array(unknown[firsts])), self.redactor)
            places = pc.index_in(keys, only_chunk(known["p"]))
        if known.num_rows > len(keys):
            used = pc.unique(places)
            known, places = known.take(used), pc.index_in(places, used)
        return known, places.to_numpy()


def _picked(values: Array, places: Any) -> Array:
    """Return the values at these places, each of them sent once."""
    missing = true_rows(values.is_null())[places] if values.null_count else None
    return pa.DictionaryArray.from_arrays(pa.array(places, mask=missing), values)


def _flags(known: pa.Table, name: str) -> Mask:
    return true_rows(only_chunk(known[name]))


def _any_of(size: int, *masks: Mask | None) -> Mask:
    out = np.zeros(size, dtype=bool)
    for mask in masks:
        if mask is not None:
            out |= mask
    return out


def _in_metadata(name: str, columns: dict[str, Array], odd: Mask) -> list[Array]:
    """Return the columns of metadata that may hold an id that no path is mapped to, in their order."""
    found = [text_array(columns[column]) for column in columns if column.startswith(f"{name}_")]
    for column in found:
        if column.odd is not None:
            odd |= column.odd
    return [column.values for column in found]


def _canonical(ids: Array) -> Array:
    """Bring ids that are not ASCII into the form in which ids are compared."""
    if pc.all(pc.string_is_ascii(ids)).as_py() is not False:
        return ids
    return pa.array([None if key is None else canonical_chunk_id(key) for key in ids.to_pylist()], pa.string())


def _constant(text: str, size: int) -> Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(size, dtype=np.int32)), pa.array([text], pa.string()))

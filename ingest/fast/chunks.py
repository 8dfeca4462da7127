"""Turns lists of retrieved chunks, as DuckDB reads them, into links and chunk texts, each text looked at once."""

from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evalsets.chunks import canonical_chunk_id, chunk_text_hash
from ingest.fast.columns import Array, Mask, number_array, rounded_ids, text_array, true_rows
from ingest.privacy import Redactor

_MOST_TEXTS = 100_000
ODD = ""
"""Stands for a text that may be a structure."""
TextFinder = Callable[[Array], list[tuple[int, str]]]
"""Finds the texts of the given hashes."""


class Links(NamedTuple):
    """The chunks of a slice, one row a chunk, and which rows of the slice are for the mapping reader."""

    table: pa.Table
    odd: Mask
    found: set[str]
    """Which of chunk_id, doc_id, text and score some chunk has."""


class TextBook:
    """The chunk texts of one log, met by readers on several threads; remembers as many hashes as memory allows."""

    def __init__(self) -> None:
        """Know no text yet."""
        self.hashes: dict[int, str | None] = {}
        """What is stored as the hash of a text, by a hash of 64 bits; None for no text, `ODD` for a structure."""
        self._new: SimpleQueue[tuple[str, str]] = SimpleQueue()

    def learn(self, found: list[tuple[int, str]], redactor: Redactor, hashes: dict[int, str | None]) -> None:
        """Hash and redact texts; a marker of missing content is none."""
        if not found:
            return
        keys, written = zip(*found, strict=True)
        checked = text_array(pa.array(written, pa.string()))
        redacted = redactor.column(list(written))
        for at, (key, text, shown) in enumerate(zip(keys, checked.values.to_pylist(), redacted, strict=True)):
            if checked.odd is not None and checked.odd[at]:
                hashes[key] = ODD
            elif text is None:
                hashes[key] = None
            else:
                text_hash = chunk_text_hash(text)
                # The text first: a reader that sees the hash may hand on its block at once.
                self._new.put((text_hash, shown or ""))
                hashes[key] = text_hash

    def known(self) -> dict[int, str | None]:
        """Return the hashes, begun anew when there are too many; each reader keeps to what it was given."""
        if len(self.hashes) > _MOST_TEXTS:
            self.hashes = {}
        return self.hashes

    def drained(self) -> dict[str, str]:
        """Return the texts that were met since the last call, by hash.

        Called for each block in order before it is stored, it gives every text no later than the first link to it.
        """
        return dict(self._new.get_nowait() for _ in range(self._new.qsize()))


class ChunkReader:
    """Reads the chunk lists of slices on one thread."""

    def __init__(self, stage: str, redactor: Redactor, book: TextBook) -> None:
        """Share `book` with the readers of other threads."""
        self.stage, self.redactor, self.book = stage, redactor, book

    def read(self, lists: Array, find_texts: TextFinder) -> Links:
        """Flatten the lists of one slice; `find_texts` looks up the texts of hashes not met before."""
        sizes = pc.fill_null(pc.list_value_length(lists), 0).to_numpy()
        chunks = lists.flatten()
        rows = np.repeat(np.arange(len(lists), dtype=np.int32), sizes)
        firsts = np.cumsum(sizes) - sizes
        ranks = (np.arange(len(rows)) - np.repeat(firsts, sizes)).astype(np.int32)
        odd = _Odd(rows, len(lists))
        hashes = self._text_hashes(chunks.field("h"), find_texts, odd)
        raw_ids, origin = self._ids(chunks, hashes, odd)
        docs = odd.take(text_array(chunks.field("doc_id")))
        docs = pc.coalesce(docs, *_in_metadata("doc_id", chunks, odd))
        scores = odd.take(number_array(chunks.field("score")))
        found = {"chunk_id": raw_ids, "doc_id": docs, "text": hashes, "score": scores}
        columns = {
            "row": pa.array(rows),
            "rank": pa.array(ranks),
            "chunk_id": _canonical(raw_ids.dictionary_encode()),
            "doc_id": docs.dictionary_encode(),
            "text_hash": hashes,
            "score": scores,
            "stage": _constant(self.stage, len(rows)),
            "id_origin": origin,
        }
        names = {name for name, column in found.items() if column.null_count < len(column)}
        return Links(pa.table(columns), odd.rows, names)

    @staticmethod
    def _ids(chunks: Array, text_hashes: Array, odd: "_Odd") -> tuple[Array, Array]:
        """Return the id of each chunk and which link of the fallback chain gave it."""
        ids = odd.take(text_array(chunks.field("chunk_id")))
        odd.mark(rounded_ids(ids))
        in_metadata = _in_metadata("chunk_id", chunks, odd)
        if not in_metadata:
            odd.mark(true_rows(ids.is_null()))
            return ids, _constant("explicit", len(ids))
        found = pc.utf8_trim_whitespace(pc.coalesce(*in_metadata))
        chosen = pc.coalesce(found, text_hashes.cast(pa.string()))
        odd.mark(true_rows(chosen.is_null()))
        origins = pa.array(["metadata", "text_hash"])
        return chosen, pa.DictionaryArray.from_arrays(found.is_null().cast(pa.int32()), origins)

    def _text_hashes(self, hashes: Array, find_texts: TextFinder, odd: "_Odd") -> Array:
        """Return the hash of each text as it is stored, by way of the distinct ones."""
        encoded = hashes.dictionary_encode()
        distinct = encoded.dictionary.to_pylist()
        known = self.book.known()
        if unknown := [key for key in distinct if key not in known]:
            self.book.learn(find_texts(pa.array(unknown, pa.uint64())), self.redactor, known)
        meant = [known[key] for key in distinct]
        indices = encoded.indices
        if ODD in meant:
            is_odd = pa.array([entry == ODD for entry in meant]).take(indices)
            odd.mark(true_rows(is_odd))
        if None in meant:
            indices = pc.if_else(pa.array([entry is None for entry in meant]).take(indices), None, indices)
        return pa.DictionaryArray.from_arrays(indices, pa.array([entry or "" for entry in meant], pa.string()))


class _Odd:
    """Gathers the rows whose chunks need the mapping reader."""

    def __init__(self, rows: Any, size: int) -> None:
        self._rows = rows
        self.rows: Mask = np.zeros(size, dtype=bool)

    def mark(self, chunks: Mask | None) -> None:
        if chunks is not None:
            self.rows[self._rows[chunks]] = True

    def take(self, column: Any) -> Array:
        self.mark(column.odd)
        return column.values


def _in_metadata(name: str, chunks: Array, odd: _Odd) -> list[Array]:
    """Return the columns of metadata that may hold an id that no path is mapped to, in their order."""
    columns = [field for field in chunks.type.names if field.startswith(f"{name}_")]
    return [odd.take(text_array(chunks.field(column))) for column in columns]


def _canonical(ids: Array) -> Array:
    """Bring ids that are not ASCII into the form in which ids are compared."""
    if pc.all(pc.string_is_ascii(ids.dictionary)).as_py() is not False:
        return ids
    named = [key if key.isascii() else canonical_chunk_id(key) for key in ids.dictionary.to_pylist()]
    return pa.array([named[at] if at is not None else None for at in ids.indices.to_pylist()]).dictionary_encode()


def _constant(text: str, size: int) -> Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(size, dtype=np.int32)), pa.array([text], pa.string()))

"""Writes the spans of traces that are alike as the store keeps them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from ingest.alike.blocks import Block, Ints, Slices
from ingest.alike.places import Chunks, Place

_encode = msgspec.json.Encoder().encode
_STAGE, _ORIGIN = "retriever", "explicit"
_Part = tuple[bytes, Ints | None, Ints | None, bytes, bytes]


class WrittenSpans(NamedTuple):
    """The JSON text of the spans of each trace, as `trace_rows` writes it, one behind the other."""

    offsets: bytes
    """Where each begins, and where the last one ends, in numbers of 32 bits."""
    text: bytes

    def of(self, rows: Ints) -> list[memoryview]:
        """Return some of the texts."""
        ends, text = np.frombuffer(self.offsets, np.int32), memoryview(self.text)
        places = zip(ends[rows].tolist(), ends[rows + 1].tolist(), strict=True)
        return [text[start:end] for start, end in places]


def naming(block: Block, spans: WrittenSpans, found: Slices) -> Ints:
    """Return the traces of which the text holds theirs of some texts."""
    return np.frombuffer(block.texts.held(*found, np.frombuffer(spans.offsets, np.int32), spans.text), bool)


class _Parts:
    """A JSON text in parts, of which some are columns."""

    def __init__(self) -> None:
        self._parts: list[_Part] = []
        self._fixed = b""

    def fixed(self, text: str) -> None:
        """Add what is the same in all."""
        self._fixed += text.encode()

    def column(self, found: Slices, before: str = "", behind: str = "", instead: str = "") -> None:
        """Add a text with what stands around it, and what stands there for a missing one."""
        if self._fixed:
            self._parts.append((self._fixed, None, None, b"", b""))
            self._fixed = b""
        starts, lengths = map(np.ascontiguousarray, found)
        self._parts.append((before.encode(), starts, lengths, behind.encode(), instead.encode()))

    def woven(self, block: Block, rows: int) -> WrittenSpans:
        """Return the whole texts."""
        parts = [*self._parts, (self._fixed, None, None, b"", b"")]
        return WrittenSpans(*block.texts.woven(parts, rows))


def written_spans(block: Block, places: Sequence[Place], users: Sequence[Slices | None], adapter: str) -> WrittenSpans:
    """Return the spans of alike traces; `users` are their hashed users, place by place."""
    text = _Parts()
    for at, (place, user) in enumerate(zip(places, users, strict=True)):
        text.fixed("," if at else "[")
        text.column(place.ids("span_id"), '["', f'","{adapter}",')
        text.column(place.start_digits, "", ",")
        text.column(place.end_digits, "", ",")
        _add_nullable(text, user)
        text.fixed(f',{{"kind":"{place.kind}"')
        _add_facts(text, block, place)
        text.fixed("}]")
    text.fixed("]")
    return text.woven(block, places[0].size)


def _add_nullable(text: _Parts, found: Slices | None) -> None:
    if found is None:
        text.fixed("null")
    else:
        text.column(found, '"', '"', "null")


def _add_facts(text: _Parts, block: Block, place: Place) -> None:
    _add_fields(text, place, ("name",))
    if (parents := place.parents) is not None:
        text.column(parents, ',"parent_id":"', '"')
    if place.ended is not None:
        text.column(place.end_digits, ',"end_ns":')
    _add_fields(text, place, ("question", "answer", "query"))
    if place.chunks is not None:
        _add_chunks(text, place.chunks)
    _add_fields(text, place, ("session_id", "model", "prompt_version"))
    _add_fields(text, place, ("input_tokens", "output_tokens", "cost"), quote="")
    if (silent := place.is_silent()) is not None:
        mark = block.add([b',"is_silent":true'])
        text.column(Slices(np.repeat(mark.starts, place.size), np.where(silent, mark.lengths[0], -1)))
    if place.metadata:
        text.fixed(f',"metadata":{_encode(place.metadata).decode()}')


def _add_fields(text: _Parts, place: Place, names: Iterable[str], *, quote: str = '"') -> None:
    for name in names:
        if (field := place.fields.get(name)) is not None:
            text.column(field.written, f',"{name}":{quote}', quote)


def _add_chunks(text: _Parts, chunks: Chunks) -> None:
    for at, rank in enumerate(chunks.ranks):
        some = chunks.places_of(at)
        text.fixed("," if at else ',"chunk_ids":[')
        text.column(chunks.ids.written.take(some), '["', '",null,')
        _add_nullable(text, chunks.docs.written.take(some))
        text.column(chunks.scores.written.take(some), ",", f',{rank},"{_STAGE}","{_ORIGIN}","')
        text.column(chunks.hashes.take(some), "", '"]')
    text.fixed("]")

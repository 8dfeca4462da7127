"""Writes parts of line files into files of their own, for readers that take a whole file."""

from collections.abc import Iterator
from io import RawIOBase
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from ingest.reading.blocks import PART_BYTES, LinePart
from ingest.reading.key_counting import MARGIN, KeyCounter

_PIECE_BYTES = 1 << 18
_NEWLINE = 10


class Written(NamedTuple):
    """What a slice holds."""

    lines: int
    valued_keys: int | None
    """How many keys, at any depth, have a value other than null; None when that cannot be told by a glance."""


def write_part(part: LinePart, place: Path) -> Written:
    """Write the whole lines of `part` to `place`; return what was written."""
    place.touch()
    with place.open("r+b", buffering=0) as out:  # written over, since pages that are there need not be made
        copy = _Copy(out)
        if part.content is not None:
            copy.take(memoryview(part.content))
        else:
            with Path(part.path).open("rb", buffering=0) as stream:
                _copy_lines(stream, part, copy)
        out.truncate()
        return copy.done()


class _Copy:
    """Writes pieces by way of one small buffer and counts in passing, while they are near the processor."""

    def __init__(self, out: RawIOBase) -> None:
        self._out = out
        self._buffer = bytearray(MARGIN + _PIECE_BYTES)
        self._view = np.frombuffer(self._buffer, dtype=np.uint8)
        self._keys = KeyCounter()
        self.last = _NEWLINE

    def read(self, stream: BinaryIO, most: int) -> int:
        """Take up to `most` bytes of a stream; return how many there were."""
        size = int(stream.readinto(self._view[MARGIN:][:most]) or 0)  # type: ignore[attr-defined]
        self._count(size)
        return size

    def take(self, content: memoryview) -> None:
        """Take bytes that are in memory."""
        for at in range(0, len(content), _PIECE_BYTES):
            piece = content[at : at + _PIECE_BYTES]
            self._buffer[MARGIN : MARGIN + len(piece)] = piece
            self._count(len(piece))

    def _count(self, size: int) -> None:
        if not size:
            return
        end = MARGIN + size
        write_all(self._out, self._view[MARGIN:end].data)
        self._keys.count(self._view[:end])
        self.last = self._buffer[end - 1]
        self._buffer[:MARGIN] = self._buffer[end - MARGIN : end]

    def done(self) -> Written:
        """Return what was written."""
        self._keys.count(np.concatenate([self._view[:MARGIN], np.zeros(MARGIN // 2, dtype=np.uint8)]))
        return Written(self._keys.lines, self._keys.valued)


def write_all(out: RawIOBase, data: memoryview) -> None:
    """Write all of `data` to an unbuffered file, which may take less at a time when the disk is nearly full."""
    while data:
        data = data[out.write(data) or 0 :]


def _copy_lines(stream: BinaryIO, part: LinePart, copy: _Copy) -> None:
    """Copy the lines that begin in the part."""
    start, end = part.offset, part.offset + part.length
    if start:
        start = _next_line(stream, start - 1)
    stream.seek(start)
    while start < end and (size := copy.read(stream, end - start)):
        start += size
    if copy.last != _NEWLINE:
        after = _next_line(stream, start)
        stream.seek(start)
        while start < after and (size := copy.read(stream, after - start)):
            start += size


def _next_line(stream: BinaryIO, at: int) -> int:
    """Return where the line after the one at `at` begins, or the end of the file."""
    stream.seek(at)
    while piece := stream.read(_PIECE_BYTES):
        found = piece.find(b"\n")
        if found >= 0:
            return at + found + 1
        at += len(piece)
    return at


def smaller_parts(part: LinePart) -> Iterator[LinePart]:
    """Yield the same lines in parts of the usual size."""
    if part.content is None:
        end = part.offset + part.length
        for at in range(part.offset, end, PART_BYTES):
            yield part._replace(offset=at, length=min(PART_BYTES, end - at))
        return
    first = 0
    while first < len(part.content):
        end = part.content.find(b"\n", first + PART_BYTES)
        end = len(part.content) if end < 0 else end + 1
        yield part._replace(content=part.content[first:end])
        first = end

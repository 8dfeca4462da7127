"""Writes parts of line files into files of their own, for readers that take a whole file."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ingest.reading.blocks import PART_BYTES, LinePart

_PIECE_BYTES = 1 << 20
_NEWLINE = 10


def write_part(part: LinePart, place: Path) -> int:
    """Write the whole lines of `part` to `place`; return how many lines there are."""
    with place.open("wb", buffering=0) as out:
        if part.content is not None:
            out.write(part.content)
            return part.content.count(b"\n")
        with Path(part.path).open("rb") as stream:
            if part.offset:
                stream.seek(part.offset - 1)
                stream.readline()
            return _copied(stream, out, part.offset + part.length - stream.tell())


def _copied(stream: BinaryIO, out: BinaryIO, left: int) -> int:
    """Copy `left` bytes and the rest of the last line, by way of one small buffer."""
    lines = 0
    buffer = np.empty(_PIECE_BYTES, dtype=np.uint8)
    last = _NEWLINE
    while left > 0 and (size := stream.readinto(buffer[:left])):  # type: ignore[attr-defined]
        piece = buffer[:size]
        out.write(piece.data)
        lines += int(np.count_nonzero(piece == _NEWLINE))
        last = piece[-1]
        left -= size
    if last != _NEWLINE:
        rest = stream.readline()
        out.write(rest)
        lines += rest.endswith(b"\n")
    return lines


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

"""Joins the pieces of a line that a container runtime split, and cuts files only where no line is in pieces."""

import re
from collections.abc import Iterator, Sequence
from typing import BinaryIO

import orjson

from ingest.reading.wrappers import is_piece, line_of

PIECE = "part of a split line"
"""Why a record that is a piece is skipped."""
_CRI = re.compile(rb"\S{10,40} (stdout|stderr) ([PF]) ")
"""How containerd and CRI-O begin a line: time, stream, and P for a piece or F for what ends a line."""
_MESSAGE_KEYS = ("log", "message")
_STREAMS = 2
"""A program writes to stdout and stderr."""
_LOOKED_BACK = 1 << 18
"""In as many bytes the last line of each stream is looked for; pieces have 16 KB at most."""


def joined(lines: Sequence[bytes]) -> tuple[list[bytes], int]:
    """Return the lines with the pieces that CRI logs mark put together, and how many became part of another.

    A line stands where its last piece stood; where the others stood is b"". What never ends stays as it is so far.
    """
    out = list(lines)
    pending: dict[bytes, list[int]] = {}
    taken = 0
    for place, line in enumerate(lines):
        found = _CRI.match(line)
        if found is None:
            continue
        before = pending.pop(found[1], [])
        if found[2] == b"P":
            pending[found[1]] = [*before, place]
        elif before:
            taken += _join(out, [*before, place])
    taken += sum(_join(out, places) for places in pending.values())
    return out, taken


def _join(lines: list[bytes], places: list[int]) -> int:
    """Put the lines at `places` together at the last of them, under the prefix of the first."""
    texts = [lines[place].removesuffix(b"\r") for place in places]
    ends = (_CRI.match(text) for text in texts[1:])
    rest = (text[found.end() :] if found else text for text, found in zip(texts[1:], ends, strict=True))
    whole = b"".join([texts[0], *rest])
    for place in places:
        lines[place] = b""
    lines[places[-1]] = whole
    return len(places) - 1


def _stream_and_mark(line: bytes) -> tuple[object, bool] | None:
    """Return the stream of a line and whether it holds a piece that goes on, None for a line that is never split."""
    if found := _CRI.match(line):
        return found[1], found[2] == b"P"
    if line.lstrip()[:1] != b"{":
        return None
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(value, dict):
        return None
    return line_of(value), any(is_piece(key, value) for key in _MESSAGE_KEYS)


def _is_whole(before: bytes) -> bool:
    """Return whether the last line of each stream in `before` ends what it belongs to."""
    seen: set[object] = set()
    end = len(before)
    while end > 0 and len(seen) < _STREAMS:
        start = before.rfind(b"\n", 0, end - 1) + 1
        found = _stream_and_mark(before[start:end])
        if found is not None and found[0] not in seen:
            if found[1]:
                return False
            seen.add(found[0])
        end = start
    return True


def end_of_record(content: bytes, at: int) -> int:
    """Return the first end of a line, from the one at `at` on, where no line is in pieces."""
    while at < len(content) and not _is_whole(content[max(0, at - _LOOKED_BACK) : at]):
        at = content.find(b"\n", at) + 1 or len(content)
    return at


def whole_until(content: bytes) -> int:
    """Return the last end of a line where no line is in pieces; 0 when there is none."""
    end = content.rfind(b"\n") + 1
    while end and not _is_whole(content[max(0, end - _LOOKED_BACK) : end]):
        end = content.rfind(b"\n", 0, end - 1) + 1
    return end


def spans_of_parts(stream: BinaryIO, size: int, part_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield offset and length of parts of about `part_bytes` bytes, none of which ends inside a split line."""
    at = 0
    while at < size:
        end = _cut_after(stream, at + part_bytes, size) if at + part_bytes < size else size
        yield at, end - at
        at = end


def _cut_after(stream: BinaryIO, place: int, size: int) -> int:
    stream.seek(place - 1)
    stream.readline()
    while (cut := stream.tell()) < size:
        start = max(0, cut - _LOOKED_BACK)
        stream.seek(start)
        if _is_whole(stream.read(cut - start)):
            break
        stream.readline()
    return cut

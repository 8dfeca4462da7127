"""Reads JSON that is not one object a line: arrays over many lines, and objects one after the other."""

import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from ingest.normalising import may_hold_halves, without_lone_surrogates
from ingest.reading.parsing import unquoted

_PIECE = 1 << 20
LONGEST_VALUE = 1 << 28
"""A single value is taken in whole, and Python holds it several times over."""
_TOO_LONG = "one JSON value of over 256 million characters: write the log one record a line, or split the file"
_MARKS = re.compile(r'"(?:[^"\\]|\\.)*"|["{}\[\]]', re.DOTALL)
_DECODER = json.JSONDecoder(parse_constant=lambda _name: None, strict=False)


class Entry(NamedTuple):
    """One value of a document and the line it starts on, or why it could not be read and how it stands there."""

    line: int
    value: Any = None
    fault: str = ""
    raw: str = ""
    flaw: str = ""
    """What had to be mended to read it."""


def iter_entries(stream: BinaryIO) -> Iterator[Entry]:
    """Yield the values of a UTF-8 stream: the elements of arrays, and objects one after the other.

    Reads piece by piece, so that an array of any length fits in memory. A value that cannot be read is passed over up
    to the next one that starts at the same depth of indentation.
    """
    return Scanner(stream).entries()


class Scanner:
    """Takes one JSON value after the other from a stream, with no more of it in memory than a value needs."""

    def __init__(self, stream: BinaryIO) -> None:
        """Start at the first character of a UTF-8 stream."""
        self.stream = stream
        self.buffer = ""
        self.at = 0
        self.line = 1
        self.is_at_end = False
        self.leftover = b""

    def entries(self) -> Iterator[Entry]:
        """Yield the values of the stream."""
        while self._skip_separators():
            yield from self._next()

    def _more(self) -> bool:
        if self.is_at_end:
            return False
        piece = self.stream.read(max(_PIECE, len(self.buffer) - self.at))
        self.is_at_end = not piece
        whole = self.leftover + piece
        cut = len(whole) if self.is_at_end else _last_whole(whole)
        self.leftover = whole[cut:]
        self.buffer = self.buffer[self.at :] + whole[:cut].decode("utf-8", "replace")
        self.at = 0
        return True

    def _skip_separators(self) -> bool:
        while True:
            while self.at < len(self.buffer) and self.buffer[self.at] in " \t\r\n,[]\ufeff":
                self.line += self.buffer[self.at] == "\n"
                self.at += 1
            if self.at < len(self.buffer):
                return True
            if not self._more():
                return False

    def _next(self) -> Iterator[Entry]:
        while True:
            try:
                value, end = _DECODER.raw_decode(self.buffer, self.at)
            except RecursionError:
                yield self._passed_over("nested too deeply")
                return
            except json.JSONDecodeError as error:
                is_too_long = len(self.buffer) - self.at > LONGEST_VALUE
                if not is_too_long and self._may_go_on(error) and self._more():
                    continue
                yield self._passed_over(_TOO_LONG if is_too_long else f"not JSON: {error.msg}")
                return
            if end == len(self.buffer) and not isinstance(value, (dict, str)) and self._more():
                continue
            yield self._entry(value, end)
            self._advance(end)
            return

    def _entry(self, value: Any, end: int) -> Entry:
        if isinstance(value, str):
            value = unquoted(value)
        if self.buffer.find("\\u", self.at, end) < 0 or not may_hold_halves(self.buffer[self.at : end]):
            return Entry(self.line, value)
        mended, is_changed = without_lone_surrogates(value)
        return Entry(self.line, mended, flaw="lone surrogate" if is_changed else "")

    def _may_go_on(self, error: json.JSONDecodeError) -> bool:
        return error.msg.startswith("Unterminated string") or error.pos >= len(self.buffer) - 16

    def _advance(self, end: int) -> None:
        self.line += self.buffer.count("\n", self.at, end)
        self.at = end

    def _passed_over(self, fault: str) -> Entry:
        start, line = self.at, self.line
        if self.buffer[start] == "{" and (end := _end_of_object(self.buffer, start)) is not None:
            raw = self.buffer[start : min(end, start + 4000)]
            self._advance(end)
            return Entry(line, fault=fault, raw=raw)
        line_start = self.buffer.rfind("\n", 0, start) + 1
        mark = "\n" + self.buffer[line_start:start] + "{"
        if self.buffer[line_start:start].strip():
            mark = "\n"
        while (found := self.buffer.find(mark, self.at + 1)) < 0 and self._more():
            start = 0
        end = len(self.buffer) if found < 0 else found
        raw = self.buffer[start : min(end, start + 4000)]
        self._advance(end)
        return Entry(line, fault=fault, raw=raw)


def _end_of_object(text: str, start: int) -> int | None:
    """Return where a broken object ends by its brackets, None when they do not tell."""
    depth = 0
    for found in _MARKS.finditer(text, start):
        if found[0] == '"':
            return None
        depth += (found[0] in "{[") - (found[0] in "}]")
        if not depth:
            end = found.end()
            return end if text[end : end + 40].lstrip()[:1] in {"", ",", "]", "{"} else None
    return None


def _last_whole(piece: bytes) -> int:
    """Return how many bytes end on a whole UTF-8 character."""
    for back in range(1, min(4, len(piece)) + 1):
        byte = piece[-back]
        if byte < 0x80:  # noqa: PLR2004 - ASCII
            return len(piece)
        if byte >= 0xC0:  # noqa: PLR2004 - first byte of a character
            width = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4  # noqa: PLR2004 - UTF-8 lengths
            return len(piece) if back >= width else len(piece) - back
    return len(piece)

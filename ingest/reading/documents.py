"""Reads JSON that is not one object a line: arrays over many lines, concatenated objects, envelopes, data frames."""

import json
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

_PIECE = 1 << 20
_LONGEST_VALUE = 1 << 28
_ENVELOPE_KEYS = (
    "data",
    "items",
    "records",
    "results",
    "rows",
    "logs",
    "value",
    "logEvents",
    "hits",
    "messages",
    "runs",
)
_DECODER = json.JSONDecoder(parse_constant=lambda _name: None, strict=False)


class Entry(NamedTuple):
    """One value of a document and the line it starts on, or why it could not be read and how it stands there."""

    line: int
    value: Any = None
    fault: str = ""
    raw: str = ""


def iter_entries(stream: BinaryIO) -> Iterator[Entry]:
    """Yield the values of a UTF-8 stream: the elements of arrays, and objects one after the other.

    Reads piece by piece, so that an array of any length fits in memory. A value that cannot be read is passed over up
    to the next one that starts at the same depth of indentation.
    """
    return _Scanner(stream).entries()


class _Scanner:
    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.buffer = ""
        self.at = 0
        self.line = 1
        self.is_at_end = False
        self.leftover = b""

    def entries(self) -> Iterator[Entry]:
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
                if self._may_go_on(error) and self._more():
                    continue
                yield self._passed_over(f"not JSON: {error.msg}")
                return
            if end == len(self.buffer) and not isinstance(value, (dict, str)) and self._more():
                continue
            yield Entry(self.line, value)
            self._advance(end)
            return

    def _may_go_on(self, error: json.JSONDecodeError) -> bool:
        if len(self.buffer) - self.at > _LONGEST_VALUE:
            return False
        return error.msg.startswith("Unterminated string") or error.pos >= len(self.buffer) - 16

    def _advance(self, end: int) -> None:
        self.line += self.buffer.count("\n", self.at, end)
        self.at = end

    def _passed_over(self, fault: str) -> Entry:
        start, line = self.at, self.line
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


def unfolded(document: Any) -> list[Any] | None:
    """Return the records of a data frame written as one object, or of an envelope; None when it is neither."""
    if not isinstance(document, dict):
        return None
    return frame_rows(document) or _enveloped(document, depth=3)


def frame_rows(document: dict[str, Any]) -> list[Any] | None:
    """Return the rows of a data frame written as one object (pandas' orients columns, index and split), else None."""
    columns, data = document.get("columns"), document.get("data")
    if isinstance(columns, list) and isinstance(data, list) and all(isinstance(row, list) for row in data):
        return [dict(zip(map(str, columns), row, strict=False)) for row in data]
    inner = list(document.values())
    if len(inner) < 1 or not all(isinstance(value, dict) and value for value in inner):
        return None
    if all(_are_row_numbers(value) for value in inner) and len({tuple(value) for value in inner}) == 1:
        return [{name: column[key] for name, column in document.items()} for key in inner[0]]
    if _are_row_numbers(document) and len({tuple(value) for value in inner}) == 1:
        return inner
    return None


def _are_row_numbers(value: dict[str, Any]) -> bool:
    return all(key.isdigit() for key in value)


def _enveloped(document: dict[str, Any], *, depth: int) -> list[Any] | None:
    for key in _ENVELOPE_KEYS:
        inner = document.get(key)
        if isinstance(inner, list) and inner and all(isinstance(entry, dict) for entry in inner):
            return [entry["_source"] if isinstance(entry.get("_source"), dict) else entry for entry in inner]
        if isinstance(inner, dict) and depth and (found := _enveloped(inner, depth=depth - 1)) is not None:
            return found
    return None

"""Walks through a JSON document of any size to the list of its records, which are given one after the other."""

from collections.abc import Generator, Iterator
from typing import BinaryIO

from ingest.reading.documents import Entry, Scanner

_BLANK = " \t\r\n\ufeff"


def iter_under(stream: BinaryIO, keys: tuple[str, ...]) -> Iterator[Entry]:
    """Yield the elements of the list under `keys` of each document in a UTF-8 stream, one in memory at a time.

    What stands beside the list is passed over; a document without the list, or broken before it, is one fault.
    """
    return _Walker(stream).elements(keys)


class _Walker(Scanner):
    """A scanner that knows where in a document it is."""

    was_broken = False
    """Whether the last element could not be read."""

    def elements(self, keys: tuple[str, ...]) -> Iterator[Entry]:
        while self._peek():
            line = self.line
            try:
                found = yield from self._object(keys)
            except ValueError as error:
                if not (self.was_broken and self._is_over()):  # a document that is cut off is told once
                    yield Entry(self.line, fault=f"not JSON: {error}")
                return
            if not found:
                yield Entry(line, fault=f"the document holds no list under {'.'.join(keys)!r}")

    def _object(self, keys: tuple[str, ...]) -> Generator[Entry, None, bool]:
        """Yield the elements of the list below an object, and return whether there was one."""
        self._take("{")
        found = False
        while (mark := self._peek()) and mark != "}":
            if mark == ",":
                self._take(",")
                continue
            name = self._value()
            self._take(":")
            start = self._peek()
            if name == keys[0] and start == ("[" if len(keys) == 1 else "{"):
                found = True
                yield from self._list() if len(keys) == 1 else self._object(keys[1:])
            else:
                self._value()
        self._take("}")
        return found

    def _list(self) -> Iterator[Entry]:
        self._take("[")
        while (mark := self._peek()) and mark != "]":
            if mark == ",":
                self._take(",")
            else:
                for entry in self._next():
                    self.was_broken = bool(entry.fault)
                    yield entry
        self._take("]")

    def _peek(self) -> str:
        """Return the next character that is not blank, '' at the end."""
        while True:
            while self.at < len(self.buffer) and self.buffer[self.at] in _BLANK:
                self.line += self.buffer[self.at] == "\n"
                self.at += 1
            if self.at < len(self.buffer):
                return self.buffer[self.at]
            if not self._more():
                return ""

    def _is_over(self) -> bool:
        return not self._peek()

    def _take(self, mark: str) -> None:
        found = self._peek()
        if found != mark:
            raise ValueError(f"{mark!r} expected where {found or 'the end of the file'!r} stands")
        self.at += 1

    def _value(self) -> object:
        (entry,) = self._next()
        if entry.fault:
            raise ValueError(entry.fault.removeprefix("not JSON: "))
        return entry.value

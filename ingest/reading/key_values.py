"""Reads log lines of `key=value` pairs, as logfmt and structlog write them."""

import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from ingest.literals import literal
from ingest.normalising import parsed_list, without_lone_surrogates
from ingest.reading.documents import Entry
from ingest.reading.parsing import parse_line

_KEY = re.compile(r"(?:(?<=\s)|^)([A-Za-z_@][\w.@-]{0,63})=")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_PYTHON_TEXT = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_MARKS = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[\[\]{}]")
_BLANKS = re.compile(r"\s*")
_WORD = re.compile(r"\S*")
_NOTHING = frozenset({"None", "null", "nil", ""})
_FEWEST = 3
"""A line of fewer pairs is text."""
_LONGEST = 1 << 20


def key_values(line: str) -> dict[str, Any] | None:
    """Return the pairs of a line, which may have text before them; None when it is no line of pairs."""
    line = (_COLOUR.sub("", line) if "\x1b" in line else line).strip()
    found = _KEY.search(line)
    if found is None or len(line) > _LONGEST:
        return None
    pairs: dict[str, Any] = {}
    while found is not None:
        value, end = _value_at(line, found.end())
        pairs[found[1]] = value
        start = _next_place(line, end)
        if start == len(line):
            return pairs if len(pairs) >= _FEWEST else None
        found = _KEY.match(line, start) if start > end else None
    return None


def _next_place(line: str, end: int) -> int:
    """Return where the line goes on after blanks."""
    found = _BLANKS.match(line, end)
    return found.end() if found else end


def _value_at(line: str, start: int) -> tuple[Any, int]:
    mark = line[start : start + 1]
    if mark in {"'", '"'} and (text := _PYTHON_TEXT.match(line, start)):
        return _unquoted(text[0]), text.end()
    if mark in {"[", "{"} and (end := _end_of_structure(line, start)):
        return parsed_list(line[start:end]), end
    word = _WORD.match(line, start)
    written = word[0] if word else ""
    return None if written in _NOTHING else written, start + len(written)


def _unquoted(written: str) -> str:
    for read in (json.loads, literal):
        try:
            text = str(read(written))
        except (ValueError, RecursionError):
            continue
        return str(without_lone_surrogates(text)[0])
    return written[1:-1]


def _end_of_structure(line: str, start: int) -> int:
    """Return where the list or object that begins at `start` ends, 0 when it does not."""
    depth = 0
    for found in _MARKS.finditer(line, start):
        if found[0] in {"[", "{"}:
            depth += 1
        elif found[0] in {"]", "}"}:
            depth -= 1
            if not depth:
                return found.end()
    return 0


def iter_pairs(stream: BinaryIO) -> Iterator[Entry]:
    """Yield the lines of a UTF-8 stream as objects; a line of text is one under the key `message`."""
    for number, raw in enumerate(stream, 1):
        line = raw.decode("utf-8", "replace").strip()
        if line:
            flaw = "invalid UTF-8" if "\ufffd" in line else ""
            yield Entry(number, key_values(line) or _object_in(raw) or {"message": line}, flaw=flaw)


def _object_in(raw: bytes) -> dict[str, Any] | None:
    value = parse_line(raw).value
    return value if isinstance(value, dict) else None

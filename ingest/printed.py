"""Reads values as programs print them: Python and numpy reprs, objects with named fields, structs of DuckDB."""

import re
from datetime import datetime
from typing import Any

from ingest.literals import literal

_DEEPEST = 60
_BEGINNING = re.compile(r"[\[(]\s*(?:[{'\"\[(\d.\-]|[A-Za-z_][\w.]*\()|\{\s*(?:['\"]|\w+=)")
_SIDE_BY_SIDE = re.compile(r"""['"]\s+['"]""")
_BLANK = re.compile(r"\s*")
_STRING = re.compile(r"""[bru]?('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL)
_CALL = re.compile(r"([A-Za-z_][\w.]*)\(")
_FIELD = re.compile(r"([A-Za-z_]\w*)\s*=(?!=)")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+)(?=[\s,\]})]|$)")
_WORD = re.compile(r"[A-Za-z]+(?=[\s,\]})]|$)")
_WORDS: dict[str, Any] = {"true": True, "false": False, "none": None, "null": None, "nan": None, "nat": None}
_END = r"\}(?=\s*(?:[,\]})]|$))|,\s*"
_END_BEFORE_QUOTED_KEY = re.compile(_END + r"""(?:'[^'{}\[\]]{1,80}'|"[^"{}\[\]]{1,80}")\s*:""")
_END_BEFORE_BARE_KEY = re.compile(_END + r"[\w ]{1,80}[:=]")
_END_OF_FIELD = re.compile(r"[,)]")
_END_IN_LIST = re.compile(r"[,\]]")
_KEY = re.compile(r"\s*(?:'([^']*)'|\"([^\"]*)\"|([\w.\- ]{1,80}?))\s*[:=]\s*")
_AFTER_VALUE = frozenset({"", ",", "]", "}", ")"})
_CLOSING = {"{": "}", "[": "]", "(": ")"}


def printed(text: str) -> Any:
    """Return the value that `text` prints; raises ValueError when it is none."""
    reader = _Reader(text)
    value = reader.value(0, _END_IN_LIST)
    reader.skip()
    if reader.at < len(text):
        raise ValueError(text[reader.at : reader.at + 20])
    return value


def may_be_printed(text: str) -> bool:
    """Return whether a text begins as a printed structure does, and not as words in brackets do."""
    return bool(_BEGINNING.match(text))


def has_lists_without_commas(text: str) -> bool:
    """Return whether texts follow one another without a comma, as numpy prints them and Python runs them together."""
    return bool(_SIDE_BY_SIDE.search(text))


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def skip(self) -> str:
        """Pass over blanks, and return the character that follows."""
        found = _BLANK.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.text[self.at : self.at + 1]

    def value(self, depth: int, end: re.Pattern[str]) -> Any:
        mark = self.skip()
        if depth > _DEEPEST or not mark:
            raise ValueError("nested too deeply" if mark else "cut off")
        if mark == "{":
            return self._object(depth + 1)
        if mark in "[(":
            return self._list(depth + 1)
        if found := _STRING.match(self.text, self.at):
            self.at = found.end()
            return _unescaped(found)
        start = self.at
        if found := _CALL.match(self.text, start):
            made = self._call(found, depth + 1)
            if self.skip() in _AFTER_VALUE:
                return made
            self.at = start  # words that go on after a bracket
        return self._bare(end)

    def _bare(self, end: re.Pattern[str]) -> Any:
        for pattern, read in ((_NUMBER, _number), (_WORD, lambda word: _WORDS.get(word.lower(), word))):
            found = pattern.match(self.text, self.at)
            if found and (pattern is _NUMBER or found[0].lower() in _WORDS):
                self.at = found.end()
                return read(found[0])
        closing = end.search(self.text, self.at)
        if closing is None or closing.start() == self.at:
            raise ValueError("cut off" if closing is None else "a value is missing")
        start, self.at = self.at, closing.start()
        return self.text[start : self.at].rstrip()

    def _object(self, depth: int) -> dict[str, Any]:
        self.at += 1
        found: dict[str, Any] = {}
        end = _END_BEFORE_QUOTED_KEY if self.skip() in {"'", '"'} else _END_BEFORE_BARE_KEY
        while (mark := self.skip()) != "}":
            if mark == ",":
                self.at += 1
                continue
            key = _KEY.match(self.text, self.at)
            if key is None:
                raise ValueError("a key is missing")
            self.at = key.end()
            name = next(group for group in key.groups() if group is not None)
            found[name] = None if self.skip() in {",", "}"} else self.value(depth, end)
        self.at += 1
        return found

    def _list(self, depth: int) -> list[Any]:
        closing = _CLOSING[self.text[self.at]]
        self.at += 1
        items = []
        while (mark := self.skip()) != closing:
            if mark == ",":
                self.at += 1
            else:
                items.append(self.value(depth, _END_IN_LIST))
        self.at += 1
        return items

    def _call(self, found: re.Match[str], depth: int) -> Any:
        """Read an object: its fields where they are named, else what it was made of."""
        self.at = found.end()
        fields: dict[str, Any] = {}
        items: list[Any] = []
        while (mark := self.skip()) != ")":
            if mark == ",":
                self.at += 1
            elif field := _FIELD.match(self.text, self.at):
                self.at = field.end()
                fields[field[1]] = self.value(depth, _END_OF_FIELD)
            else:
                items.append(self.value(depth, _END_OF_FIELD))
        self.at += 1
        if found[1].rpartition(".")[2] == "datetime" and all(isinstance(item, int) for item in items):
            return _moment(items, has_zone="tzinfo" in fields)
        return items[0] if items else fields


def _unescaped(found: re.Match[str]) -> str:
    try:
        value = literal(found[0])
    except ValueError:  # a line break inside, as DuckDB leaves it
        value = re.sub(r"\\(['\"\\])", r"\1", found[1][1:-1])
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _number(written: str) -> int | float:
    try:
        return int(written)
    except ValueError:
        return float(written)


def _moment(parts: list[int], *, has_zone: bool) -> str:
    return datetime(*parts).isoformat() + ("+00:00" if has_zone else "")  # type: ignore[arg-type] # noqa: DTZ001 - as it is printed

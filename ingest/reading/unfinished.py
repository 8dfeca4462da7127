"""Reads as much of a JSON document as the first bytes of its file hold, so that a large one is known by its start."""

import json
import re
from typing import Any

_MARKS = re.compile(r'"(?:[^"\\]|\\.)*"|["{}\[\],]', re.DOTALL)
_CLOSING = {"{": "}", "[": "]"}
_DEEPEST = 60


def begun_document(text: str) -> Any:
    """Return the document that begins with `text`, closed after the last value that is whole; None when there is none.

    A value that is cut off or broken, and what would have come after it, is left out.
    """
    for _attempt in range(2):
        cut = _last_cut(text)
        if cut is None:
            return None
        try:
            return json.loads(text[: cut[0]] + cut[1], strict=False, parse_constant=lambda _name: None)
        except json.JSONDecodeError as error:
            text = text[: error.pos]
        except RecursionError:
            return None
    return None


def _last_cut(text: str) -> tuple[int, str] | None:
    """Return where the last whole value ends, and the brackets that close what is open there."""
    open_brackets: list[str] = []
    cut = None
    for found in _MARKS.finditer(text):
        mark = found[0]
        if mark in _CLOSING:
            open_brackets.append(_CLOSING[mark])
            if len(open_brackets) > _DEEPEST:
                break
            continue
        if mark == '"':  # the quote of a text without an end
            break
        if mark in "}]":
            if not open_brackets or open_brackets.pop() != mark:
                return None
            cut = (found.end(), "".join(reversed(open_brackets)))
            if not open_brackets:
                break
        elif mark == ",":
            cut = (found.start(), "".join(reversed(open_brackets)))
    return cut

"""Bring error texts of many tools to one line: the type, then what it said."""

import re
from typing import Any

_TYPE_NAME = r"[A-Za-z_][\w.]*"
_REPR = re.compile(rf"({_TYPE_NAME})\((['\"])(.*?)\2,?\)", re.DOTALL)
_TWICE = re.compile(rf"^({_TYPE_NAME}): \1: ")
_LONGEST = 2_000


def error_line(message: Any, error_type: Any = None) -> str | None:
    """Return `Type: message` without its traceback; None when nothing went wrong.

    Takes a status message, a Python repr (`TimeoutError('…')Traceback …`) or a whole traceback.
    """
    text = message.strip() if isinstance(message, str) else ""
    kind = error_type.strip() if isinstance(error_type, str) else ""
    if not text:
        return kind or None
    line = _TWICE.sub(r"\1: ", _without_traceback(text))
    bare = kind.rpartition(".")[2]
    if bare and bare not in {"_OTHER", "exception"} and bare not in line:
        line = f"{bare}: {line}"
    return line[:_LONGEST]


def _without_traceback(text: str) -> str:
    shown = _REPR.match(text)
    if shown is not None and (shown.end() == len(text) or text[shown.end() :].lstrip().startswith("Traceback")):
        return f"{shown[1].rpartition('.')[2]}: {shown[3]}" if shown[3] else shown[1]
    head, found, _ = text.partition("Traceback (most recent call last)")
    if not found:
        return text
    return head.strip() or text.rstrip().rpartition("\n")[2].strip()

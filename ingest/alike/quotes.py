"""Finds the strings of JSON lines by their quotes, without parsing them."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

Ints = Any
"""A numpy array of whole numbers, or of truth values."""
Array = Any
"""An Arrow array."""
_QUOTE, _BACKSLASH, _NEWLINE, _SPACE = 34, 92, 10, 32
PADDING = 1 << 14
"""Bytes behind the last line, so that what is looked for there is not found rather than out of reach."""


class QuotedBlock(NamedTuple):
    """Lines of JSON and where their strings are."""

    content: bytes
    """The lines, each with its end."""
    data: Ints
    """Their bytes, and a few more."""
    words: Ints
    """The eight bytes that begin at each place, as one little-endian number."""
    quotes: Ints
    """Where strings begin and end, by turns."""
    line_ends: Ints
    strings: Array
    """The strings as they are written, at every even place; between them is what is written between them."""
    has_escape: Ints
    """Which of the strings have a backslash."""


def quoted(content: bytes) -> QuotedBlock | None:
    """Return where the strings of lines are; None when a line is not in plain Unicode or has an open string."""
    if not content.endswith(b"\n"):
        content += b"\n"
    if not _is_unicode(content):
        return None
    data = np.frombuffer(content + bytes(PADDING), np.uint8)
    line_ends = np.flatnonzero(data == _NEWLINE)
    if np.count_nonzero(data < _SPACE) != len(line_ends) + PADDING:  # other marks than ends of lines, such as tabs
        return None
    quotes = np.flatnonzero(data == _QUOTE)
    escapes = np.flatnonzero(data == _BACKSLASH) if b"\\" in content else np.zeros(0, np.int64)
    if len(escapes):
        quotes = np.delete(quotes, np.searchsorted(quotes, _escaped_quotes(data, escapes)))
    if not len(quotes) or (np.searchsorted(quotes, line_ends) % 2).any():
        return None
    words = np.ndarray((len(data) - 7,), np.dtype("<u8"), buffer=data, strides=(1,))
    has_escape = np.zeros(len(quotes) // 2 + 1, bool)  # one for what stands behind the last
    has_escape[np.searchsorted(quotes, escapes) // 2] = True
    offsets = quotes.astype(np.int32)
    offsets[0::2] += 1
    strings = pa.StringArray.from_buffers(len(quotes) - 1, pa.py_buffer(offsets), pa.py_buffer(data))
    return QuotedBlock(content, data, words, quotes, line_ends, strings, has_escape)


def _escaped_quotes(data: Ints, escapes: Ints) -> Ints:
    """Return where quotes stand behind an odd number of backslashes."""
    places = np.arange(len(escapes))
    is_first = np.append(True, np.diff(escapes) > 1)
    first = np.maximum.accumulate(np.where(is_first, places, 0))
    behind = escapes[(places - first) % 2 == 0] + 1
    return behind[data[behind] == _QUOTE]


def _is_unicode(content: bytes) -> bool:
    try:
        return content.isascii() or bool(content.decode())
    except UnicodeDecodeError:
        return False

"""Counts lines, and the keys of JSON lines that have a value, without parsing them."""

from typing import Any

import numpy as np

try:
    from ingest.compiled.key_counting import count_keys as _compiled
except ImportError:  # built without a compiler
    _compiled = None  # type: ignore[assignment]

_BEHIND, _AHEAD = 2, 2
"""How many bytes before and after a colon are looked at."""
MARGIN = _BEHIND + _AHEAD
"""How many bytes at the end of a piece are looked at again with the next."""
_NEWLINE, _QUOTE, _COLON, _SPACE, _N = b'\n": n'


class KeyCounter:
    """Counts lines, and keys with a value other than null, in a run of JSON lines, piece by piece.

    A key is taken to be a colon with a quote right before it, and its value null when an `n` follows, at once or after
    one space. Text that looks the same inside a string makes the count too high, and so does other space before null.
    Only space between a key and its colon would make it too low: it is looked for, and then there is no count. So when
    as many keys are counted as there are known values, there are no others.
    """

    def __init__(self) -> None:
        """Start with none."""
        self.lines = 0
        self.valued: int | None = 0

    def count(self, view: Any) -> None:
        """Count what has two bytes of `view` before it and two after it; `view` is uint8."""
        lines, keys = (count_keys if _compiled is None else _compiled)(view)
        self.lines += lines
        self.valued = None if keys < 0 or self.valued is None else self.valued + keys


def count_keys(view: Any) -> tuple[int, int]:
    """Return how many lines end in `view`, and how many keys have a value; -1 when that cannot be told."""
    inner = view[_BEHIND:-_AHEAD]
    lines = int(np.count_nonzero(inner == _NEWLINE))
    colons = np.flatnonzero(inner == _COLON)
    before = view[colons + 1]
    spaced = view[colons[before <= _SPACE]]
    if ((spaced <= _SPACE) | (spaced == _QUOTE)).any():
        return lines, -1
    keys = colons[before == _QUOTE]
    first, second = view[keys + 3], view[keys + 4]
    return lines, len(keys) - int(np.count_nonzero((first == _N) | ((first == _SPACE) & (second == _N))))

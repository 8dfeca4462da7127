"""Counts the keys of JSON lines that have a value, without parsing them."""

from typing import Any

import numpy as np

LOOKAHEAD = 3
"""How many bytes behind a quote are looked at."""
_QUOTE, _COLON, _SPACE, _N = b'": n'


class KeyCounter:
    """Counts keys with a value other than null in a run of JSON lines, piece by piece.

    A key is taken to be a quote with a colon right behind it, and its value null when an `n` follows, at once or after
    one space. Text that looks the same inside a string makes the count too high, and so does other space before null.
    Only space between a key and its colon would make it too low: it is looked for, and then there is no count. So when
    as many keys are counted as there are known values, there are no others.
    """

    def __init__(self) -> None:
        """Start with none."""
        self.valued: int | None = 0

    def count(self, view: Any) -> None:
        """Count the keys whose closing quote stands in `view` before its last three bytes; `view` is uint8."""
        if self.valued is None:
            return
        closing = view[:-LOOKAHEAD] == _QUOTE
        behind = view[1 : 1 - LOOKAHEAD]
        spaced = np.flatnonzero(closing & (behind <= _SPACE))
        after = view[spaced + 2]
        if ((after == _COLON) | ((after <= _SPACE) & (behind[spaced] != ord("\n")))).any():
            self.valued = None
            return
        keys = np.flatnonzero(closing & (behind == _COLON))
        first, second = view[keys + 2], view[keys + 3]
        self.valued += len(keys) - int(np.count_nonzero((first == _N) | ((first == _SPACE) & (second == _N))))

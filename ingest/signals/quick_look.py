"""Which texts of a column expressions may match, told by the letters that a match needs."""

from collections.abc import Sequence
from functools import reduce
from threading import Lock

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ingest.signals.arrow_arrays import text_buffers
from ingest.signals.kept_texts import bytes_of_kept, kept_text
from ingest.signals.needed_letters import letter_classes, needed_groups

try:
    from ingest.compiled.letter_groups import find_groups
except ImportError:  # nothing was compiled where this is installed
    IS_COMPILED = False
else:
    IS_COMPILED = True

WORTH_IT = 100_000
"""Texts from which on it saves more to look for letters than it costs to work out which; expressions being quick."""
MAY_MATCH, IS_PADDED = 1, 2
"""What is said of a text, added up: an expression may match it; it is empty, or begins or ends with a space."""
_USUAL = 4096
"""Texts from which is learned what is rare in them."""
_LEARNING = Lock()
"""Held by the one thread that learns, for which others wait; of the module, as looks go to processes."""
_ALL_LETTERS = np.iinfo(np.int32).max // 8


class QuickLook:
    """Tells, for some expressions, the texts that none of them matches; never one that is matched."""

    def __init__(
        self,
        expressions: Sequence[str],
        *,
        longest: int = _ALL_LETTERS,
        worth_from: int = WORTH_IT,
        learned: str = "",
    ) -> None:
        """Look at the first `longest` letters of each text, once there were `worth_from` texts.

        With what an earlier look of the same expressions had `learned` of such texts it looks at once.
        """
        self._expressions = tuple(expressions)
        self._longest, self._worth_from = longest, worth_from
        self._seen = 0
        kept = bytes_of_kept(learned, self._made_of())
        self._groups = None if kept is None else np.frombuffer(kept, dtype=np.uint8)

    @property
    def learned(self) -> str:
        """What is to be given to a later look of the same expressions; empty where nothing was learned."""
        return "" if self._groups is None else kept_text(self._groups.tobytes(), self._made_of())

    def _made_of(self) -> str:
        """Return the expressions, and how letters are taken together."""
        return "\0".join([*self._expressions, letter_classes().tobytes().hex()])

    def said_of(self, texts: pa.StringArray) -> npt.NDArray[np.uint8]:
        """Return MAY_MATCH and IS_PADDED of each text, both where that is not looked at; a missing text is empty."""
        self._seen += len(texts)
        if not IS_COMPILED or (self._groups is None and self._seen < self._worth_from):
            return np.full(len(texts), MAY_MATCH | IS_PADDED, dtype=np.uint8)
        if self._groups is None:
            with _LEARNING:
                self._groups = self._needed(texts) if self._groups is None else self._groups
        said = np.empty(len(texts), dtype=np.uint8)
        find_groups(*text_buffers(texts), letter_classes(), self._groups.view("<u4"), self._longest, said)
        return said

    def _needed(self, usual: pa.StringArray) -> npt.NDArray[np.uint8]:
        letters = [text[: self._longest] for text in usual.slice(0, _USUAL).to_pylist() if text]
        return reduce(np.bitwise_or, [needed_groups(each, letters) for each in self._expressions])

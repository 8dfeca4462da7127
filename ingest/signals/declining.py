"""Whether logged answers decline, for whole columns at once."""

from collections.abc import Sequence
from functools import cache, lru_cache
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from evalsets.languages import LANGUAGES
from evalsets.refusals import RefusalKind, read_refusal
from ingest.signals.arrow_arrays import as_column, as_strings, text_buffers

if TYPE_CHECKING:
    from ingest.compiled.declining import RefusalReader

try:
    from ingest.compiled.declining import Memory
    from ingest.signals.refusal_programs import packed, refusal_programs, unpacked
except ImportError:  # nothing was compiled where this is installed
    IS_COMPILED = False
else:
    IS_COMPILED = True

WORTH_IT = 5_000
"""Answers from which on it saves more to read them in a compiled loop than its programs take to make."""
_MAKING = Lock()
"""Held by the one thread that makes the programs, for which others wait; of the module, as columns go to processes."""
_KINDS = (RefusalKind.NONE, RefusalKind.ABSTENTION, RefusalKind.POLICY, RefusalKind.PARTIAL)
"""By the numbers of the compiled loop."""
_UNREAD = len(_KINDS)


class DeclineColumns:
    """Tells how answers decline: as `read_refusal` does, which reads what the compiled loop does not."""

    def __init__(self, languages: Sequence[str] = LANGUAGES, *, worth_from: int = WORTH_IT, learned: str = "") -> None:
        """Look for refusals in `languages`, in the compiled loop once there were `worth_from` answers.

        With the programs that another of the same languages had `learned` it reads all in the loop.
        """
        self._languages = tuple(languages)
        self._worth_from = worth_from
        self._seen = 0
        made = unpacked(learned, languages) if IS_COMPILED and learned else None
        self._learned = learned if made else ""
        self._reader: RefusalReader | None = made.reader() if made else None
        self._memories: list[Memory] = []

    @property
    def learned(self) -> str:
        """The programs of the loop, for another of the same languages; empty where none were made."""
        return self._learned

    def kinds(self, answers: pa.StringArray) -> pa.StringArray:
        """Return `abstention`, `policy`, `partial` or null for each answer; null for a missing one."""
        reader = self._reader_for(len(answers))
        if reader is None:
            return as_strings([_kind(answer, self._languages) if answer else None for answer in answers.to_pylist()])
        kinds = np.empty(len(answers), dtype=np.uint8)
        memory = self._a_memory()
        reader.read(*text_buffers(answers), memory, kinds)
        self._memories.append(memory)
        for row in np.flatnonzero(kinds == _UNREAD).tolist():
            kinds[row] = _KINDS.index(RefusalKind(_kind(answers[row].as_py(), self._languages) or RefusalKind.NONE))
        return _names().take(as_column(kinds, pa.uint8(), kinds > 0))

    def _a_memory(self) -> "Memory":
        """Return a memory that no other thread has: there come to be as many as threads."""
        try:
            return self._memories.pop()
        except IndexError:
            return Memory()

    def _reader_for(self, answers: int) -> "RefusalReader | None":
        self._seen += answers
        if self._reader is None and IS_COMPILED and self._seen >= self._worth_from:
            with _MAKING:
                self._reader = self._reader or self._made_reader()
        return self._reader

    def _made_reader(self) -> "RefusalReader":
        made = refusal_programs(self._languages)
        self._learned = packed(made, self._languages)
        return made.reader()


_SHORT = 300
"""Letters up to which an answer is likely to be given again, word by word."""


def _kind(answer: str, languages: tuple[str, ...]) -> str | None:
    return _short_kind(answer, languages) if len(answer) <= _SHORT else _read_kind(answer, languages)


def _read_kind(answer: str, languages: tuple[str, ...]) -> str | None:
    kind = read_refusal(answer, languages).kind
    return None if kind is RefusalKind.NONE else str(kind)


@lru_cache(maxsize=50_000)
def _short_kind(answer: str, languages: tuple[str, ...]) -> str | None:
    """Assistants decline in the same words again and again, so this is remembered."""
    return _read_kind(answer, languages)


@cache
def _names() -> pa.StringArray:
    return as_strings([*map(str, _KINDS)])

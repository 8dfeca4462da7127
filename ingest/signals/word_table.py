"""What is known of each word, looked up for whole columns at once by a hash of its letters."""

from threading import Lock

import numpy as np
import numpy.typing as npt

from ingest.signals.pair_features import stem, word_traits

Hashes = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]
WordFacts = npt.NDArray[np.int64]
"""A number a word: the stem above `STEM_SHIFT`, the bytes of the word above `SIZE_SHIFT`, its traits below; 0 is none.

In one number, so that one look fetches all three.
"""
STEM_SHIFT, SIZE_SHIFT = 32, 20
MOST_BYTES = (1 << (STEM_SHIFT - SIZE_SHIFT)) - 1

_SLOTS_LOG2 = 18
_MOST_STEMS = 500_000


class WordTable:
    """The facts of words by their 64-bit hash; two words of one hash are not expected in a lifetime.

    A word has two slots to be kept in. The first keeps its word, the second the one that came last, and a word that
    lost its slot is read again, so that a log full of order numbers costs time but no memory. Stem numbers can be
    compared within one `look_up` only.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._lock = Lock()
        self._stem_numbers: dict[str, int] = {}
        self._keys = np.zeros(1 << _SLOTS_LOG2, dtype=np.uint64)
        self._facts = np.zeros(1 << _SLOTS_LOG2, dtype=np.int64)

    def look_up(self, hashes: Hashes, letters: bytes, starts: Places, ends: Places) -> WordFacts:
        """Return the facts of each word; a word is `letters[start:end]` in UTF-8."""
        with self._lock:
            if len(self._stem_numbers) > _MOST_STEMS:
                self._stem_numbers.clear()
                self._keys[:] = 0
            facts, unknown = self._kept(hashes, _slots(hashes))
            if unknown.size:
                facts[unknown], still = self._kept(hashes[unknown], _second_slots(hashes[unknown]))
                unknown = unknown[still]
            if unknown.size:
                new, first, back = np.unique(hashes[unknown], return_index=True, return_inverse=True)
                read = np.array([self._read(letters[starts[i] : ends[i]]) for i in unknown[first]], dtype=np.int64)
                facts[unknown] = read[back]
                self._keep(new, read)
        return facts

    def _kept(self, hashes: Hashes, slots: Places) -> tuple[WordFacts, Places]:
        """Return what stands in the slots, and where that is not of the word that was asked for."""
        return self._facts.take(slots), np.flatnonzero(self._keys.take(slots) != hashes)

    def _read(self, letters: bytes) -> int:
        word = letters.decode("utf-8", "replace")
        number = self._stem_numbers.setdefault(stem(word), len(self._stem_numbers) + 1)
        return number << STEM_SHIFT | min(len(letters), MOST_BYTES) << SIZE_SHIFT | word_traits(word)

    def _keep(self, hashes: Hashes, facts: WordFacts) -> None:
        first = _slots(hashes)
        slots, chosen = np.unique(np.where(self._keys[first] == 0, first, _second_slots(hashes)), return_index=True)
        self._keys[slots], self._facts[slots] = hashes[chosen], facts[chosen]


def _slots(hashes: Hashes) -> Places:
    return (hashes >> np.uint64(64 - _SLOTS_LOG2)).view(np.int64)


def _second_slots(hashes: Hashes) -> Places:
    return (hashes & np.uint64((1 << _SLOTS_LOG2) - 1)).view(np.int64)

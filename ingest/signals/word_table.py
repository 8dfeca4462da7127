"""What is known of each word, looked up for whole columns at once by a hash of its letters."""

from threading import Lock

import numpy as np
import numpy.typing as npt

from ingest.signals.pair_features import stem, word_traits

Hashes = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int32]
Places = npt.NDArray[np.int64]

_SLOTS_LOG2 = 18
_MOST_STEMS = 500_000


class WordTable:
    """Stem numbers and traits of words by their 64-bit hash; two words of one hash are not expected in a lifetime.

    A slot holds the word that came last, and a word that lost its slot is read again, so that a log full of order
    numbers costs time but no memory. Stem numbers can be compared within one `look_up` only.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._lock = Lock()
        self._stem_numbers: dict[str, int] = {}
        self._keys = np.zeros(1 << _SLOTS_LOG2, dtype=np.uint64)
        self._stems = np.zeros(1 << _SLOTS_LOG2, dtype=np.int32)
        self._traits = np.zeros(1 << _SLOTS_LOG2, dtype=np.int32)

    def look_up(self, hashes: Hashes, letters: bytes, starts: Places, ends: Places) -> tuple[Integers, Integers]:
        """Return the stem number, above 0, and the traits of each word; a word is `letters[start:end]` in UTF-8."""
        slots = (hashes >> np.uint64(64 - _SLOTS_LOG2)).astype(np.int64)
        with self._lock:
            if len(self._stem_numbers) > _MOST_STEMS:
                self._stem_numbers.clear()
                self._keys[:] = 0
            is_new = self._keys.take(slots) != hashes
            stems, traits = self._stems.take(slots), self._traits.take(slots)
            if is_new.any():
                places = np.flatnonzero(is_new)
                new, first, back = np.unique(hashes[places], return_index=True, return_inverse=True)
                words = [letters[starts[i] : ends[i]].decode("utf-8", "replace") for i in places[first]]
                new_stems = np.array([self._stem_number(word) for word in words], dtype=np.int32)
                new_traits = np.array([word_traits(word) for word in words], dtype=np.int32)
                stems[places], traits[places] = new_stems[back], new_traits[back]
                self._keep(new, new_stems, new_traits)
        return stems, traits

    def _stem_number(self, word: str) -> int:
        return self._stem_numbers.setdefault(stem(word), len(self._stem_numbers) + 1)

    def _keep(self, hashes: Hashes, stems: Integers, traits: Integers) -> None:
        slots, chosen = np.unique(hashes >> np.uint64(64 - _SLOTS_LOG2), return_index=True)
        self._keys[slots], self._stems[slots], self._traits[slots] = hashes[chosen], stems[chosen], traits[chosen]

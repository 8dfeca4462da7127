"""The rephrases among millions of pairs: the verdicts of `rephrasing`, without a Python object for most pairs."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ingest.signals.arrow_arrays import as_column, as_indices, as_strings, text_buffers
from ingest.signals.pair_features import (
    LEXICAL_FEATURES,
    NO_MARKS,
    RETRY_MARKS,
    SHORTEST_STEM,
    SUFFIXES,
    Numbers,
    known_words,
)
from ingest.signals.rephrasing import (
    HOPELESS,
    KINDS,
    MAY_BE_SAME,
    NEARLY_ALL,
    KindNumbers,
    Verdict,
    is_repeated,
    nearly_alike,
    rephrase_model,
    similarity_verdicts,
    weigh,
)

try:
    from ingest.compiled.questions import Vocabulary, measure_pairs
except ImportError:  # nothing was compiled where this is installed
    IS_COMPILED = False
else:
    IS_COMPILED = True

_NAMES = as_strings(KINDS)
_TO_WEIGH, _MAY_BE_REPEATED, _UNREAD, _REPEATED = 2, 4, 8, 16
"""What `measure_pairs` says of a pair."""
_BARS = {"hopeless": HOPELESS, "may_be_same": MAY_BE_SAME, "nearly_all": NEARLY_ALL}
_AT_ONCE = 1 << 16


def rephrase_columns(
    earlier: pa.StringArray, later: pa.StringArray, *, embeddings: str = "", strictness: float = 1.0
) -> pa.StructArray:
    """Return a struct of kind and score for each pair of questions, both null where it is no rephrase.

    Questions are compared in lower case; white space and quotes are as they are given.
    """
    found = _Found(len(earlier))
    if embeddings or not IS_COMPILED:
        texts = _lowered(earlier), _lowered(later)
        verdicts = similarity_verdicts(*texts, embeddings=embeddings, strictness=strictness)
        found.put_verdicts(np.arange(len(earlier)), verdicts)
    else:
        for start in range(0, len(earlier), _AT_ONCE):
            _judge(found, start, earlier.slice(start, _AT_ONCE), later.slice(start, _AT_ONCE), strictness)
    return found.as_struct()


class _Found:
    """Verdicts as they come in, by the place of their pair."""

    def __init__(self, pairs: int) -> None:
        self._kinds = np.full(pairs, -1, dtype=np.int8)
        self._scores = np.zeros(pairs)

    def put(self, start: int, kinds: KindNumbers, scores: Numbers) -> None:
        places = slice(start, start + len(kinds))
        self._kinds[places], self._scores[places] = kinds, scores

    def put_verdicts(self, places: npt.NDArray[np.int64], verdicts: Sequence[Verdict | None]) -> None:
        for place, verdict in zip(places, verdicts, strict=True):
            if verdict:
                self._kinds[place], self._scores[place] = KINDS.index(verdict.kind), verdict.score

    def as_struct(self) -> pa.StructArray:
        is_found = self._kinds >= 0
        kinds = _NAMES.take(as_column(self._kinds, pa.int8(), is_found))
        scores = as_column(self._scores, pa.float64(), is_found)
        return pa.StructArray.from_arrays([kinds, scores], names=["kind", "score"])


class _Measured(NamedTuple):
    """What the compiled loop says of pairs: bits and token_set_ratio of each, features of those to be weighed."""

    verdicts: npt.NDArray[np.uint8]
    word_sets: Numbers
    features: Numbers


def _judge(found: _Found, start: int, earlier: pa.StringArray, later: pa.StringArray, strictness: float) -> None:
    measured = _measured(earlier, later)
    kinds, scores = nearly_alike(measured.word_sets)
    weighed = np.flatnonzero(measured.verdicts & _TO_WEIGH)
    kinds[weighed], scores[weighed] = weigh(measured.features, LEXICAL_FEATURES, rephrase_model(), strictness)
    repeated = [np.flatnonzero(measured.verdicts & _REPEATED), _repeated(measured.verdicts, earlier, later)]
    for places in repeated:
        kinds[places], scores[places] = KINDS.index("repeated"), 1.0
    found.put(start, kinds, scores)
    unread = np.flatnonzero(measured.verdicts & _UNREAD)
    if unread.size:
        found.put_verdicts(
            start + unread, similarity_verdicts(*_texts_at(unread, earlier, later), strictness=strictness)
        )


def _repeated(verdicts: npt.NDArray[np.uint8], earlier: pa.StringArray, later: pa.StringArray) -> npt.NDArray[np.int64]:
    """Return the places of what is repeated with other marks or an opening."""
    places = np.flatnonzero(verdicts & _MAY_BE_REPEATED)
    if not places.size:
        return places
    return places[list(map(is_repeated, *_texts_at(places, earlier, later)))]


def _texts_at(places: npt.NDArray[np.int64], *columns: pa.StringArray) -> list[list[str]]:
    few = as_indices(places)
    return [_lowered(column.take(few)) for column in columns]


def _lowered(texts: pa.StringArray) -> list[str]:
    """Return texts in lower case, empty where missing."""
    return [(text or "").lower() for text in texts.to_pylist()]


def _measured(earlier: pa.StringArray, later: pa.StringArray) -> _Measured:
    pairs = len(earlier)
    verdicts, word_sets = np.empty(pairs, dtype=np.uint8), np.empty(pairs)
    features = np.empty((pairs, len(LEXICAL_FEATURES)))
    columns = (*text_buffers(earlier), *text_buffers(later))
    weighed = measure_pairs(*columns, _vocabulary(), _BARS, verdicts, word_sets, features)
    return _Measured(verdicts, word_sets, features[:weighed])


@cache
def _vocabulary() -> "Vocabulary":
    no_word = "".join(map(chr, NO_MARKS))
    return Vocabulary(known_words(), SUFFIXES, SHORTEST_STEM, f"{no_word} ", f"{RETRY_MARKS} ")

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
    Verdict,
    rephrase_model,
    similarity_verdicts,
)

try:
    from ingest.compiled.questions import Vocabulary, give_verdicts, measure_pairs
except ImportError:  # nothing was compiled where this is installed
    IS_COMPILED = False
else:
    IS_COMPILED = True

_NAMES = as_strings(KINDS)
_LEFT = -2
"""The kind of a pair that the compiled loop leaves to be judged the plain way."""
_BARS = {"hopeless": HOPELESS, "may_be_same": MAY_BE_SAME, "nearly_all": NEARLY_ALL}


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
        found.put(np.arange(len(earlier)), verdicts)
    else:
        measured = _measured(earlier, later)
        if give_verdicts(*measured, _heads(strictness), found.kinds, found.scores):
            left = np.flatnonzero(found.kinds == _LEFT)
            found.put(left, similarity_verdicts(*_texts_at(left, earlier, later), strictness=strictness))
    return found.as_struct()


class _Found:
    """Verdicts as they come in, by the place of their pair."""

    def __init__(self, pairs: int) -> None:
        self.kinds = np.empty(pairs, dtype=np.int8)
        self.scores = np.empty(pairs)

    def put(self, places: npt.NDArray[np.int64], verdicts: Sequence[Verdict | None]) -> None:
        for place, verdict in zip(places, verdicts, strict=True):
            self.kinds[place] = KINDS.index(verdict.kind) if verdict else -1
            self.scores[place] = verdict.score if verdict else 0.0

    def as_struct(self) -> pa.StructArray:
        is_found = self.kinds >= 0
        kinds = _NAMES.take(as_column(self.kinds, pa.int8(), is_found))
        scores = as_column(self.scores, pa.float64(), is_found)
        return pa.StructArray.from_arrays([kinds, scores], names=["kind", "score"])


class _Measured(NamedTuple):
    """What the compiled loop says of pairs: bits and token_set_ratio of each, features of those to be weighed."""

    verdicts: npt.NDArray[np.uint8]
    word_sets: Numbers
    features: Numbers


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


@cache
def _heads(strictness: float) -> Numbers:
    """Return weights, intercept and threshold of the kinds that are weighed."""
    return np.array(
        [
            (*map(head.weights.__getitem__, LEXICAL_FEATURES), head.intercept, head.stricter_threshold(strictness))
            for head in rephrase_model()
        ]
    )

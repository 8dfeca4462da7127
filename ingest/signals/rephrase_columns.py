"""The rephrases among millions of pairs: the verdicts of `rephrasing`, without looking closely at most pairs."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from rapidfuzz import fuzz
from rapidfuzz.process import cpdist

from ingest.signals.arrow_arrays import as_column, as_indices, as_mask, as_strings, is_filled
from ingest.signals.pair_columns import Bounds, Mask, PairColumn, compare, may_share_content
from ingest.signals.pair_features import COUNTED_FEATURES, LEXICAL_FEATURES, Numbers
from ingest.signals.question_columns import read_letters, read_questions
from ingest.signals.rephrasing import (
    HOPELESS,
    KINDS,
    LONGEST,
    MAY_BE_SAME,
    NEARLY_ALL,
    Verdict,
    plain_likeness,
    rephrase_model,
    similarity_verdicts,
    weigh,
)
from ingest.signals.word_table import Places

_NAMES = as_strings(KINDS)
_SLACK = 1e-5
"""rapidfuzz reckons in single precision."""


def rephrase_columns(
    earlier: pa.StringArray, later: pa.StringArray, *, embeddings: str = "", strictness: float = 1.0
) -> pa.StructArray:
    """Return a struct of kind and score for each pair of folded questions, both null where it is no rephrase."""
    found = _Found(len(earlier))
    if embeddings:
        found.put_verdicts(np.arange(len(earlier)), _judged_plainly(earlier, later, embeddings, strictness))
        return found.as_struct()
    is_there = is_filled(earlier) & is_filled(later)
    asked = np.flatnonzero(is_there)
    if asked.size < len(earlier):
        earlier, later = earlier.take(as_indices(asked)), later.take(as_indices(asked))
    texts, a, b = _texts(earlier, later)
    questions = read_questions(texts, longest=LONGEST)
    is_plain = questions.is_plain[a] & questions.is_plain[b]
    odd, open_at = np.flatnonzero(~is_plain), np.flatnonzero(is_plain & may_share_content(questions, a, b))
    if odd.size:
        few = as_indices(odd)
        found.put_verdicts(asked[odd], _judged_plainly(earlier.take(few), later.take(few), "", strictness))
    if open_at.size:
        rows, earlier_rows, later_rows = _numbered(a[open_at], b[open_at], len(texts))
        measured = compare(questions, read_letters(texts.take(as_indices(rows))), rows, earlier_rows, later_rows)
        few = as_indices(open_at)
        both = earlier.take(few), later.take(few)
        _judge_measured(found, asked[open_at], measured, both, strictness)
    return found.as_struct()


class _Found:
    """Verdicts as they come in, by the place of their pair."""

    def __init__(self, pairs: int) -> None:
        self._kinds = np.full(pairs, -1, dtype=np.int8)
        self._scores = np.zeros(pairs)

    def put(self, places: Places, kinds: npt.NDArray[np.int8], scores: Numbers) -> None:
        self._kinds[places], self._scores[places] = kinds, scores

    def put_verdicts(self, places: Places, verdicts: Sequence[Verdict | None]) -> None:
        for place, verdict in zip(places, verdicts, strict=True):
            if verdict:
                self._kinds[place], self._scores[place] = KINDS.index(verdict.kind), verdict.score

    def as_struct(self) -> pa.StructArray:
        is_found = self._kinds >= 0
        kinds = _NAMES.take(as_column(self._kinds, pa.int8(), is_found))
        scores = as_column(self._scores, pa.float64(), is_found)
        return pa.StructArray.from_arrays([kinds, scores], names=["kind", "score"])


def _numbered(earlier: Places, later: Places, count: int) -> tuple[Places, Places, Places]:
    """Return which of `count` places are in use, and both columns of places as numbers of these."""
    is_used = np.zeros(count, dtype=bool)
    is_used[earlier] = is_used[later] = True
    numbers = np.cumsum(is_used) - 1
    return np.flatnonzero(is_used), numbers[earlier], numbers[later]


def _judge_measured(
    found: _Found, places: Places, measured: PairColumn, texts: tuple[pa.StringArray, pa.StringArray], strictness: float
) -> None:
    """Let rapidfuzz read ever fewer of the pairs: the cheapest measure first, the dearest for what may still be one."""
    earlier, later = (column.to_pylist() for column in texts)
    letters = _alike(fuzz.ratio, earlier, later) / 100
    close = np.flatnonzero(_may_be_rephrase(measured.counted, measured.bounds, letters, strictness))
    earlier, later = [earlier[i] for i in close], [later[i] for i in close]
    word_sets = _alike(fuzz.token_set_ratio, earlier, later)
    kinds, scores = plain_likeness(earlier, later, word_sets, measured.bounds.may_be_repeated[close])
    weighed = np.flatnonzero((kinds < 0) & (word_sets >= HOPELESS))
    words = [[side[i] for i in weighed] for side in (earlier, later)]
    features = np.column_stack(
        [
            word_sets[weighed] / 100,
            _alike(fuzz.token_sort_ratio, *words) / 100,
            letters[close[weighed]],
            measured.counted[close[weighed]],
        ]
    )
    kinds[weighed], scores[weighed] = weigh(features, LEXICAL_FEATURES, rephrase_model(), strictness)
    found.put(places[close], kinds, scores)


def _alike(scorer: Callable[..., float], earlier: Sequence[str], later: Sequence[str]) -> Numbers:
    return np.asarray(cpdist(earlier, later, scorer=scorer), dtype=np.float64) if earlier else np.zeros(0)


def _may_be_rephrase(counted: Numbers, bounds: Bounds, letters: Numbers, strictness: float) -> Mask:
    """Tell which pairs could be called a rephrase whatever rapidfuzz has yet to say of their words."""
    word_sets = bounds.word_sets_at_most + _SLACK
    could_be = word_sets >= NEARLY_ALL / 100
    could_be |= bounds.may_be_repeated & (word_sets >= MAY_BE_SAME / 100)
    for head in rephrase_model():
        highest = head.intercept + counted @ np.array([head.weights[name] for name in COUNTED_FEATURES])
        for name, low, high in (
            ("word_sets_alike", HOPELESS / 100, word_sets),
            ("sorted_words_alike", 0.0, bounds.letters_at_most + _SLACK),
            ("letters_alike", letters, letters),
        ):
            highest = highest + np.maximum(head.weights[name] * low, head.weights[name] * high)
        could_be |= highest >= head.least_logit(strictness) - _SLACK
    return np.asarray(could_be & bounds.may_share_content & (word_sets >= HOPELESS / 100))


def _judged_plainly(
    earlier: pa.StringArray, later: pa.StringArray, embeddings: str, strictness: float
) -> list[Verdict | None]:
    return similarity_verdicts(earlier.to_pylist(), later.to_pylist(), embeddings=embeddings, strictness=strictness)


def _texts(earlier: pa.StringArray, later: pa.StringArray) -> tuple[pa.StringArray, Places, Places]:
    """Return the texts of both columns and where each stands; in a session one's later is the next one's earlier."""
    count = len(earlier)
    rows = np.arange(count)
    if count < 2:  # noqa: PLR2004 - one pair has no next
        return pa.concat_arrays([earlier, later]), rows, rows + count
    is_next = np.append(as_mask(pc.equal(later.slice(0, count - 1), earlier.slice(1))), [False])
    later_rows = np.where(is_next, rows + 1, count + np.cumsum(~is_next) - 1)
    return pa.concat_arrays([earlier, later.take(as_indices(np.flatnonzero(~is_next)))]), rows, later_rows

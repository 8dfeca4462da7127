"""The counted features of pairs of questions for whole columns, and how far rapidfuzz could go on each."""

from math import log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ingest.signals.pair_features import ASKING_SHIFT, COUNTED_FEATURES, Numbers, Trait
from ingest.signals.question_columns import CLASSES, MARKS, MOST_WORDS, SPACES, LetterColumn, QuestionColumn
from ingest.signals.word_table import MOST_BYTES, SIZE_SHIFT, STEM_SHIFT, Places

Integers = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint32]
"""One integer a question, whose bit i stands for word i."""
_LOGS = np.array([log((1 + b) / (1 + a)) for a in range(MOST_WORDS + 1) for b in range(MOST_WORDS + 1)])
_PACKED = 24
_PLACE_VALUES = (1 << np.arange(_PACKED)).astype(np.float32)
"""A product with these packs as many bits into a number as single precision holds, faster than shifts do."""
_FACTS = {
    name: number
    for number, name in enumerate(
        ("words", "content", "names", "new_content", "asks", "points", "goes_on", "retries", "twins")
    )
}
"""What is known of a question as a whole, as rows of a table. `content`, `new_content` and `names` are bit sets of its
words: content words, those whose stem did not stand before, and words that are no pronouns and did not stand before.
`twins` counts the bytes, a space each included, of the words that stood before."""
_BELOW = np.array([(1 << place) - 1 for place in range(MOST_WORDS)], dtype=np.uint32)
_ALL_TRAITS = (1 << SIZE_SHIFT) - 1
# As plain integers: numpy would turn every array that meets an enum member into wider numbers.
_CONTENT, _NAMES, _POINTS, _RETRIES = map(int, (Trait.CONTENT, Trait.NAMES, Trait.POINTS, Trait.RETRIES))
_FOLLOWS_ON, _INTERJECTION, _OPENS = map(int, (Trait.FOLLOWS_ON, Trait.INTERJECTION, Trait.OPENS))
_WHAT, _ABOUT, _TELL, _ME = map(int, (Trait.WHAT, Trait.ABOUT, Trait.TELL, Trait.ME))
_ASKING_BITS = SIZE_SHIFT - ASKING_SHIFT
_ASKING_NUMBERS = (1 << _ASKING_BITS) - 1
_LONGEST_OPENING = 6
"""Letters of the longest opening that a retry may add, `m` aside, of which some hum many."""
_KINDS = np.zeros((CLASSES, 3), dtype=np.float32)
"""A product with these adds up the letters and marks, the letters a retry has too, and the spaces."""
_KINDS[:SPACES, 0] = _KINDS[:MARKS, 1] = _KINDS[SPACES, 2] = 1
_KINDS[ord("m") & 31, 1] = 0


class Bounds(NamedTuple):
    """What rapidfuzz cannot go beyond, from 0 to 1, known from counts alone."""

    word_sets_at_most: Numbers
    letters_at_most: Numbers
    """Of words sorted or not."""
    may_be_repeated: Mask
    """Whether the two could be the same but for marks and an opening."""
    may_share_content: Mask
    """Whether they share a content word, or one of them has none."""

    def at(self, places: Places) -> "Bounds":
        """Return the bounds of the pairs at `places`."""
        return Bounds(
            self.word_sets_at_most[places],
            self.letters_at_most[places],
            self.may_be_repeated[places],
            self.may_share_content[places],
        )


class PairColumn(NamedTuple):
    """The features named by COUNTED_FEATURES and the bounds, one row a pair."""

    counted: Numbers
    bounds: Bounds


def may_share_content(questions: QuestionColumn, earlier: Places, later: Places) -> Mask:
    """Return False where both questions have content words and surely none in common."""
    is_open = np.ones(len(earlier), dtype=bool)
    for content in questions.content:
        a, b = content.take(earlier), content.take(later)
        is_open &= ((a & b) > 0) | (a == 0) | (b == 0)
    return is_open


def compare(
    questions: QuestionColumn, letters: LetterColumn, rows: Places, earlier: Places, later: Places
) -> PairColumn:
    """Measure pairs of plain questions; a pair is two places in `rows`, the rows of `questions` that `letters` has."""
    texts = _Texts.of(questions, rows)
    counted, shared = _counted(texts.at(earlier), texts.at(later))
    return PairColumn(counted, _bounds(letters, earlier, later, shared))


class _Texts(NamedTuple):
    """Questions. A table has a row for each place of a word and a column for each question."""

    stems: Integers
    """0 where there is no word."""
    sizes: Integers
    facts: Words
    """One row a fact."""

    @classmethod
    def of(cls, questions: QuestionColumn, rows: Places) -> "_Texts":
        words = questions.words[rows]
        columns = np.arange(int(words.max(initial=1)))[:, None]
        places = np.minimum(questions.first[rows] + columns, max(0, len(questions.facts) - 1))
        known = np.where(columns < words, questions.facts.take(places), 0) if questions.facts.size else 0 * places
        stems = (known >> STEM_SHIFT).astype(np.int32)
        low = known.astype(np.int32)
        sizes, traits = (low >> SIZE_SHIFT) & MOST_BYTES, low & _ALL_TRAITS
        every = np.bitwise_or.reduce(traits, axis=0)
        content = _bits((traits & _CONTENT) > 0)
        before = _alike(stems, stems) & _BELOW[: len(columns), None]
        new = before == 0
        facts = {
            "words": words,
            "content": content,
            "names": _bits(((traits & _NAMES) > 0) & new),
            "new_content": content & _bits((before & content) == 0),
            "asks": _first_asking(traits),
            "points": (every & _POINTS) > 0,
            "goes_on": _goes_on(traits, stems > 0, every),
            "retries": (traits[0] & _RETRIES) > 0,
            "twins": np.where(new, 0, sizes + 1).sum(axis=0),
        }
        return cls(stems, sizes, np.array([facts[name] for name in _FACTS], dtype=np.uint32))

    def at(self, rows: Places) -> "_Texts":
        return _Texts(self.stems.take(rows, axis=1), self.sizes.take(rows, axis=1), self.facts.take(rows, axis=1))

    def __getattr__(self, name: str) -> Words:
        return np.asarray(self.facts[_FACTS[name]])


def _bits(is_so: Mask) -> Words:
    """Return for each place but the first axis's one integer, whose bit i is set where row i is."""
    rows = is_so.reshape(len(is_so), -1)
    bits = (_PLACE_VALUES[: len(rows)] @ rows[:_PACKED].astype(np.float32)).astype(np.uint32)
    if len(rows) > _PACKED:
        rest = rows[_PACKED:].astype(np.float32)
        bits |= (_PLACE_VALUES[: len(rest)] @ rest).astype(np.uint32) << np.uint32(_PACKED)
    return bits.reshape(is_so.shape[1:])


def _alike(a: Integers, b: Integers) -> Words:
    """Return for each word of `b` which words of `a` have its stem."""
    return _bits(np.where(a > 0, a, -1)[:, None] == b)


def _first_asking(traits: Integers) -> Integers:
    """Return the number of the first question word of each question, 0 where there is none."""
    asks = traits >> ASKING_SHIFT
    placed = asks + (np.arange(len(asks), dtype=np.int32) << _ASKING_BITS)[:, None]
    first = np.where(asks > 0, placed, MOST_WORDS << _ASKING_BITS).min(axis=0)
    return np.asarray(first & _ASKING_NUMBERS)


def _goes_on(traits: Integers, is_word: Mask, every: Integers) -> Mask:
    goes_on = (every & _FOLLOWS_ON > 0) | (traits[0] & _OPENS > 0)
    if len(traits) == 1:
        return np.asarray(goes_on)
    goes_on |= (traits[0] & _TELL > 0) & (traits[1] & _ME > 0)
    asking = np.flatnonzero((every & (_WHAT | _ABOUT)) == (_WHAT | _ABOUT))
    if asking.size:
        some = traits[:, asking]
        start = ((some & _INTERJECTION == 0) & is_word[:, asking]).argmax(axis=0)
        after = np.minimum(start + 1, len(traits) - 1)
        columns = np.arange(asking.size)
        goes_on[asking] |= (some[start, columns] & _WHAT > 0) & (some[after, columns] & _ABOUT > 0)
    return np.asarray(goes_on)


def _counted(a: _Texts, b: _Texts) -> tuple[Numbers, Places]:
    """Return the counted features and, in rows, what the bounds are made of.

    These are, of either side, the letters of the words that stand in the other and of those that stand twice, then
    whether the two may share content, then of either whether it opens like a retry.
    """
    alike = _alike(a.stems, b.stems)
    in_later = np.bitwise_or.reduce(alike, axis=0)
    in_content = np.bitwise_or.reduce(np.where(_each_bit(b.content, len(alike)), alike, 0), axis=0)
    both, of_a, of_b = (
        np.bitwise_count(words).astype(np.float64)
        for words in (a.new_content & in_content, a.new_content, b.new_content)
    )
    names = np.maximum(np.bitwise_count(a.names), 1)
    features = np.empty((len(names), len(COUNTED_FEATURES)))
    for place, column in enumerate(
        (
            both / np.maximum(of_a + of_b - both, 1),
            np.bitwise_count(a.names & in_later) / names,
            both / np.maximum(np.minimum(of_a, of_b), 1),
            both / np.maximum(of_a, 1),
            both / np.maximum(of_b, 1),
            np.minimum(1.0, _longest_in_order(alike) / names),
            (a.asks == b.asks) & (a.asks > 0),
            a.points,
            b.points,
            a.points & ~b.points & 1,
            np.minimum(b.words, 30) / 10,
            _LOGS.take(a.words * (MOST_WORDS + 1) + b.words),
            np.minimum(of_a, 8) / 8,
            b.goes_on,
        )
    ):
        features[:, place] = column
    may_share = (both > 0) | (of_a == 0) | (of_b == 0)
    of_earlier = (a.sizes * _each_bit(in_later, len(a.sizes))).sum(axis=0)
    of_later = (b.sizes * (alike > 0)).sum(axis=0)
    return features, np.array([of_earlier, of_later, a.twins, b.twins, may_share, a.retries, b.retries], dtype=np.int64)


def _each_bit(bits: Words, width: int) -> Mask:
    """Return the bits as a table, row i for bit i."""
    return np.asarray((bits >> np.arange(width, dtype=np.uint32)[:, None]) & np.uint32(1), dtype=bool)


def _longest_in_order(alike: Words) -> Integers:
    """Return the length of the longest common subsequence: the bit-parallel way of Hyyrö (2004)."""
    gone = np.full_like(alike[0], np.iinfo(alike.dtype).max)
    for words in alike:
        kept = gone & words
        gone = (gone + kept) | (gone - kept)
    return np.asarray(np.bitwise_count(~gone), dtype=np.int32)


def _bounds(letters: LetterColumn, earlier: Places, later: Places, shared: Places) -> Bounds:
    counts = letters.counts
    each = counts @ _KINDS
    common = np.minimum(counts.take(earlier, axis=0), counts.take(later, axis=0)) @ _KINDS
    in_common = common[:, 0] + common[:, 2]
    length_a, length_b = letters.length[earlier], letters.length[later]
    at_most = np.minimum(1.0, 2 * in_common / np.maximum(length_a + length_b, 1))
    rest = np.maximum(
        *(each[side, 1] - _LONGEST_OPENING * opens for side, opens in ((earlier, shared[5]), (later, shared[6])))
    )
    gaps = each[:, 2].astype(np.int64)
    kept = np.minimum(_most_kept(letters, earlier, shared[0]), _most_kept(letters, later, shared[1]))
    set_a = _least_as_set(letters, gaps, earlier, shared[2])
    set_b = _least_as_set(letters, gaps, later, shared[3])
    in_both = 2 * kept / np.maximum(kept + np.minimum(set_a, set_b), 1)
    as_sets = 2 * in_common / np.maximum(set_a + set_b, 1)
    return Bounds(
        np.minimum(1.0, np.maximum(as_sets, in_both)),
        at_most,
        common[:, 1] >= rest,
        shared[4] > 0,
    )


def _least_as_set(letters: LetterColumn, gaps: Places, rows: Places, twins: Places) -> Places:
    """Return how short a question may become when each of its words is kept once, whatever marks cling to them."""
    marks = (letters.length - gaps - letters.word_letters)[rows]
    return np.maximum(letters.length[rows] - np.where(twins > 0, twins + np.maximum(marks, 0), 0), 0)


def _most_kept(letters: LetterColumn, rows: Places, shared: Places) -> Places:
    """Return the most letters that the words in both can have: all but those of words that stand in one alone."""
    return letters.length[rows] - np.where(letters.is_ascii[rows], letters.word_letters[rows] - shared, 0)

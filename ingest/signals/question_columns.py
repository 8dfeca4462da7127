"""Whole columns of questions as arrays of numbered words and counted letters, without a Python object per question."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ingest.signals.pair_features import NO_MARKS, RETRY_MARKS, Trait
from ingest.signals.word_table import STEM_SHIFT, Hashes, Places, WordFacts, WordTable

Bools = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.float32]
MOST_WORDS = 32
"""Questions with more words are for the plain way."""
MARKS, SPACES, CLASSES = 32, 33, 34
_SPACES = " \t\n\x0b\x0c\r\x1c\x1d\x1e\x1f"
_IS_SPACE = np.zeros(256, dtype=bool)
_IS_SPACE[[ord(mark) for mark in _SPACES]] = True
_IS_ODD = _IS_SPACE.copy()
_IS_ODD[0] = True
_IS_LETTER = ~_IS_SPACE
_IS_LETTER[list(NO_MARKS)] = False
_CLASSES = np.where(_IS_SPACE, SPACES, np.arange(256) & (MARKS - 1))
_CLASSES[[ord(mark) for mark in RETRY_MARKS]] = MARKS
_ODD_START = np.zeros(256, dtype=bool)
_ODD_START[[0xC2, 0xE1, 0xE2, 0xE3]] = True
_FACTOR = 0x9E3779B97F4A7C15
_BEYOND_ASCII = 0x80
_CONTENT_PLACE = np.uint64(Trait.CONTENT.bit_length() - 1)
_SPREAD = np.uint64(0xD6E8FEB86659FD93)


class QuestionColumn(NamedTuple):
    """The words of a column of questions."""

    facts: WordFacts
    """All words of all questions; stems have one number within a column."""
    first: Places
    """Where the words of each question begin in these."""
    words: Places
    """How many words each question has."""
    content: tuple[Hashes, Hashes]
    """Two bit sets of the content words of each question; no word is shared where one of them shares no bit."""
    is_plain: Bools
    """Whether the question is spaced as usual and short enough for arrays."""


class LetterColumn(NamedTuple):
    """The letters of a column of plain questions."""

    counts: Counts
    """Counts of bytes, one row a question: by their lower five bits, in column MARKS the marks a retry may add, in
    column SPACES the spaces."""
    length: Places
    """Letters, marks and spaces together."""
    word_letters: Places
    """Bytes that belong to words."""
    is_ascii: Bools


class _Powers:
    """Powers of an odd factor and of its inverse, modulo 2**64."""

    def __init__(self) -> None:
        self._up = self._down = np.ones(1, dtype=np.uint64)

    def of(self, length: int) -> tuple[Hashes, Hashes]:
        if len(self._up) < length:
            size = 1 << (length - 1).bit_length()
            self._up, self._down = _powers(_FACTOR, size), _powers(pow(_FACTOR, -1, 1 << 64), size)
        return self._up, self._down


def _powers(factor: int, size: int) -> Hashes:
    steps = np.full(size, factor, dtype=np.uint64)
    steps[0] = 1
    return np.multiply.accumulate(steps)


_POWERS, _WORDS = _Powers(), WordTable()


def read_questions(texts: pa.StringArray, *, longest: int) -> QuestionColumn:
    """Cut folded questions without nulls into words; one of more than `longest` bytes is not plain."""
    data, offsets = _bytes_of(texts)
    index = data.astype(np.intp)  # what `take` is fastest with
    starts, ends = _runs(_IS_LETTER.take(index), offsets)
    first = np.searchsorted(starts, offsets[:-1])
    words = np.diff(first, append=len(starts))
    facts = _WORDS.look_up(_hashes(index, starts, ends), data.tobytes(), starts, ends)
    is_odd = _oddly_spaced(data, offsets) | (np.diff(offsets) > longest) | (words > MOST_WORDS)
    return QuestionColumn(facts, first, words, _content_sets(facts, first, words), ~is_odd)


def _content_sets(facts: WordFacts, first: Places, words: Places) -> tuple[Hashes, Hashes]:
    known = facts.view(np.uint64)
    spread = (known >> np.uint64(STEM_SHIFT)) * _SPREAD
    is_content = (known >> _CONTENT_PLACE) & np.uint64(1)
    low, high = (_joined(is_content << ((spread >> np.uint64(by)) & np.uint64(63)), first, words) for by in (58, 52))
    return low, high


def _joined(bits: Hashes, first: Places, words: Places) -> Hashes:
    joined = np.zeros(len(first), dtype=np.uint64)
    filled = np.flatnonzero(words)
    if filled.size:
        joined[filled] = np.bitwise_or.reduceat(bits, first[filled])
    return joined


def read_letters(texts: pa.StringArray) -> LetterColumn:
    """Count the letters of plain questions without nulls."""
    data, offsets = _bytes_of(texts)
    index, sizes = data.astype(np.intp), np.diff(offsets)
    length = sizes - _row_sums((data & 0xC0) == 0x80, offsets)  # noqa: PLR2004 - UTF-8's mark of a byte that goes on
    return LetterColumn(
        _counted_letters(index, offsets),
        length,
        _row_sums(_IS_LETTER.take(index), offsets),
        is_ascii=length == sizes,
    )


def _counted_letters(index: Places, offsets: Places) -> Counts:
    questions = len(offsets) - 1
    cells = np.repeat(np.arange(0, questions * CLASSES, CLASSES), np.diff(offsets))
    cells += _CLASSES.take(index)
    return np.bincount(cells, minlength=questions * CLASSES).reshape(questions, CLASSES).astype(np.float32)


def _bytes_of(texts: pa.StringArray) -> tuple[npt.NDArray[np.uint8], Places]:
    buffers = texts.buffers()
    offsets = np.frombuffer(buffers[1], dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    if buffers[2] is None:
        return np.zeros(0, dtype=np.uint8), offsets - offsets[0]
    return np.frombuffer(buffers[2], dtype=np.uint8)[offsets[0] : offsets[-1]], offsets - offsets[0]


def _runs(is_in: Bools, offsets: Places) -> tuple[Places, Places]:
    """Return where runs of True begin and end; none goes over the end of a question."""
    if not is_in.size:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    before, after = np.zeros(len(is_in) + 1, dtype=bool), np.zeros(len(is_in) + 1, dtype=bool)
    before[1:], after[:-1] = is_in, is_in
    cuts = offsets
    before_cut = before.copy()
    before_cut[cuts] = False
    starts = np.flatnonzero(is_in & ~before_cut[:-1])
    after[cuts] = False
    ends = np.flatnonzero(is_in & ~after[1:]) + 1
    return starts, ends


def _hashes(index: Places, starts: Places, ends: Places) -> Hashes:
    """Hash each word by a polynomial of its bytes, from one running sum over all."""
    up, down = _POWERS.of(len(index) + 1)
    total = np.zeros(len(index) + 1, dtype=np.uint64)
    np.multiply(index.view(np.uint64), up[: len(index)], out=total[1:])
    np.cumsum(total, out=total)
    hashes = (total.take(ends) - total.take(starts)) * down.take(starts)
    hashes ^= hashes >> np.uint64(32)
    hashes *= _SPREAD
    return hashes ^ (hashes >> np.uint64(29))


def _oddly_spaced(data: npt.NDArray[np.uint8], offsets: Places) -> Bools:
    """Return which questions have zero bytes, or doubled, outer or unusual spaces: hashes or lengths would be wrong."""
    is_space = data == ord(" ")
    odd = np.zeros(len(data) + 1, dtype=bool)
    odd[:-1] = (data < ord(" ")) & _IS_ODD.take(data) if data.size and data.min() < ord(" ") else False
    odd[1:-1] |= is_space[1:] & is_space[:-1]
    outer = np.zeros(len(offsets) - 1, dtype=bool)
    filled = offsets[1:] > offsets[:-1]
    outer[filled] = is_space[offsets[:-1][filled]] | is_space[offsets[1:][filled] - 1]
    if data.size and data.max() >= _BEYOND_ASCII:
        marks = np.flatnonzero(_ODD_START[data])
        odd[marks[_is_unusual_space(data, marks)]] = True
    return np.asarray(outer | (_row_sums(odd[:-1], offsets) > 0))


def _is_unusual_space(data: npt.NDArray[np.uint8], places: Places) -> Bools:
    """Tell which UTF-8 sequences may be one of the spaces beyond ASCII."""
    padded = np.append(data, [0, 0])
    lead, second, third = padded[places], padded[places + 1], padded[places + 2]
    is_mark = (lead == 0xE2) & (second == 0x80) & (third >= 0x90) & (third <= 0xA7)  # noqa: PLR2004 - dashes and quotes
    return np.asarray(
        ((lead == 0xC2) & ((second == 0x85) | (second == 0xA0)))  # noqa: PLR2004 - next line, no-break space
        | ((lead == 0xE1) & (second == 0x9A))  # noqa: PLR2004 - ogham space
        | ((lead == 0xE2) & ((second == 0x80) | (second == 0x81)) & ~is_mark)  # noqa: PLR2004 - general punctuation
        | ((lead == 0xE3) & (second == 0x80) & (third == 0x80))  # noqa: PLR2004 - ideographic space
    )


def _row_sums(is_so: Bools, offsets: Places) -> Places:
    if not is_so.any():
        return np.zeros(len(offsets) - 1, dtype=np.int64)
    total = np.zeros(len(is_so) + 1, dtype=np.int64)
    np.cumsum(is_so, out=total[1:])
    return total[offsets[1:]] - total[offsets[:-1]]

"""What every match of an expression holds: a set of groups of four letters, one of which a text must have to match.

Texts with none of them need not be read by the expression, and to look for such groups is far quicker. All that
expressions of `cues` and `decline_hints` are written with is understood. A group is made of classes: the letters a to z
whatever their case, an apostrophe, a digit, and so on, down to anything else in ASCII.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, product
from math import inf, prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ingest.signals.phrase_parts import (
    Alphabet,
    Choice,
    Edge,
    Letter,
    Part,
    Repeat,
    Turn,
    UnknownExpressionError,
    parsed,
)

SIZE, CLASS_BITS = 4, 5
"""Letters of a group, and bits of the number of a class."""
_OTHER, _APOSTROPHE, _BEYOND_ASCII, _DIGIT, _STAR, _ASKS = 0, 27, 28, 29, 30, 31
_EVERY = (1 << 32) - 1
_LETTERS = sum(1 << number for number in range(1, 27))
_ASCII_WORD = _LETTERS | 1 << _DIGIT
_WORD, _NO_WORD = _ASCII_WORD | 1 << _BEYOND_ASCII, _EVERY & ~_ASCII_WORD
_EDGE = ((1 << _OTHER,) * (SIZE - 1),)
"""Before and after a text stands nothing, which is read as anything else."""
_GAP = -1
"""Stands in a run where two letters need not be next to each other."""
_BOUNDARY = -2
"""Stands in a run where a word begins or ends."""
_NOTHING = (1 << _OTHER,) * SIZE
"""May stand before or after a text as a whole, where no letters are looked at."""
_MOST_RUNS, _MOST_GROUPS = 1500, 3000
_UNSEEN = 0.01
"""How often a group is taken to stand where it was not seen."""
Run = tuple[int, ...]
"""Letters one after the other, each a set of classes as bits, or a gap, or a boundary."""
Groups = frozenset[Run]


class _Needed(NamedTuple):
    """What a match of a part of an expression is: one of these runs. If None, it holds one of the groups."""

    runs: tuple[Run, ...] | None
    groups: Groups | None = None
    """None where nothing is sure to be there."""


def needed_groups(expression: str, usual: Sequence[str]) -> npt.NDArray[np.uint8]:
    """Return a bit for each group of four classes, the last class in the lowest bits of its number.

    All are set where a match needs none. `usual` are such texts as will be looked at: of the groups that a match holds
    those are taken that stand least often in them.
    """
    letters = (" " * (SIZE - 1)).join(["", *usual, ""]).encode()
    chooser = _Chooser(letter_classes()[np.frombuffer(letters, dtype=np.uint8)])
    found = chooser.groups_of(chooser.needed(parsed(expression.removeprefix("(?i)"), _CLASSES)))
    bits = np.zeros(1 << SIZE * CLASS_BITS, dtype=np.uint8)
    if found is None:
        bits[:] = 1
    for run in found or ():
        for classes in product(*map(_members, run)):
            bits[sum(each << CLASS_BITS * place for place, each in enumerate(reversed(classes)))] = 1
    return np.packbits(bits, bitorder="little")


@cache
def letter_classes() -> npt.NDArray[np.uint8]:
    """Return the class of each byte of UTF-8."""
    return np.array([_class_of(chr(byte)) for byte in range(256)], dtype=np.uint8)


def _class_of(letter: str) -> int:
    if letter > "\x7f":
        return _BEYOND_ASCII
    if letter.isalpha():
        return ord(letter.lower()) - ord("a") + 1
    return _MARKS.get(letter, _DIGIT if letter.isdigit() else _OTHER)


_MARKS = {"'": _APOSTROPHE, "*": _STAR, "?": _ASKS, "!": _ASKS, "_": _DIGIT}


@cache
def _members(classes: int) -> list[int]:
    return [number for number in range(32) if classes >> number & 1]


class _Chooser:
    """Chooses the groups that are rarest in texts of the kind that will be looked at."""

    def __init__(self, usual: npt.NDArray[np.uint8]) -> None:
        windows = usual[: len(usual) - SIZE + 1].astype(np.int64)
        for place in range(1, SIZE):
            windows = windows << CLASS_BITS | usual[place : len(usual) - SIZE + 1 + place]
        self._counts = np.bincount(windows, minlength=1 << SIZE * CLASS_BITS).reshape((1 << CLASS_BITS,) * SIZE)
        self._frequency = cache(self._counted)

    def _counted(self, run: Run) -> float:
        if run == _NOTHING or prod(map(int.bit_count, run)) > _MOST_GROUPS:
            return inf
        if all(classes & (classes - 1) == 0 for classes in run):  # of each place one class
            return self._counts.item(*(classes.bit_length() - 1 for classes in run)) + _UNSEEN
        members = [_members(classes) for classes in run]
        return float(self._counts[np.ix_(*members)].sum()) + _UNSEEN * prod(map(len, members))

    def frequency(self, groups: Groups) -> float:
        """Say how often any of the groups stands in the usual texts."""
        return sum(map(self._frequency, groups))

    def groups_of(self, needed: _Needed) -> Groups | None:
        """Return the groups one of which is needed."""
        if needed.runs is None:
            return needed.groups
        rarest = [self._rarest(run) for run in needed.runs]
        return None if None in rarest else frozenset(run for run in rarest if run)

    def _rarest(self, run: Run) -> Run | None:
        """Return the group of a run that stands least often, the first of several; None where none is to be had."""
        rarest, least = None, inf
        for some in _stretches(run):
            padded = (_EVERY,) * (SIZE - len(some)) + some
            for start in range(len(padded) - SIZE + 1):
                frequency = self._frequency(padded[start : start + SIZE])
                if frequency < least:
                    rarest, least = padded[start : start + SIZE], frequency
        return rarest

    def needed(self, part: Part) -> _Needed:
        """Return what a match of a part needs."""
        match part:
            case Letter(classes):
                return _Needed(((classes,),))
            case Turn(parts):
                return self.in_turn(map(self.needed, parts))
            case Choice(ways):
                return self.any_of([self.needed(way) for way in ways])
            case Repeat(inner, least, most):
                return _repeated(self.needed(inner), least, is_once=most == 1)
            case Edge.BOUNDARY:
                return _Needed(((_BOUNDARY,),))
            case Edge():
                return _Needed(_EDGE)
        raise UnknownExpressionError(f"{part!r} looks ahead, which is not known here.")

    def in_turn(self, parts: Iterable[_Needed]) -> _Needed:
        """Return what is needed for one part after the other."""
        runs: tuple[Run, ...] = ((),)
        choices: list[Groups | None] = []
        for part in parts:
            if part.runs is not None and len(runs) * len(part.runs) <= _MOST_RUNS:
                runs = tuple(a + b for a in runs for b in part.runs)
                continue
            choices += [self.groups_of(_Needed(runs)), self.groups_of(part)]
            runs = ((),) if part.runs is None else part.runs
        if not choices:
            return _Needed(runs)
        sure = [groups for groups in (*choices, self.groups_of(_Needed(runs))) if groups is not None]
        return _Needed(None, min(sure, key=self.frequency, default=None))

    def any_of(self, parts: Sequence[_Needed]) -> _Needed:
        """Return what is needed for one of the parts."""
        runs = [part.runs for part in parts if part.runs is not None]
        if len(runs) == len(parts) and sum(map(len, runs)) <= _MOST_RUNS:
            return _Needed(tuple(dict.fromkeys(chain.from_iterable(runs))))
        groups = [self.groups_of(part) for part in parts]
        return _Needed(None, None if None in groups else frozenset().union(*(each for each in groups if each)))


def _stretches(run: Run) -> Iterator[Run]:
    """Yield what stands between the gaps of a run."""
    settled = _settled(run) if _BOUNDARY in run else run
    start = 0
    while _GAP in settled[start:]:
        gap = settled.index(_GAP, start)
        if gap > start:
            yield settled[start:gap]
        start = gap + 1
    if start < len(settled):
        yield settled[start:]


def _settled(run: Run) -> Run:
    """Return a run without boundaries: before and after the letters of a word one stands for a letter of none."""
    settled: list[int] = []
    for before, each, after in zip((_GAP, *run), run, (*run[1:], _GAP), strict=False):
        if each != _BOUNDARY:
            settled.append(each)
        elif _GAP in {before, after}:
            beside = max(before, after)
            settled.append(_GAP if beside < 0 or beside & ~_ASCII_WORD else _NO_WORD)
    return tuple(settled)


def _repeated(part: _Needed, least: int, *, is_once: bool) -> _Needed:
    """Return what is needed for a part that stands `least` times or more: of many only the last is told."""
    if part.runs is None:
        return part if least else _Needed(None)
    runs = part.runs if is_once else tuple((_GAP, *run) for run in part.runs)
    return _Needed(runs if least else ((), *runs))


# Of a negated set only a whole class that is named is left out: [^.] may still be another mark.
_CLASSES = Alphabet(
    letter=lambda letter: 1 << _class_of(letter),
    kinds={"s": 1 << _OTHER, "w": _WORD, "S": _EVERY, "n": 1 << _OTHER},
    any_letter=_EVERY,
    others=lambda classes: _EVERY & ~(classes & _LETTERS),
    may_repeat_nothing=True,
)

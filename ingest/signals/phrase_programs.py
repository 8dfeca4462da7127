"""Expressions as programs in numbers, which a compiled loop follows without the lock of the interpreter.

They find what `re` finds in folded text of Latin-1: the same first match, from and to the same letters. A program tries
its ways in the order in which `re` does, but for those that the next letters rule out.
"""

from collections.abc import Iterable, Sequence
from enum import IntEnum
from functools import reduce
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ingest.signals.phrase_beginnings import ANYTHING, CLASS_OF, CLASSES, beginnings_of, class_bits
from ingest.signals.phrase_parts import (
    END,
    LETTERS,
    MANY,
    NOTHING,
    Choice,
    Edge,
    Letter,
    Look,
    Part,
    Repeat,
    Turn,
)

_WORTH_A_TABLE = 6
"""Ways from which on a table by the next letter says which of them to try."""


class Step(IntEnum):
    """What a step of a program does; a match goes on with `then` unless said."""

    FOUND = 0
    TEXT = 1
    """Takes as many letters as `other` says, those from `given` on in the pool."""
    ANY = 2
    """Takes a letter of the set `given`."""
    BOUNDARY = 3
    BEGIN = 4
    END = 5
    MOST = 6
    """Takes as many letters of the set `given` as it can, within the bounds `other`."""
    LEAST = 7
    """Takes as few."""
    WAYS = 8
    """Tries the steps listed at `given`, in turn."""
    TABLE = 9
    """Tries the steps that the table `given` lists for the class of the next letter."""
    AHEAD = 10
    """Asks that the program at `other` matches here, taking nothing."""
    NOT_AHEAD = 11


class Programs(NamedTuple):
    """Programs in one: numbers for the compiled loop."""

    steps: npt.NDArray[np.int32]
    """For each step what it does, what it is given, the next, and another."""
    pool: npt.NDArray[np.uint8]
    """The letters of texts."""
    sets: npt.NDArray[np.uint8]
    """For each set and letter, or the end of a text, whether it is in it."""
    bounds: npt.NDArray[np.int32]
    """The least and the most letters to take, and what must be next after them: two sets of classes, as bits."""
    ways: npt.NDArray[np.int32]
    """Lists of steps to try, led by their number; each is followed by what must be next. The first list is empty."""
    tables: npt.NDArray[np.int32]
    """For each table and class of letters where in `ways` the list is."""
    entries: npt.NDArray[np.int32]
    """Where each program begins."""
    beginnings: npt.NDArray[np.uint8]
    """For each program what `phrase_beginnings` tells."""
    classes: npt.NDArray[np.uint8]
    """The class of each letter, and of the end of a text."""


class _Ahead(NamedTuple):
    """The letters, or the end, that may be next where a step matches, and after that."""

    first: int
    second: int


class ProgramMaker:
    """Makes programs of parts, from the last step to the first."""

    def __init__(self) -> None:
        """Begin with the step that ends every program."""
        self._steps: list[tuple[int, ...]] = [(Step.FOUND, 0, 0, 0)]
        self._aheads = [_Ahead(ANYTHING, ANYTHING)]
        self._known: dict[tuple[int, ...], int] = {}
        self._sets = {ANYTHING: 0}
        self._pool = ""
        self._places: dict[str, int] = {}
        self._texts: dict[int, tuple[str, int]] = {}
        self._bounds: list[tuple[int, int, int, int]] = []
        self._ways = [0]
        self._lists: dict[tuple[int, ...], int] = {(): 0}
        self._tables: list[list[int]] = []
        self._entries: list[int] = []
        self._beginnings: list[npt.NDArray[np.uint8]] = []

    def add(self, part: Part) -> int:
        """Add a program and return its number."""
        self._entries.append(self._made(part, 0))
        self._beginnings.append(beginnings_of(part))
        return len(self._entries) - 1

    def programs(self) -> Programs:
        """Return all that were added."""
        return Programs(
            np.array(self._steps, dtype=np.int32),
            np.frombuffer(self._pool.encode("latin-1") or b" ", dtype=np.uint8),
            np.array([[letters >> code & 1 for code in range(LETTERS + 1)] for letters in self._sets], dtype=np.uint8),
            np.array(self._bounds, dtype=np.uint32).view(np.int32).reshape(-1, 4),
            np.array(self._ways, dtype=np.uint32).view(np.int32),
            np.array(self._tables, dtype=np.int32).reshape(-1, CLASSES),
            np.array(self._entries, dtype=np.int32),
            np.array(self._beginnings, dtype=np.uint8),
            CLASS_OF,
        )

    def _made(self, part: Part, then: int) -> int:
        """Return the step at which a part begins that goes on with `then`."""
        match part:
            case Letter(letters):
                return self._letter(letters, then)
            case Turn(parts):
                return self._turn(parts, then)
            case Choice(ways):
                return self._choice([self._made(way, then) for way in _sharing_heads(ways)])
            case Repeat(Letter(letters), least, most, lazy) if most > 1:
                bounds = (least, most, *self._next_classes(then))
                return self._letters(letters, bounds, then, does=Step.LEAST if lazy else Step.MOST)
            case Repeat():
                return self._repeat(part, then)
        return self._without_letter(part, then)

    def _without_letter(self, part: Edge | Look, then: int) -> int:
        """Return the step for what takes no letter."""
        ahead = self._aheads[then]
        match part:
            case Edge.END:
                return self._step(Step.END, _Ahead(END, END), then=then)
            case Edge():
                return self._step(Step[part.name], ahead, then=then)
            case Look(Letter(letters), True) if not ahead.first & ~letters:
                return then
            case Look(inner, wanted):
                does = Step.AHEAD if wanted else Step.NOT_AHEAD
                return self._step(does, ahead, then=then, other=self._made(inner, 0))

    def _turn(self, parts: Sequence[Part], then: int) -> int:
        """Return the step for one part after the other: letters that follow each other are taken at once."""
        text: list[str] = []
        for part in reversed(parts):
            if isinstance(part, Letter) and part.letters.bit_count() == 1:
                text.append(chr(part.letters.bit_length() - 1))
            else:
                then = self._made(part, self._after("".join(reversed(text)), then))
                text.clear()
        return self._after("".join(reversed(text)), then)

    def _after(self, text: str, then: int) -> int:
        """Return the step that takes a text, which may be empty, with what a text after it takes."""
        if not text:
            return then
        more, then = self._texts.get(then, ("", then))
        return self._text(text + more, then)

    def _letter(self, letters: int, then: int) -> int:
        if letters.bit_count() == 1:
            return self._after(chr(letters.bit_length() - 1), then)
        ahead = _Ahead(letters, self._aheads[then].first)
        return self._step(Step.ANY, ahead, given=self._set(letters), then=then)

    def _text(self, text: str, then: int) -> int:
        """Return a step that takes letters one after the other."""
        place = self._places.setdefault(text, len(self._pool))
        if place == len(self._pool):
            self._pool += text
        ahead = _Ahead(1 << ord(text[0]), 1 << ord(text[1]) if text[1:] else self._aheads[then].first)
        step = self._step(Step.TEXT, ahead, given=place, then=then, other=len(text))
        self._texts[step] = text, then
        return step

    def _letters(self, letters: int, bounds: tuple[int, int, int, int], then: int, *, does: Step) -> int:
        after = self._aheads[then]
        ahead = _Ahead(letters, letters | after.first)
        if not bounds[0]:
            ahead = _either(ahead, after)
        self._bounds.append(bounds)
        return self._step(does, ahead, given=self._set(letters), then=then, other=len(self._bounds) - 1)

    def _repeat(self, part: Repeat, then: int) -> int:
        inner, least, most, lazy = part
        if most == MANY:
            then = self._many(inner, then, lazy=lazy)
        else:
            end = then
            for _ in range(most - least):
                then = self._choice(_in_order(self._made(inner, then), end, lazy=lazy))
        for _ in range(least):
            then = self._made(inner, then)
        return then

    def _many(self, inner: Part, then: int, *, lazy: bool) -> int:
        """Return a step that is come back to after each time."""
        again = len(self._steps)
        self._steps.append(())
        self._aheads.append(_Ahead(ANYTHING, ANYTHING))
        more = self._made(inner, again)
        self._aheads[again] = _either(self._aheads[more], self._aheads[then])
        self._steps[again] = (Step.WAYS, self._list(_in_order(more, then, lazy=lazy)), 0, 0)
        return again

    def _choice(self, steps: Sequence[int]) -> int:
        aheads = [self._aheads[step] for step in steps]
        ahead = reduce(_either, aheads)
        if len(steps) < _WORTH_A_TABLE:
            return self._step(Step.WAYS, ahead, given=self._list(steps))
        firsts = [class_bits(each.first) for each in aheads]
        self._tables.append(
            [
                self._list([step for step, first in zip(steps, firsts, strict=True) if first >> number & 1])
                for number in range(CLASSES)
            ]
        )
        return self._step(Step.TABLE, ahead, given=len(self._tables) - 1)

    def _list(self, steps: Sequence[int]) -> int:
        known = self._lists.setdefault(tuple(steps), len(self._ways))
        if known == len(self._ways):
            self._ways.append(len(steps))
            for step in steps:
                self._ways += [step, *self._next_classes(step)]
        return known

    def _next_classes(self, step: int) -> tuple[int, int]:
        first, second = self._aheads[step]
        return class_bits(first), class_bits(second)

    def _set(self, letters: int) -> int:
        return self._sets.setdefault(letters, len(self._sets))

    def _step(self, does: Step, ahead: _Ahead, *, given: int = 0, then: int = 0, other: int = 0) -> int:
        """Return such a step, which is added if there is none."""
        step = (does, given, then, other)
        known = self._known.setdefault(step, len(self._steps))
        if known == len(self._steps):
            self._steps.append(step)
            self._aheads.append(ahead)
        return known


def _either(one: _Ahead, other: _Ahead) -> _Ahead:
    return _Ahead(one.first | other.first, one.second | other.second)


def _in_order(more: int, end: int, *, lazy: bool) -> tuple[int, int]:
    return (end, more) if lazy else (more, end)


def _sharing_heads(ways: Iterable[Part]) -> list[Part]:
    """Put ways together that begin with the same letter or edge, where no other way can come between them."""
    heads: list[Part] = []
    rests: list[list[Part]] = []
    for way in ways:
        head, rest = _cut(way)
        place = _place_of(head, heads)
        if place < 0:
            heads.append(head)
            rests.append([rest])
        else:
            rests[place].append(rest)
    return [
        Turn((head, same[0] if len(same) == 1 else Choice(tuple(same))))
        for head, same in zip(heads, rests, strict=True)
    ]


def _cut(way: Part) -> tuple[Part, Part]:
    """Return what a way begins with, and the rest of it."""
    if isinstance(way, Turn) and way.parts:
        head, rest = _cut(way.parts[0])
        return head, Turn((rest, *way.parts[1:]) if rest != NOTHING else way.parts[1:])
    return way, NOTHING


def _place_of(head: Part, heads: Sequence[Part]) -> int:
    """Return which of the heads is the same, or -1; a head that can match in several ways is the same as none."""
    for place in reversed(range(len(heads) if isinstance(head, Letter | Edge) else 0)):
        other = heads[place]
        if other == head:
            return place
        if not (isinstance(head, Letter) and isinstance(other, Letter) and not head.letters & other.letters):
            break
    return -1

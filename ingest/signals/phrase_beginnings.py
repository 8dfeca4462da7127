"""What a match of an expression begins with, told by classes of letters: it is looked for only where these stand."""

from functools import cache, reduce
from operator import or_

import numpy as np
import numpy.typing as npt

from ingest.signals.phrase_parts import ANY_LETTER, END, LETTERS, Choice, Edge, Letter, Part, Repeat, Turn

ANYTHING = ANY_LETTER | END


def _class_of(letter: str) -> int:
    if "a" <= letter <= "z":
        return ord(letter) - ord("a") + 1
    return {"'": 27, " ": 28, ";": 0}.get(letter, 29 if letter.isalnum() else 30)


CLASSES, _HEAD = 32, 3
CLASS_OF = np.array([*map(_class_of, map(chr, range(LETTERS))), 31], dtype=np.uint8)
"""Few enough that three of them can be looked up; the last is the end of a text."""
_Head = tuple[int, ...]
"""Sets of letters one after the other."""


def _heads(part: Part, longest: int) -> set[_Head]:
    """Return what a match begins with, up to `longest` letters: shorter where it ends before."""
    match part:
        case Letter(letters):
            return {(letters,)}
        case Turn(parts):
            return reduce(lambda heads, each: _longer(heads, each, longest), parts, {()})
        case Choice(ways):
            return set().union(*(_heads(way, longest) for way in ways))
        case Repeat(inner, least, most):
            times: list[set[_Head]] = [{()}]
            for _ in range(min(most, least + longest)):
                times.append(_longer(times[-1], inner, longest))
            return set().union(*times[least:])
        case Edge.END:
            return {(END,) * longest}
    return {()}


def _longer(heads: set[_Head], part: Part, longest: int) -> set[_Head]:
    """Return heads with what comes next where they are not as long as they may be."""
    rests = {size: _heads(part, longest - size) for size in {len(head) for head in heads} if size < longest}
    return {head + rest for head in heads for rest in rests.get(len(head), [()])}


def beginnings_of(part: Part) -> npt.NDArray[np.uint8]:
    """Return for three classes whether a match may begin with them: 1 anywhere, 2 at a boundary; a byte has four."""
    kinds = np.zeros((CLASSES,) * _HEAD, dtype=np.uint8)
    for way in part.ways if isinstance(part, Choice) else (part,):
        edge = way.parts[0] if isinstance(way, Turn) and way.parts else way
        if edge != Edge.BEGIN:  # what may begin only there is tried there anyway
            for head in _heads(way, _HEAD):
                classes = [_classes_of(each) for each in (*head, *(ANYTHING,) * (_HEAD - len(head)))]
                kinds[np.ix_(*classes)] |= 2 if edge == Edge.BOUNDARY else 1
    quarters = kinds.reshape(-1, 4) << np.array([0, 2, 4, 6], dtype=np.uint8)
    packed: npt.NDArray[np.uint8] = np.bitwise_or.reduce(quarters, axis=1)
    return packed


@cache
def class_bits(letters: int) -> int:
    """Return the classes of letters, a bit for each."""
    return reduce(or_, (1 << each for each in _classes_of(letters)), 0)


@cache
def _classes_of(letters: int) -> list[int]:
    return sorted({int(CLASS_OF[code]) for code in range(LETTERS + 1) if letters >> code & 1})

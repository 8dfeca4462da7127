"""Expressions read into their parts: all that the language tables are written with is understood."""

import re
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import cache, reduce
from itertools import groupby
from operator import or_
from typing import NamedTuple

from evalsets.errors import ErrataError

LETTERS = 256
"""A letter is one of Latin-1, as a bit of a set; the end of a text is one more."""
ANY_LETTER = (1 << LETTERS) - 1
END = 1 << LETTERS
MANY = 1 << 14
"""Stands for no limit: more than any text is long that is read."""


class UnknownExpressionError(ErrataError):
    """An expression is written with what is not understood here."""


class Edge(Enum):
    """A place between letters."""

    BEGIN = "^"
    END = "$"
    BOUNDARY = r"\b"


class Letter(NamedTuple):
    """One letter out of a set, a bit for each, as the alphabet has them."""

    letters: int


class Turn(NamedTuple):
    """One part after the other."""

    parts: tuple["Part", ...]


class Choice(NamedTuple):
    """The first of the ways that leads to a match."""

    ways: tuple["Part", ...]


class Repeat(NamedTuple):
    """A part some times over, as often as can be unless it is lazy."""

    part: "Part"
    least: int
    most: int
    lazy: bool


class Look(NamedTuple):
    """What must, or must not, stand ahead."""

    part: "Part"
    wanted: bool


Part = Edge | Letter | Turn | Choice | Repeat | Look
NOTHING = Turn(())


def any_text(texts: Iterable[str]) -> Part:
    """Return what finds any of the texts; those that begin alike share their beginning."""
    kept = set(texts)
    return NOTHING if "" in kept else _by_heads(kept, any_text)


def one_of(texts: Iterable[str]) -> Part:
    """Return what is one of the texts, from beginning to end."""
    return Turn((Edge.BEGIN, _endings(texts)))


def _endings(texts: Iterable[str]) -> Part:
    return _by_heads(set(texts), _endings)


def _by_heads(texts: Iterable[str], rest: Callable[[Iterable[str]], Part]) -> Part:
    """Return a way for each first letter, which goes on with the rests of the texts that begin with it."""
    ways: list[Part] = []
    for head, same in groupby(sorted(texts), key=lambda text: text[:1]):
        ways.append(Turn((_letter(head), rest([text[1:] for text in same]))) if head else Edge.END)
    return ways[0] if len(ways) == 1 else Choice(tuple(ways))


class Alphabet(NamedTuple):
    """What sets the letters of an expression are read as, bit by bit."""

    letter: Callable[[str], int]
    kinds: Mapping[str, int]
    """What is behind a backslash."""
    any_letter: int
    """What a point stands for."""
    others: Callable[[int], int]
    """What a set is that is negated."""
    may_repeat_nothing: bool = False
    """Whether what may be empty may be repeated: a program would never come to its end."""


def parsed(expression: str, alphabet: Alphabet | None = None) -> Part:
    """Read an expression as `re` does, without flags.

    With letters of Latin-1, and nothing that is repeated empty, unless it is read for another alphabet.
    """
    reader = _Reader(expression, alphabet or _LATIN)
    part = reader.choice()
    if reader.place < len(expression):
        raise UnknownExpressionError(f"{expression!r} has a group that was never opened, at {reader.place}.")
    return part


def can_be_empty(part: Part) -> bool:
    """Tell whether a match may take no letter."""
    match part:
        case Letter():
            return False
        case Turn(parts):
            return all(map(can_be_empty, parts))
        case Choice(ways):
            return any(map(can_be_empty, ways))
        case Repeat(inner, least):
            return not least or can_be_empty(inner)
    return True


def _letter(letter: str) -> Letter:
    """Return a letter; what is not of Latin-1 stands in no text."""
    return Letter(1 << ord(letter) if ord(letter) < LETTERS else 0)


def _kind(is_so: Iterable[bool]) -> int:
    return sum(1 << code for code, each in enumerate(is_so) if each)


_CHARACTERS = [chr(code) for code in range(LETTERS)]
_KINDS = {
    "w": _kind(letter.isalnum() or letter == "_" for letter in _CHARACTERS),
    "s": _kind(map(str.isspace, _CHARACTERS)),
    "d": _kind(map(str.isdecimal, _CHARACTERS)),
}
_KINDS |= {kind.upper(): ANY_LETTER & ~letters for kind, letters in _KINDS.items()}
_LATIN = Alphabet(
    letter=lambda letter: _letter(letter).letters,
    kinds=_KINDS,
    any_letter=ANY_LETTER & ~(1 << ord("\n")),
    others=lambda letters: ANY_LETTER & ~letters,
)
_REPEAT = re.compile(r"(?:([?*+])|\{(\d+)(,?)(\d*)\})(\??)")
_OFTEN = {"?": (0, 1), "*": (0, MANY), "+": (1, MANY)}
_NO_LETTERS = "^$()[]{}?*+|.\\"
_PLAIN = re.compile(r"(?:[^^$()\[\]{}?*+|.\\](?![?*+{]))+")


class _Reader:
    """Reads an expression from left to right."""

    def __init__(self, expression: str, alphabet: Alphabet) -> None:
        self._expression, self._alphabet, self.place = expression, alphabet, 0
        self._letter = cache(lambda letter: Letter(alphabet.letter(letter)))

    def choice(self) -> Part:
        """Read up to the end of the group."""
        ways = [self._turn()]
        while self._takes("|"):
            ways.append(self._turn())
        return ways[0] if len(ways) == 1 else Choice(tuple(ways))

    def _turn(self) -> Part:
        parts: list[Part] = []
        while self.place < len(self._expression) and self._expression[self.place] not in "|)":
            parts += self._plain_letters() or [self._repeated(self._part())]
        return parts[0] if len(parts) == 1 else Turn(tuple(parts))

    def _plain_letters(self) -> list[Letter]:
        """Read letters that stand for themselves, and once each."""
        found = _PLAIN.match(self._expression, self.place)
        if not found:
            return []
        self.place = found.end()
        return [self._letter(letter) for letter in found.group()]

    def _part(self) -> Part:
        if self._expression[self.place] not in _NO_LETTERS:
            return self._letter(self._next())
        for edge in Edge:
            if self._takes(edge.value):
                return edge
        if self._takes("(?:"):
            return self._group()
        if self._takes("(?="):
            return Look(self._group(), wanted=True)
        if self._takes("(?!"):
            return Look(self._group(), wanted=False)
        return Letter(self._set() if self._takes("[") else self._letters(self._next()))

    def _group(self) -> Part:
        part = self.choice()
        if not self._takes(")"):
            raise UnknownExpressionError(f"{self._expression!r} has a group that is not closed.")
        return part

    def _repeated(self, part: Part) -> Part:
        found = _REPEAT.match(self._expression, self.place)
        if not found:
            return part
        self.place = found.end()
        sign, least, comma, most, lazy = found.groups()
        times = _OFTEN[sign] if sign else (int(least), int(most or MANY) if comma else int(least))
        if times[1] > 1 and not self._alphabet.may_repeat_nothing and can_be_empty(part):
            raise UnknownExpressionError(f"{self._expression!r} repeats what may be nothing, before {self.place}.")
        return Repeat(part, *times, bool(lazy))

    def _letters(self, mark: str) -> int:
        """Return the letters that a point, or what is escaped, stands for outside of a set."""
        if mark == ".":
            return self._alphabet.any_letter
        if mark == "\\":
            return self._escaped()
        raise UnknownExpressionError(f"{self._expression!r} has {mark!r} at {self.place - 1}, which is not known.")

    def _escaped(self) -> int:
        mark = self._next()
        if mark in self._alphabet.kinds:
            return self._alphabet.kinds[mark]
        if mark.isalnum():
            raise UnknownExpressionError(f"{self._expression!r} has an escape that is not known: {mark!r}.")
        return self._alphabet.letter(mark)

    def _set(self) -> int:
        negated = self._takes("^")
        letters = 0
        while not self._takes("]"):
            first = self._next()
            letters |= self._escaped() if first == "\\" else self._alphabet.letter(first)
            if self._expression[self.place] == "-" and self._expression[self.place + 1] != "]":
                self.place += 1
                codes = range(ord(first), ord(self._next()) + 1)
                letters |= reduce(or_, map(self._alphabet.letter, map(chr, codes)))
        return self._alphabet.others(letters) if negated else letters

    def _next(self) -> str:
        self.place += 1
        return self._expression[self.place - 1]

    def _takes(self, text: str) -> bool:
        if not self._expression.startswith(text, self.place):
            return False
        self.place += len(text)
        return True

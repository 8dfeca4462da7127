"""One expression out of many: those that begin alike share their beginning, so that few are tried at each word."""

import re
from collections.abc import Mapping, Sequence


def any_of(fragments: Sequence[str]) -> str:
    """Return an expression that finds any of the fragments; those that begin a word are tried only where one does.

    Of two fragments that match at one place, the one whose beginning was named first is taken.
    """
    groups: dict[str, list[str]] = {"^": [], _WORD: [], "": []}
    for fragment in fragments:
        for each in _alternatives(fragment):
            start = next(start for start in groups if each.startswith(start))
            groups[start].append(each.removeprefix(start))
    return "|".join(f"{start}(?:{_joined(group)})" for start, group in groups.items() if group)


_WORD = r"\b"


def _joined(fragments: Sequence[str]) -> str:
    rests: dict[str, list[str]] = {}
    for fragment in fragments:
        head = _head(fragment)
        rests.setdefault(head, []).append(fragment.removeprefix(head))
    return "|".join(f"{_guard(head)}{head}(?:{'|'.join(rest)})" for head, rest in rests.items())


def _head(fragment: str) -> str:
    """Return what a fragment begins with: a group of words, or the letters of one; empty where that is repeated."""
    end = _end_of_group(fragment) if fragment.startswith(_GROUP) else _letters(fragment)
    if fragment[end : end + 1] in _REPEATS:
        end = 0 if fragment.startswith(_GROUP) else max(0, end - 1)
    return fragment[:end]


_GROUP, _REPEATS = "(?:", ("?", "*", "+", "{")


def _letters(fragment: str) -> int:
    return next((place for place, mark in enumerate(fragment) if not mark.isalpha()), len(fragment))


def _guard(head: str) -> str:
    """Look at one letter before a group of words is tried word by word."""
    letters = _first_letters(head) if head.startswith(_GROUP) else None
    return f"(?=[{''.join(sorted(letters))}])" if letters else ""


def _first_letters(expression: str) -> set[str] | None:
    """Return the letters that a match can begin with; None where that is not plain."""
    letters: set[str] = set()
    for each in _alternatives(expression):
        head = _head(each)
        if not head:
            return None
        inner = _first_letters(head[len(_GROUP) : -1]) if head.startswith(_GROUP) else {head[0]}
        if inner is None:
            return None
        letters |= inner
    return letters


def _alternatives(expression: str) -> list[str]:
    """Cut an expression at each `|` that stands in no group."""
    starts = [0, *(place + 1 for place, depth in _marks(expression).items() if not depth and expression[place] == "|")]
    return [expression[a : b - 1] for a, b in zip(starts, [*starts[1:], len(expression) + 1], strict=True)]


def _end_of_group(expression: str) -> int:
    """Return where the group ends that an expression begins with."""
    return next(place for place, depth in _marks(expression).items() if not depth and expression[place] == ")") + 1


def _marks(expression: str) -> Mapping[int, int]:
    """Return the place of each mark that groups or parts, with how many groups are open around it."""
    marks, depth = {}, 0
    for found in _MARK.finditer(expression):
        mark = found.group()
        depth += (mark == "(") - (mark == ")")
        if mark in "()|":
            marks[found.start()] = depth - (mark == "(")
    return marks


_MARK = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|[()|]")
"""Escaped marks and sets of letters are read over."""

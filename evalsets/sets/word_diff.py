"""The difference of two texts word by word."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from typing import NamedTuple

_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
_WORTH_ALIGNING = 4_000_000
"""Product of the two token counts above which alignment would take seconds; the whole text is shown as replaced."""


class Part(StrEnum):
    """Where a stretch of text stands: in both texts, only in the first, or only in the second."""

    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"


class Segment(NamedTuple):
    """A stretch of text and where it stands."""

    part: Part
    text: str


def word_diff(before: str, after: str) -> list[Segment]:
    """Return the stretches that both texts share, that went and that came, in reading order."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    head = _shared_length(old, new)
    tail = _shared_length(old[head:][::-1], new[head:][::-1])
    middle = _aligned(old[head : len(old) - tail], new[head : len(new) - tail])
    whole = [
        Segment(Part.SAME, "".join(old[:head])),
        *middle,
        Segment(Part.SAME, "".join(old[len(old) - tail :])),
    ]
    return [segment for segment in whole if segment.text]


def _shared_length(old: Sequence[str], new: Sequence[str]) -> int:
    shortest = min(len(old), len(new))
    return next((place for place in range(shortest) if old[place] != new[place]), shortest)


def _aligned(old: list[str], new: list[str]) -> Iterator[Segment]:
    if len(old) * len(new) > _WORTH_ALIGNING:
        yield Segment(Part.REMOVED, "".join(old))
        yield Segment(Part.ADDED, "".join(new))
        return
    for tag, old_from, old_to, new_from, new_to in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield Segment(Part.SAME, "".join(old[old_from:old_to]))
        else:
            yield Segment(Part.REMOVED, "".join(old[old_from:old_to]))
            yield Segment(Part.ADDED, "".join(new[new_from:new_to]))

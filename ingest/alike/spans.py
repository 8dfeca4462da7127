"""Finds the spans of a block that are written like ones seen before, and the lines that hold nothing else."""

from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ingest.adapters.guarding import ODD_VALUE_ERRORS
from ingest.adapters.otlp_messages import UNUSUAL_ERRORS, UsualSpan, spans_of
from ingest.alike.quotes import Ints, QuotedBlock
from ingest.alike.templates import Template, learned

_FIRST_KEY = int.from_bytes(b"traceId\0", "little")
_FIRST_MASK = np.uint64((1 << 56) - 1)
_STUB = b'"traceId":"0","spanId":"0"}'
_STUB_SPAN = UsualSpan("0", "0")
_MOST_TEMPLATES = 200
_MOST_LESSONS = 12
"""How many spans of a block are looked at in vain."""


class FoundSpans(NamedTuple):
    """Spans of known templates in lines that hold no others, in order."""

    firsts: Ints
    """The place of the first quote of each."""
    templates: Ints
    lines: Ints
    resources: list[dict[str, Any]]
    resource: Ints
    """Which of the resources is that of each."""


class SpanFinder:
    """Knows how spans are written, from those it has met."""

    def __init__(self) -> None:
        """Know none yet."""
        self.templates: list[Template] = []

    def find(self, block: QuotedBlock) -> FoundSpans:
        """Return the spans of all lines that can be read as columns."""
        opens = block.quotes[0::2]
        is_first = (block.quotes[1::2] - opens == 8) & ((block.words[opens + 1] & _FIRST_MASK) == _FIRST_KEY)  # noqa: PLR2004 - seven letters and a quote
        firsts = 2 * np.flatnonzero(is_first)
        lines = np.searchsorted(block.line_ends, block.quotes[firsts])
        limits = np.append(firsts[1:], len(block.quotes))
        is_last = np.append(lines[1:] != lines[:-1], True) if len(lines) else np.zeros(0, bool)
        chosen = self._chosen(block, firsts, limits, is_last)
        return self._in_known_lines(block, firsts, lines, chosen)

    def _chosen(self, block: QuotedBlock, firsts: Ints, limits: Ints, is_last: Ints) -> Ints:
        """Return the template of each span, -1 where there is none."""
        chosen = np.full(len(firsts), -1)
        sizes = (limits - firsts) // 2
        for number in sorted(range(len(self.templates)), key=lambda number: -self.templates[number].strings):
            self._choose(number, block, firsts, sizes, chosen)
        failed: set[int] = set()
        while len(failed) < _MOST_LESSONS and len(self.templates) < _MOST_TEMPLATES:
            unknown = (at for at in np.flatnonzero(chosen < 0) if int(sizes[at]) not in failed)
            at = next(unknown, None)
            if at is None:
                break
            end = int(np.searchsorted(block.line_ends, block.quotes[firsts[at]]))
            limit = int(block.line_ends[end]) if is_last[at] else int(block.quotes[limits[at]])
            template = learned(block, int(firsts[at]), limit)
            if template is not None:
                self.templates.append(template)
                self._choose(len(self.templates) - 1, block, firsts, sizes, chosen)
            if template is None or chosen[at] < 0:
                failed.add(int(sizes[at]))
        return chosen

    def _choose(self, number: int, block: QuotedBlock, firsts: Ints, sizes: Ints, chosen: Ints) -> None:
        rows = np.flatnonzero((chosen < 0) & (sizes >= self.templates[number].strings))
        if len(rows):
            chosen[rows[self.templates[number].matches(block, firsts[rows])]] = number

    def _in_known_lines(self, block: QuotedBlock, firsts: Ints, lines: Ints, chosen: Ints) -> FoundSpans:
        """Keep the spans of lines that have a known envelope and no other spans."""
        ends = np.zeros(len(firsts), np.int64)
        for number in np.unique(chosen[chosen >= 0]):
            rows = np.flatnonzero(chosen == number)
            ends[rows] = self.templates[number].ends(block, firsts[rows])
        starts, line_ends = block.quotes[firsts].tolist(), [-1, *block.line_ends.tolist()]
        all_ends, is_bad = ends.tolist(), (chosen < 0).tolist()
        bounds = np.searchsorted(lines, np.arange(len(block.line_ends) + 1)).tolist()
        kept: list[int] = []
        resources = _Resources()
        numbers: list[int] = []
        for line, (low, high) in enumerate(pairwise(bounds)):
            if low == high or True in is_bad[low:high]:
                continue
            begins = line_ends[line] + 1, *all_ends[low:high]
            limits = *starts[low:high], line_ends[line + 1]
            found = _resources_in(tuple([block.content[start:end] for start, end in zip(begins, limits, strict=True)]))
            if found is not None:
                kept += range(low, high)
                numbers += resources.numbers(found)
        rows = np.array(kept, np.int64)
        return FoundSpans(firsts[rows], chosen[rows], lines[rows], resources.listed, np.array(numbers, np.int64))


class _Resources:
    """The resources of a block; equal ones are one object, and so are those of lines that are alike."""

    def __init__(self) -> None:
        self.listed: list[dict[str, Any]] = []
        self._known: dict[int, int] = {}
        self._lines: dict[int, tuple[list[dict[str, Any]], list[int]]] = {}

    def numbers(self, found: list[dict[str, Any]]) -> list[int]:
        """Return the places of resources among the listed ones, to which they are added."""
        known = self._lines.get(id(found))
        if known is None:
            known = self._lines[id(found)] = found, list(map(self._number, found))
        return known[1]

    def _number(self, resource: dict[str, Any]) -> int:
        number = self._known.setdefault(id(resource), len(self.listed))
        if number == len(self.listed):
            self.listed.append(resource)
        return number


@lru_cache(maxsize=1 << 10)
def _resources_in(pieces: tuple[bytes, ...]) -> list[dict[str, Any]] | None:
    """Return the resource of each span of a line from what stands around the spans; None for a line of another kind."""
    try:
        found = list(spans_of(_STUB.join(pieces)))
    except (*UNUSUAL_ERRORS, *ODD_VALUE_ERRORS):
        return None
    if len(found) != len(pieces) - 1 or any(span != _STUB_SPAN for span, _ in found):
        return None
    return [resource for _, resource in found]

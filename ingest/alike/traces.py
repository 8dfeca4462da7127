"""Puts spans together to traces, those whose spans are alike side by side."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ingest.alike.blocks import Block, Ints

_MOST_SPANS = 64
"""Longer traces are left, as each of their spans is compared with each."""
_TRACE, _SPAN, _PARENT, _START = slice(4, 6), 6, 7, 8


class AlikeTraces(NamedTuple):
    """Traces of which the spans, in order of time, are each of one template and resource, in one tree."""

    spans: Ints
    """Of each trace the places of its spans in the block, one row a trace."""
    parents: list[int]
    """The place of the span above each; -1 for none that is known."""


class Traces(NamedTuple):
    """What became of the spans of a block."""

    alike: list[AlikeTraces]
    odd: Ints
    """Which spans are of traces that are left to the other readers."""


def traces_of(block: Block, resources: Ints) -> Traces:
    """Return the traces of the spans of a block, of which the numbers of the `resources` are given; -1 for none."""
    size = len(block.spans)
    odd = (block.numbers < 0) | (resources < 0)
    ids = block.spans[:, _TRACE].view(np.uint64)
    order = _order(ids, block.spans[:, _START], block.spans[:, _SPAN].view(np.uint64))
    is_new = np.ones(size, bool)
    is_new[1:] = (ids[order[1:]] != ids[order[:-1]]).any(axis=1)
    firsts = np.flatnonzero(is_new)
    sizes = np.diff(np.append(firsts, size))
    alike: list[AlikeTraces] = []
    for count in np.unique(sizes).tolist():
        spans = order[firsts[sizes == count][:, None] + np.arange(count)]
        if count > _MOST_SPANS:
            odd[spans] = True
            continue
        tree, has_repeats = _tree(block.spans[:, _SPAN][spans], block.spans[:, _PARENT][spans])
        bad = has_repeats | odd[spans].any(axis=1)
        odd[spans[bad]] = True
        form = np.hstack([block.numbers[spans], resources[spans], tree])[~bad]
        alike.extend(AlikeTraces(spans[~bad][rows], form[rows[0]][2 * count :].tolist()) for rows in _same(form))
    return Traces(alike, odd)


def _order(ids: Ints, starts: Ints, span_ids: Ints) -> Ints:
    """Return the order of spans by trace and time; those of a trace mostly stand together already."""
    keys = [span_ids, starts, ids[:, 1], ids[:, 0]]
    varied = [key for key in keys if (key != key[0]).any()]
    return np.lexsort(varied) if varied else np.arange(len(ids))


def _same(rows: Ints) -> Iterator[Ints]:
    """Yield the places of the rows that are equal."""
    if not len(rows):
        return
    if (rows == rows[0]).all():
        yield np.arange(len(rows))
        return
    _, kinds = np.unique(rows, axis=0, return_inverse=True)
    for kind in range(kinds.max() + 1):
        yield np.flatnonzero(kinds.reshape(-1) == kind)


def _tree(ids: Ints, parents: Ints) -> tuple[Ints, Ints]:
    """Return of each span of each trace the place of the one above it, and which traces have an id twice."""
    count = ids.shape[1]
    above = np.full(ids.shape, -1)
    has_repeats = np.zeros(len(ids), bool)
    for at in range(count):
        for other in range(count):
            above[parents[:, at] == ids[:, other], at] = other
            if at < other:
                has_repeats |= ids[:, at] == ids[:, other]
    return above, has_repeats

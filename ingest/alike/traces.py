"""Puts spans of known templates together to traces, those whose spans are alike side by side."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ingest.alike.quotes import Ints, QuotedBlock
from ingest.alike.spans import FoundSpans
from ingest.alike.templates import Template

_TRACE_WORDS, _SPAN_WORDS = 4, 2
_WORD = 8
_HEX = np.zeros(256, bool)
_HEX[list(b"0123456789abcdef")] = True


class AlikeTraces(NamedTuple):
    """Traces of which the spans, in order of time, are each of one template and resource, in one tree."""

    spans: Ints
    """Of each trace the places of its spans among the found ones, one row a trace."""
    parents: list[int]
    """The place of the span above each; -1 for none that is known."""


class Traces(NamedTuple):
    """What became of the spans of a block."""

    alike: list[AlikeTraces]
    odd: Ints
    """Which spans are of traces that are left to the other readers."""


def traces_of(block: QuotedBlock, found: FoundSpans, templates: list[Template]) -> Traces:
    """Return the traces of the spans that were found."""
    size = len(found.firsts)
    odd = np.zeros(size, bool)
    trace_ids, is_trace = _ids(block, found, templates, "trace_id", _TRACE_WORDS)
    span_ids, is_span = _ids(block, found, templates, "span_id", _SPAN_WORDS)
    parents, is_parent = _ids(block, found, templates, "parent_span_id", _SPAN_WORDS)
    starts, is_time = _ids(block, found, templates, "start_time_unix_nano", 3)
    odd |= ~(is_trace & is_span & is_parent & is_time)
    odd |= ~trace_ids.any(axis=1) | ~span_ids.any(axis=1)
    order = _order(trace_ids, starts, span_ids)
    is_new = np.ones(size, bool)
    is_new[1:] = (trace_ids[order[1:]] != trace_ids[order[:-1]]).any(axis=1)
    firsts = np.flatnonzero(is_new)
    sizes = np.diff(np.append(firsts, size))
    alike: list[AlikeTraces] = []
    for count in np.unique(sizes).tolist():
        spans = order[firsts[sizes == count][:, None] + np.arange(count)]
        tree, has_repeats = _tree(span_ids[spans], parents[spans])
        bad = has_repeats | odd[spans].any(axis=1)
        odd[spans[bad]] = True
        form = np.hstack([found.templates[spans], found.resource[spans], tree])[~bad]
        alike.extend(AlikeTraces(spans[~bad][rows], form[rows[0]][2 * count :].tolist()) for rows in _same(form))
    return Traces(alike, odd)


def _order(trace_ids: Ints, starts: Ints, span_ids: Ints) -> Ints:
    """Return the order of spans by trace and time; those of a trace mostly stand together already."""
    keys = [*span_ids.T[::-1], *starts.T[::-1], *trace_ids.T[::-1]]
    varied = [key for key in keys if (key != key[0]).any()]
    return np.lexsort(varied) if varied else np.arange(len(trace_ids))


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
    above = np.full(ids.shape[:2], -1)
    has_repeats = np.zeros(len(ids), bool)
    for at in range(count):
        for other in range(count):
            above[(parents[:, at] == ids[:, other]).all(axis=1), at] = other
            if at < other:
                has_repeats |= (ids[:, at] == ids[:, other]).all(axis=1)
    return above, has_repeats


def _ids(block: QuotedBlock, found: FoundSpans, templates: list[Template], name: str, words: int) -> tuple[Ints, Ints]:
    """Return ids as numbers that sort as their texts do, zero for none, and which of them are in their usual form."""
    ids = np.zeros((len(found.firsts), words), np.uint64)
    is_usual = np.ones(len(found.firsts), bool)
    for number in np.unique(found.templates).tolist():
        at = templates[number].fields.get(name)
        if at is None:
            continue
        rows = np.flatnonzero(found.templates == number)
        firsts = found.firsts[rows] + 2 * at
        starts, sizes = block.quotes[firsts] + 1, block.quotes[firsts + 1] - block.quotes[firsts] - 1
        if name == "start_time_unix_nano":
            ids[rows], is_usual[rows] = _times(block, starts, sizes)
        else:
            ids[rows], is_usual[rows] = _hex(block, starts, sizes, words)
    return ids, is_usual


def _hex(block: QuotedBlock, starts: Ints, sizes: Ints, words: int) -> tuple[Ints, Ints]:
    found = block.words[starts[:, None] + _WORD * np.arange(words)]
    is_hex = _HEX[np.ascontiguousarray(found).view(np.uint8)].all(axis=1)
    is_zero = (found == int.from_bytes(b"0" * _WORD, "little")).all(axis=1)
    return found.byteswap(), is_hex & ~is_zero & (sizes == words * _WORD)


def _times(block: QuotedBlock, starts: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """Return times of 19 digits as numbers that sort alike."""
    found = block.words[np.stack([starts, starts + 8, starts + 11], axis=1)]
    digits = np.ascontiguousarray(found).view(np.uint8)
    is_time = ((digits >= ord("0")) & (digits <= ord("9"))).all(axis=1) & (digits[:, 0] > ord("0"))
    return found.byteswap(), is_time & (sizes == 19)  # noqa: PLR2004 - nanoseconds since 1970

"""Writes anew what is left of the lines of a block for the other readers."""

from itertools import groupby

import numpy as np

from ingest.alike.blocks import Block, Ints

_RESOURCE, _START, _LENGTH = 1, 18, 19
Line = tuple[int, bytes]
"""A line, after its number."""


def left_lines(block: Block, odd: Ints, is_bad: Ints) -> list[Line]:
    """Return the lines with spans that are `odd`, without their other spans, and all lines that have no spans.

    A line with a span that `is_bad` is left as it is, since it may be no JSON, as is one of which all spans are odd.
    """
    lines = block.spans[:, 0]
    whole = np.setdiff1d(np.arange(len(block.line_ends)), lines[~odd])
    whole = np.union1d(whole, lines[is_bad])
    starts = np.append(0, block.line_ends[:-1] + 1)
    content = block.texts.content
    listed = [(int(at) + 1, content[starts[at] : block.line_ends[at]]) for at in whole]
    found = [(number, line) for number, line in listed if line and not line.isspace()]
    return sorted(found + _parts(block, np.flatnonzero(odd & ~np.isin(lines, whole))))


def _parts(block: Block, spans: Ints) -> list[Line]:
    """Return these spans in lines of their own."""
    rows = zip(*(block.spans[spans, at].tolist() for at in (0, _RESOURCE, _START, _LENGTH)), strict=True)
    out = []
    for line, found in groupby(rows, key=lambda row: row[0]):
        by_resource = groupby(found, key=lambda row: row[1])
        parts = [_of_resource(block, resource, [row[2:] for row in some]) for resource, some in by_resource]
        out.append((line + 1, b'{"resourceSpans":[%b]}' % b",".join(parts)))
    return out


def _of_resource(block: Block, resource: int, places: list[tuple[int, int]]) -> bytes:
    content = block.texts.content
    spans = b",".join([content[start : start + length] for start, length in places])
    text = block.resource_texts[resource] or b"null"
    return b'{"resource":%b,"scopeSpans":[{"spans":[%b]}]}' % (text, spans)

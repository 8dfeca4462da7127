"""Reads the lines of a span format that are spelled in the usual way, and leaves the others to the full reader."""

from collections.abc import Callable, Sequence

from ingest.adapters.base import Span, UsualLines
from ingest.reading.blocks import LinePart, ReadBlock, read_part
from ingest.staging import StagedRows

ReadLines = Callable[[Sequence[bytes]], UsualLines]


def read_usual_lines(piece: LinePart, read_lines: ReadLines, rows: StagedRows, spans: list[Span]) -> ReadBlock:
    """Read the usual lines of a piece, and return the others as a block of its own.

    Their spans are added to `spans`, their texts and their count to `rows`.
    """
    content = piece.content or b""
    numbered = [(number, line) for number, line in enumerate(content.split(b"\n"), 1) if line and not line.isspace()]
    found = read_lines([line for _, line in numbered])
    rows.read += len(numbered) - len(found.left)
    spans.extend(found.spans)
    rows.texts.update(found.texts)
    for outcome in found.rest:
        rows.take(outcome)
    left = [numbered[at] for at in found.left]
    read = read_part(piece._replace(content=b"\n".join([line for _, line in left])))
    return _renumbered(read, [number for number, _ in left])._replace(lines=content.count(b"\n"))


def _renumbered(read: ReadBlock, numbers: list[int]) -> ReadBlock:
    """Give back the line numbers that the picked lines have in their piece."""
    return read._replace(
        block=read.block._replace(lines=[numbers[line - 1] for line in read.block.lines]),
        rejects=[reject._replace(line=numbers[reject.line - 1]) for reject in read.rejects],
        cautions=[
            caution._replace(line=numbers[caution.line - 1]) if caution.line else caution for caution in read.cautions
        ],
    )


def renumber(rows: StagedRows, numbers: list[int], size: int) -> None:
    """Give back the line numbers that the lines of `rows` have among all `size` lines of their part."""
    rows.rejects = [reject._replace(line=numbers[reject.line - 1]) for reject in rows.rejects]
    rows.cautions = [
        caution._replace(line=numbers[caution.line - 1]) if caution.line else caution for caution in rows.cautions
    ]
    rows.lines = size

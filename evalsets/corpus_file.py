"""A corpus as a JSONL file: one chunk a line with its id and text."""

import json
from pathlib import Path

from evalsets.chunks import Chunk
from evalsets.errors import BadInputError, FaultsError
from evalsets.line_reading import numbered_lines
from evalsets.pipelines.faults import CallFailedError
from evalsets.pipelines.native_forms import to_chunk


def read_corpus(path: Path) -> list[Chunk]:
    """Return the chunks of a JSONL file in order; every faulty line is named at once."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(
            f"cannot read the corpus {str(path)!r}: {error}. Name a UTF-8 JSONL file of chunks."
        ) from error
    chunks: dict[str, Chunk] = {}
    faults: list[str] = []
    for number, line in numbered_lines(text):
        try:
            chunk = to_chunk(_object(line))
        except (ValueError, CallFailedError) as error:
            faults.append(f"line {number}: {error}")
            continue
        if chunk.chunk_id in chunks:
            faults.append(f"line {number}: the id {chunk.chunk_id!r} stands on an earlier line too")
        chunks[chunk.chunk_id] = chunk._replace(score=None)
    if faults:
        raise FaultsError(f"{path} has {len(faults)} faulty line(s):", faults)
    if not chunks:
        raise BadInputError(f"the corpus {path} holds no chunks")
    return list(chunks.values())


def _object(line: str) -> dict[str, object]:
    row = json.loads(line)
    if not isinstance(row, dict):
        raise ValueError(f"{type(row).__name__}, not an object with an id and a text")  # noqa: TRY004 - reported like any other fault of the line
    return row

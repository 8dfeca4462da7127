"""Reads chunks from files: records of JSON, CSV or Parquet, and Markdown or text by its headings."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from evalsets.chunks import canonical_chunk_id, chunk_text_hash
from evalsets.errors import BadInputError
from ingest.normalising import instant, text
from ingest.reading.blocks import line_parts, read_part, whole_blocks
from ingest.reading.envelopes import usual_place
from ingest.reading.probing import Probe, probe
from ingest.reading.sources import SourceFile, find_files
from ingest.reading.unwrapping import Layers

_TEXT_SUFFIXES = {".md", ".markdown", ".mdx", ".txt", ".rst"}
_HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*\s*$|^(?P<line>[^\n]+)\n(?:=+|-{3,})\s*$", re.MULTILINE)
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_ID_KEYS = ("chunk_id", "id", "_id", "passage_id", "node_id", "segment_id", "doc_id", "document_id")
_DOC_KEYS = ("doc_id", "document_id", "doc", "file_id", "source", "url", "path", "file_path", "file_name", "document")
_TEXT_KEYS = ("text", "content", "page_content", "passage", "chunk_text", "body")
_POSITION_KEYS = ("position", "rank", "index", "chunk_index", "order")
_TIME_KEYS = ("updated_at", "last_modified", "modified_at", "last_updated", "modified", "updated", "date")
_REJECTS_KEPT = 50


class CorpusReject(BaseModel):
    """A record that is no chunk."""

    file: str
    line: int
    reason: str


class CorpusReport(BaseModel):
    """What adding to the corpus did."""

    files: int = 0
    read: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    rejected: int = 0
    rejects: list[CorpusReject] = []
    """The first of the rejected records."""
    chunks: int = 0
    """Chunks in the store afterwards."""
    documents: int = 0

    def summary(self) -> str:
        """Return the report in one line."""
        return (
            f"read {self.read} chunks of {self.files} files: {self.new} new, {self.changed} changed, {self.unchanged}"
            f" unchanged, {self.rejected} rejected; the corpus holds {self.chunks} chunks of {self.documents} documents"
        )


class FoundChunk(NamedTuple):
    """A chunk as its file has it."""

    chunk_id: str
    doc_id: str
    position: int
    text: str
    updated_at: datetime | None = None


def corpus_files(paths: Iterable[str | Path]) -> list[SourceFile]:
    """Return the files at paths; of folders Markdown and text too, which are no logs. Raises BadInputError for none."""
    found = []
    for path in map(Path, paths):
        if path.is_dir():
            texts = [
                file for file in sorted(path.rglob("*")) if file.suffix.lower() in _TEXT_SUFFIXES and file.is_file()
            ]
            names = {str(file) for file in texts}
            rest = [file for file in _files_or_none(path) if file.name not in names]
            found.extend([*(SourceFile(file, str(file), {}) for file in texts), *rest])
        else:
            found.extend(find_files([path]))
    if not found:
        raise BadInputError("nothing to add: the folder holds no file.")
    return found


def _files_or_none(folder: Path) -> list[SourceFile]:
    try:
        return find_files([folder])
    except BadInputError:
        return []


def chunks_of(files: list[SourceFile], report: CorpusReport) -> Iterator[FoundChunk]:
    """Yield the chunks of files, counting what is read; raises BadInputError for a file without any."""
    for file in files:
        before = report.read
        if file.path.suffix.lower() in _TEXT_SUFFIXES:
            yield from _sections(file, report)
        else:
            yield from _records(file, report)
        if report.read == before and not report.rejected and file.path.stat().st_size:
            raise BadInputError(f"{file.name!r} holds no chunks: JSON, CSV, Parquet, Markdown or text is expected.")


def _sections(file: SourceFile, report: CorpusReport) -> Iterator[FoundChunk]:
    written = file.path.read_text(encoding="utf-8-sig", errors="replace")
    doc_id = file.path.stem
    written_at = datetime.fromtimestamp(file.path.stat().st_mtime, UTC)
    for position, body in enumerate(split_by_headings(written)):
        report.read += 1
        yield FoundChunk(f"{doc_id}#{position}", doc_id, position, body, written_at)


def split_by_headings(written: str) -> list[str]:
    """Split Markdown or text into one passage a heading, heading included; headings inside code fences do not count."""
    fences = [match.span() for match in _FENCE.finditer(written)]
    starts = [
        match.start()
        for match in _HEADING.finditer(written)
        if not any(start <= match.start() < end for start, end in fences)
    ]
    edges = [0, *starts, len(written)]
    pieces = (written[a:b].strip() for a, b in pairwise(edges))
    return _without_bare_headings([piece for piece in pieces if piece])


def _without_bare_headings(pieces: list[str]) -> list[str]:
    """Put a heading that has no text of its own before the passage that follows it."""
    joined: list[str] = []
    carried = ""
    for piece in pieces:
        if piece.startswith("#") and "\n" not in piece:
            carried += piece + "\n"
            continue
        joined.append(carried + piece)
        carried = ""
    return [*joined, carried.strip()] if carried else joined


def _records(file: SourceFile, report: CorpusReport) -> Iterator[FoundChunk]:
    seen = probe(file)
    blocks = map(read_part, line_parts(seen)) if seen.container == "lines" else whole_blocks(seen, layers=_layers(seen))
    positions: dict[str, int] = {}
    first_line = 0
    for read in blocks:
        report.read += len(read.rejects)
        for reject in read.rejects:
            _reject(report, file.name, reject.line + first_line, reject.reason)
        for line, value in _spread(read.block.lines, read.block.values):
            report.read += 1
            chunk = _chunk_of(value, positions)
            if isinstance(chunk, str):
                _reject(report, file.name, line + first_line, chunk)
            else:
                yield chunk
        first_line += read.lines


def _spread(lines: list[int], values: list[Any]) -> Iterator[tuple[int, Any]]:
    """Yield records with their lines; what a vector store answers, parallel arrays in one object, is taken apart."""
    for line, value in zip(lines, values, strict=True):
        arrays = [value.get(key) for key in ("ids", "documents", "metadatas")] if isinstance(value, dict) else []
        if len(arrays) < 2 or not isinstance(arrays[0], list) or not isinstance(arrays[1], list):  # noqa: PLR2004
            yield line, value
            continue
        metadata = arrays[2] if isinstance(arrays[2], list) else []
        for row in zip_longest(arrays[0], arrays[1], metadata[: len(arrays[0])]):
            yield line, dict(zip(("id", "text", "metadata"), row, strict=True))


def _layers(seen: Probe) -> Layers:
    return Layers(records=usual_place(seen.sample[0]) if seen.is_one_document and seen.sample else "")


def _reject(report: CorpusReport, file: str, line: int, reason: str) -> None:
    report.rejected += 1
    if len(report.rejects) < _REJECTS_KEPT:
        report.rejects.append(CorpusReject(file=file, line=line, reason=reason))


def _chunk_of(value: Any, positions: dict[str, int]) -> FoundChunk | str:
    if not isinstance(value, dict):
        return f"not an object but {type(value).__name__}"
    body = _first(value, _TEXT_KEYS)
    doc_keys: tuple[str, ...] = _DOC_KEYS
    if body is None:  # as vector stores call a text
        body, doc_keys = _first(value, ("document",)), tuple(key for key in _DOC_KEYS if key != "document")
    if body is None:
        return f"no text: none of {', '.join(_TEXT_KEYS)} is there"
    metadata = value.get("metadata") if isinstance(value.get("metadata"), dict) else {}
    chunk_id = _first(value, _ID_KEYS) or _first(metadata, _ID_KEYS) or chunk_text_hash(body)  # as for logged chunks
    doc_id = _first(value, doc_keys) or _first(metadata, _DOC_KEYS) or chunk_id
    position = _position(value, positions.get(doc_id, 0))
    positions[doc_id] = position + 1
    return FoundChunk(
        canonical_chunk_id(chunk_id), canonical_chunk_id(doc_id), position, body, _written_at(value, metadata)
    )


def _written_at(*values: Any) -> datetime | None:
    for value in values:
        for key in _TIME_KEYS:
            try:
                found = instant(value.get(key))
            except (ValueError, TypeError, OverflowError, ArithmeticError):
                continue
            if found is not None:
                return found.at
    return None


def _first(value: Any, keys: tuple[str, ...]) -> str | None:
    return next((found for key in keys if (found := text(value.get(key))) is not None), None)


def _position(value: dict[str, Any], following: int) -> int:
    given = next((value[key] for key in _POSITION_KEYS if isinstance(value.get(key), int)), None)
    return following if given is None else int(given)

"""Gives a probed file as blocks of records: line files in parts that processes can share, the rest piece by piece."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ingest.adapters.base import Caution, Reject
from ingest.reading.compression import STREAM_FAULTS, open_file
from ingest.reading.digesting import PIECE_BYTES, digests_of_pieces
from ingest.reading.documents import Entry
from ingest.reading.encodings import as_utf8
from ingest.reading.entries import entries_of
from ingest.reading.envelopes import can_stream, records_at
from ingest.reading.parsing import parse_line
from ingest.reading.probing import Probe
from ingest.reading.split_lines import PIECE, end_of_record, joined, spans_of_parts, whole_until
from ingest.reading.unwrapping import RAW_KEPT, Account, Layers, taken_out
from ingest.staging import Block

PART_BYTES = 2 << 20
_PIECE_BYTES = 1 << 19
_ENTRIES_PER_BLOCK = 2000


class LinePart(NamedTuple):
    """A part of a line file: its own bytes, or where they stand in the file."""

    file: str
    path: str
    offset: int
    length: int
    content: bytes | None
    layers: Layers
    has_prefixes: bool
    partitions: dict[str, str]


class ReadBlock(NamedTuple):
    """A block of records and an account of what stood between them."""

    block: Block
    lines: int
    """How many lines of the file the block covers; 0 when line numbers are already those of the file."""
    skips: Counter[str]
    rejects: list[Reject]
    cautions: list[Caution]

    @property
    def read(self) -> int:
        """How many records were read, whatever became of them."""
        return len(self.block.values) + sum(self.skips.values()) + len(self.rejects)

    def account(self, file: str) -> Account:
        """Return where to say what is wrong with the records of `file`."""
        return Account(file, self.skips, self.rejects, self.cautions)


def line_parts(found: Probe, *, layers: Layers | None = None, part_bytes: int = PART_BYTES) -> Iterator[LinePart]:
    """Yield the parts of a line file, in order, each of whole lines.

    `layers` is what is around the records in the values of the file (default: the wrapper that its first records tell).
    """
    base = _base(found, layers)
    if found.is_plain:
        size = found.file.path.stat().st_size
        with found.file.path.open("rb") as stream:
            spans = ((at, part_bytes) for at in range(0, size, part_bytes))
            for at, length in spans_of_parts(stream, size, part_bytes) if found.has_prefixes else spans:
                yield base._replace(offset=at, length=length)
        return
    with open_file(found.file.path).stream as raw:
        for content in _whole_lines(as_utf8(raw, found.encoding), part_bytes, may_split=found.has_prefixes):
            yield base._replace(content=content)


def _base(found: Probe, layers: Layers | None) -> LinePart:
    layers = Layers(unwrap=found.unwrap) if layers is None else layers
    path = str(found.file.path)
    return LinePart(found.file.name, path, 0, 0, None, layers, found.has_prefixes, found.file.partitions)


def _whole_lines(stream: BinaryIO, part_bytes: int, *, may_split: bool) -> Iterator[bytes]:
    pieces: list[bytes] = []
    gathered = 0
    fault = ""
    while True:
        try:
            piece = stream.read1(_PIECE_BYTES)  # type: ignore[attr-defined]
        except STREAM_FAULTS as error:
            piece, fault = b"", str(error)
        if not piece:
            break
        pieces.append(piece)
        gathered += len(piece)
        if gathered >= part_bytes and b"\n" in piece:
            content = b"".join(pieces)
            end = whole_until(content) if may_split else content.rfind(b"\n") + 1
            if end:
                yield content[:end]
            pieces, gathered = [content[end:]], len(content) - end
    yield b"".join(pieces)
    if fault:
        yield CUT_OFF + fault.encode("utf-8", "replace")


CUT_OFF = b"\x00compressed stream damaged: "
"""Marks the part that stands for the unreadable rest of a compressed file."""


def read_part(part: LinePart) -> ReadBlock:
    """Parse the lines of one part; line numbers count from 1 within the part."""
    content = content_of(part)
    out = ReadBlock(Block(part.file, [], [], []), content.count(b"\n"), Counter(), [], [])
    if content.startswith(CUT_OFF):
        out.rejects.append(Reject(part.file, 1, content[1:].decode("utf-8", "replace")))
        return out
    lines = content.split(b"\n")
    if part.has_prefixes:
        lines, pieces = joined(lines)
        out.skips.update({PIECE: pieces} if pieces else {})
    raws: list[bytes | None] = []
    numbers, values, account = out.block.lines, out.block.values, out.account(part.file)
    for number, line in enumerate(lines, 1):
        if not line or line.isspace():
            continue
        parsed = parse_line(line)
        if parsed.fault or parsed.flaw:
            account.note(parsed, number, line, may_be_text=part.has_prefixes)
            if parsed.fault:
                continue
        numbers.append(number)
        values.append(parsed.value)
        raws.append(line)
    block = _looked_through(part, out.block._replace(raws=raws), out)
    return out._replace(block=block)


def line_pieces(part: LinePart, piece_bytes: int = _PIECE_BYTES) -> Iterator[LinePart]:
    """Yield the pieces of a part, in order, each of whole lines and its content at hand."""
    content = content_of(part)
    if content.startswith(CUT_OFF):
        yield part._replace(content=content)
        return
    start = 0
    while start < len(content):
        end = content.find(b"\n", start + piece_bytes) + 1 or len(content)
        end = end_of_record(content, end) if part.has_prefixes else end
        yield part._replace(content=content[start:end])
        start = end


def content_of(part: LinePart) -> bytes:
    """Return the bytes of a part: whole lines, or the mark of a file that breaks off."""
    if part.content is not None:
        return part.content
    with Path(part.path).open("rb") as stream:
        return _lines_from(stream, part, part.offset + len(_before(stream, part)))


def with_content(part: LinePart) -> tuple[LinePart, bytes]:
    """Return a part with its bytes at hand, and the digests of the pieces of the file where it stands.

    There are none for a part that is no range of a file from the beginning of a piece.
    """
    if part.content is not None or part.has_prefixes or part.offset % PIECE_BYTES:
        return part._replace(content=content_of(part)), b""
    with Path(part.path).open("rb") as stream:
        before = _before(stream, part)
        content = _lines_from(stream, part, part.offset + len(before))
    standing = memoryview(before)[: part.length], memoryview(content)[: max(part.length - len(before), 0)]
    return part._replace(content=content), digests_of_pieces(standing)


def _before(stream: BinaryIO, part: LinePart) -> bytes:
    """Return the rest of the line that begins before a part."""
    if not part.offset:
        return b""
    stream.seek(part.offset - 1)
    return stream.readline()[1:]


def _lines_from(stream: BinaryIO, part: LinePart, start: int) -> bytes:
    end = part.offset + part.length
    if start >= end:
        return b""
    stream.seek(end - 1)  # the last line is read to its end; all at once, as adding to many bytes copies them
    stream.readline()
    end = stream.tell()
    stream.seek(start)
    return stream.read(end - start)


def _looked_through(part: LinePart, block: Block, out: ReadBlock) -> Block:
    block = taken_out(part.layers, block, out.account(part.file))
    if part.partitions:
        for value in block.values:
            if isinstance(value, dict):
                for key, name in part.partitions.items():
                    if value.get(key) is None:
                        value.pop(key, None)
                        value[key] = name
    return block


def whole_blocks(found: Probe, *, layers: Layers | None = None) -> Iterator[ReadBlock]:
    """Yield the blocks of a file that is not one record a line; `layers` as for `line_parts`."""
    part = _base(found, layers)
    place = "" if part.layers.outer else part.layers.records
    if place:
        part = part._replace(layers=part.layers._replace(records=""))
    for group in _grouped(_spread_entries(found, place)):
        out = ReadBlock(Block(part.file, [], [], []), 0, Counter(), [], [])
        for entry in group:
            if entry.fault:
                out.rejects.append(Reject(part.file, entry.line, entry.fault, entry.raw[:RAW_KEPT]))
            else:
                out.block.lines.append(entry.line)
                out.block.values.append(entry.value)
            if entry.flaw:
                message = f"{entry.flaw}: the character was replaced, the record is kept"
                out.cautions.append(Caution("mended_text", message, part.file, entry.line))
        block = out.block._replace(raws=[None] * len(out.block.values))
        yield out._replace(block=_looked_through(part, block, out))


def _spread_entries(found: Probe, place: str) -> Iterator[Entry]:
    if found.is_begun and can_stream(place):
        yield from entries_of(found, place)
        return
    if not place:
        yield from entries_of(found)
        return
    for entry in entries_of(found):
        inner = None if entry.fault else records_at(place, entry.value)
        if inner is None:
            yield entry
        else:
            yield from (Entry(entry.line, value) for value in inner)


def _grouped(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    group: list[Entry] = []
    for entry in entries:
        group.append(entry)
        if len(group) >= _ENTRIES_PER_BLOCK:
            yield group
            group = []
    if group:
        yield group

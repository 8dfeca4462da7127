"""Looks at the first bytes of a file and says how its records are laid out; a suffix decides nothing."""

import re
from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

from evalsets.errors import BadInputError
from ingest.reading.compression import FRAMED_ZSTD, PARQUET_MAGIC, STREAM_FAULTS, iter_frames, open_file
from ingest.reading.documents import iter_entries
from ingest.reading.encodings import as_utf8, encoding_of, encoding_of_table
from ingest.reading.envelopes import readings
from ingest.reading.key_values import key_values
from ingest.reading.parsing import begins_json, parse_line
from ingest.reading.sources import SourceFile
from ingest.reading.split_lines import joined
from ingest.reading.tables import delimiter_of, iter_csv, iter_parquet, iter_rows
from ingest.reading.unfinished import begun_document
from ingest.reading.wrappers import Wrapper, wrapper_of

HEAD_BYTES = 1 << 18
WHOLE_BYTES = 48 << 20
"""Up to which size a file that is a single object is read at once."""
_PACKED = 8
"""How many times larger the text of a compressed log may well be."""
_SAMPLE_VALUES = 200
_MOSTLY_PAIRS = 0.6
_STAMPED = re.compile(rb"\W{0,2}\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d")
"""How a line of a log begins, and no line of names above a table."""
_ROWS = re.compile(rb"\s*\[\s*\[\s*[^{\[\s]")


class Probe(NamedTuple):
    """How a file is laid out, and the values of its first records."""

    file: SourceFile
    container: str
    """lines, documents, csv, pairs (of key=value), rows (an array of arrays), parquet, frames (length-framed
    messages), binary (one message), empty or text."""
    sample: list[Any]
    encoding: str = "utf-8"
    is_plain: bool = True
    """Whether the file's own bytes are its UTF-8 text, so that parts of it can be read apart."""
    compression: str = ""
    delimiter: str = ""
    has_prefixes: bool = False
    """Whether lines carry a logging prefix, so that a line without an object is plain log text."""
    wrapper: Wrapper | None = None
    """What the records of the sample are wrapped in, as Docker wraps the lines of a program."""
    is_one_document: bool = False
    """Whether the file is a single object, which may be a record, an envelope or a data frame."""

    is_begun: bool = False
    """Whether the sample holds but the start of that object, closed where the file's first bytes end."""
    is_large: bool = False
    """Whether that object cannot be read at once: it is too large, or broken."""

    @property
    def unwrap(self) -> str:
        """The key that holds the record of a wrapper."""
        return self.wrapper.key if self.wrapper else ""

    @property
    def values(self) -> list[Any]:
        """The values of the first records, taken out of their wrapper."""
        return self.wrapper.values if self.wrapper else self.sample


def probe(file: SourceFile) -> Probe:
    """Say how `file` is laid out; raises BadInputError when it cannot be opened."""
    try:
        opened = open_file(file.path)
        with opened.stream as stream:
            head = _read_head(stream)
    except IsADirectoryError as error:
        raise BadInputError(f"{file.name!r} is a folder where a file was expected.") from error
    except OSError as error:
        raise BadInputError(f"cannot read {file.name!r}: {error.strerror or error}.") from error
    if not head.strip():
        return Probe(file, "empty", [])
    if opened.compression == FRAMED_ZSTD:
        return _frames(file, is_zstd=True)
    if head.startswith(PARQUET_MAGIC):
        return Probe(file, "parquet", _first_values(_parquet_values(file)))
    return _text_or_binary(file, head, is_plain=opened.is_plain, compression=opened.compression)


def _read_head(stream: BinaryIO) -> bytes:
    """Return the first bytes of a stream, as many as can be read when it is damaged."""
    head = b""
    try:
        while len(head) < HEAD_BYTES and (piece := stream.read1(HEAD_BYTES - len(head))):  # type: ignore[attr-defined]
            head += piece
    except STREAM_FAULTS:
        return head or b"\x00damaged"
    return head


def _first_values(values: Iterator[Any]) -> list[Any]:
    return list(islice(values, _SAMPLE_VALUES))


def _parquet_values(file: SourceFile) -> Iterator[Any]:
    import pyarrow as pa

    try:
        for entry in iter_parquet(file.path):
            yield {**file.partitions, **entry.value}
    except (pa.ArrowException, OSError, ValueError):
        return


def _frames(file: SourceFile, *, is_zstd: bool) -> Probe:
    values: list[Any] = []
    try:
        with open_file(file.path).stream as stream:
            for message in islice(iter_frames(stream, is_zstd=is_zstd), 3):
                values.extend(message_values(message))
    except STREAM_FAULTS:
        pass
    compression = FRAMED_ZSTD if is_zstd else ""
    return Probe(file, "frames", values[:_SAMPLE_VALUES], is_plain=False, compression=compression)


def message_values(message: bytes) -> list[Any]:
    """Return the JSON values of a message, or the message itself when it is not JSON."""
    if message[:1] not in (b"{", b"["):
        return [message]
    values = [entry.value for entry in iter_entries(BytesIO(message)) if not entry.fault]
    return values or [message]


def _text_or_binary(file: SourceFile, head: bytes, *, is_plain: bool, compression: str) -> Probe:
    encoding = encoding_of(head)
    if encoding == "binary":
        if is_plain and _is_framed(file):
            return _frames(file, is_zstd=False)
        return Probe(file, "binary", [head], is_plain=is_plain, compression=compression)
    is_whole = len(head) < HEAD_BYTES
    found = _text_layout(file, _as_text(head, encoding), is_whole=is_whole)
    if found.container == "csv" and encoding == "utf-8" and encoding_of_table(head) != encoding:
        encoding = encoding_of_table(head)
        found = _text_layout(file, _as_text(head, encoding), is_whole=is_whole)
    found = found._replace(encoding=encoding, is_plain=is_plain and encoding == "utf-8", compression=compression)
    return _begun(found) if found.is_begun and not found.is_large else found


def _begun(found: Probe) -> Probe:
    """Say whether a document is too large to be read at once; the rows of a frame by columns tell only as a whole."""
    size = found.file.path.stat().st_size * (_PACKED if found.compression else 1)
    if size > WHOLE_BYTES:
        return found._replace(is_large=True)
    if not any(reading.place.endswith("columns>") for value in found.sample for reading in readings(value)):
        return found
    try:
        with open_file(found.file.path).stream as stream:
            values = _first_values(e.value for e in iter_entries(as_utf8(stream, found.encoding)) if not e.fault)
    except STREAM_FAULTS:
        return found
    return found._replace(sample=values, is_one_document=len(values) == 1, is_begun=False)


def _as_text(head: bytes, encoding: str) -> bytes:
    with as_utf8(BytesIO(head), encoding) as stream:
        return stream.read().removeprefix(b"\xef\xbb\xbf")


def _is_framed(file: SourceFile) -> bool:
    size, at = file.path.stat().st_size, 0
    with file.path.open("rb") as stream:
        while at < size:
            stream.seek(at)
            at += 4 + int.from_bytes(stream.read(4), "big")
    return at == size


def _text_layout(file: SourceFile, text: bytes, *, is_whole: bool) -> Probe:
    lines = [line for line in text.split(b"\n") if line.strip()]
    whole_lines = lines if is_whole or len(lines) < 2 else lines[:-1]  # noqa: PLR2004 - the head may cut its last line
    if not whole_lines:
        return Probe(file, "empty", [])
    first = whole_lines[0].strip()
    if begins_json(first):
        return _json_layout(file, text, whole_lines, is_whole=is_whole)
    pairs = [key_values(line.decode("utf-8", "replace")) for line in whole_lines[:_SAMPLE_VALUES] if b"=" in line]
    if sum(map(bool, pairs)) >= min(len(whole_lines), _SAMPLE_VALUES) * _MOSTLY_PAIRS:
        return Probe(file, "pairs", [value for value in pairs if value])
    delimiter = "" if _STAMPED.match(first) else delimiter_of(text.decode("utf-8", "replace"))
    if delimiter:
        rows = iter_csv(BytesIO(text), delimiter)
        values = _first_values(entry.value for entry in rows if not entry.fault)
        if values and not isinstance(parse_line(whole_lines[0]).value, dict):
            return Probe(file, "csv", values, delimiter=delimiter)
    shown = filter(None, joined(whole_lines)[0])  # the first of them may be many lines of text
    values = _first_values(parsed.value for parsed in map(parse_line, shown) if not parsed.fault)
    if values:
        return _looked_into(Probe(file, "lines", values, has_prefixes=True))
    values = _first_values(entry.value for entry in iter_entries(BytesIO(text)) if isinstance(entry.value, dict))
    return Probe(file, "documents" if values else "text", values)


def _json_layout(file: SourceFile, text: bytes, lines: list[bytes], *, is_whole: bool) -> Probe:
    is_object = lines[0].lstrip()[:1] == b"{"
    shown = lines[:_SAMPLE_VALUES]
    objects = [parsed.value for parsed in map(parse_line, shown) if not parsed.fault]
    starts = sum(line.lstrip()[:2] in (b'{"', b"{}", b"{'", b"{ ") for line in shown)
    opens_document = lines[0].rstrip()[-1:] in (b"[", b"{")  # an envelope may hold one record a line
    if is_object and len(lines) > 1 and objects and starts >= len(shown) * 0.5 and not opens_document:
        return _looked_into(Probe(file, "lines", objects))
    if _ROWS.match(text):
        return Probe(file, "rows", _first_values(e.value for e in iter_rows(BytesIO(text)) if not e.fault))
    entries = _first_values(iter_entries(BytesIO(text)))
    values = [entry.value for entry in entries if not entry.fault]
    if is_object and len(values) == 1 and is_whole:
        return _looked_into(Probe(file, "documents", values, is_one_document=True))
    if is_object and entries and entries[0].fault:
        begun = begun_document(text.decode("utf-8", "replace"))
        if not values or any(readings(begun)):
            found = Probe(file, "documents", [begun] if begun else [], is_one_document=True, is_begun=True)
            return _looked_into(found._replace(is_large=is_whole))  # a broken one is read up to there, piece by piece
    if not values and (begun := begun_document(text.decode("utf-8", "replace"))):  # an array whose first value is long
        return _looked_into(Probe(file, "documents", begun if isinstance(begun, list) else [begun]))
    return _looked_into(Probe(file, "documents" if values else "lines", values or objects))


def _looked_into(found: Probe) -> Probe:
    wrapper = wrapper_of(found.sample)
    return found if wrapper is None else found._replace(wrapper=wrapper, has_prefixes=True)

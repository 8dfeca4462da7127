"""Looks at the first bytes of a file and says how its records are laid out; a suffix decides nothing."""

from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

from evalsets.errors import BadInputError
from ingest.reading.compression import FRAMED_ZSTD, PARQUET_MAGIC, STREAM_FAULTS, iter_frames, open_file
from ingest.reading.documents import iter_entries, unfolded
from ingest.reading.encodings import as_utf8, encoding_of
from ingest.reading.parsing import parse_json, parse_line
from ingest.reading.sources import SourceFile
from ingest.reading.tables import delimiter_of, iter_csv, iter_parquet

HEAD_BYTES = 1 << 18
_SAMPLE_VALUES = 40
_WRAPPER_KEYS = ("log", "message", "msg", "textPayload", "MESSAGE", "line")


class Probe(NamedTuple):
    """How a file is laid out, and the values of its first records."""

    file: SourceFile
    container: str
    """lines, documents, csv, parquet, frames (length-framed messages), binary (one message), empty or text."""
    sample: list[Any]
    encoding: str = "utf-8"
    is_plain: bool = True
    """Whether the file's own bytes are its UTF-8 text, so that parts of it can be read apart."""
    compression: str = ""
    delimiter: str = ""
    has_prefixes: bool = False
    """Whether lines carry a logging prefix, so that a line without an object is plain log text."""
    unwrap: str = ""
    """The key whose text holds the record."""
    is_one_document: bool = False
    """Whether the file is a single object, which may be a record, an envelope or a data frame."""


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
    try:
        return stream.read(HEAD_BYTES)
    except STREAM_FAULTS:
        return b"\x00damaged"


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
    with as_utf8(BytesIO(head), encoding) as stream:
        text = stream.read().removeprefix(b"\xef\xbb\xbf")
    found = _text_layout(file, text, is_whole=len(head) < HEAD_BYTES)
    return found._replace(encoding=encoding, is_plain=is_plain and encoding == "utf-8", compression=compression)


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
    if first[:1] in (b"{", b"["):
        return _json_layout(file, text, whole_lines, is_whole=is_whole)
    if delimiter := delimiter_of(text.decode("utf-8", "replace")):
        rows = iter_csv(BytesIO(text), delimiter)
        values = _first_values(entry.value for entry in rows if not entry.fault)
        has_objects = any(b'{"' in line and not line.startswith(b'"') for line in whole_lines[:1])
        if values and not has_objects:
            return Probe(file, "csv", values, delimiter=delimiter)
    values = [parsed.value for parsed in map(parse_line, whole_lines[:200]) if not parsed.fault]
    if values:
        return _unwrapped(Probe(file, "lines", values[:_SAMPLE_VALUES], has_prefixes=True))
    values = _first_values(entry.value for entry in iter_entries(BytesIO(text)) if isinstance(entry.value, dict))
    return Probe(file, "documents" if values else "text", values)


def _json_layout(file: SourceFile, text: bytes, lines: list[bytes], *, is_whole: bool) -> Probe:
    objects = [parsed.value for parsed in map(parse_json, lines[:_SAMPLE_VALUES]) if not parsed.fault]
    starts = sum(line.lstrip()[:2] in (b'{"', b"{}", b"{'", b"{ ") for line in lines[:_SAMPLE_VALUES])
    if lines[0].lstrip()[:1] == b"{" and len(lines) > 1 and objects and starts >= len(lines[:_SAMPLE_VALUES]) * 0.5:
        return _unwrapped(Probe(file, "lines", objects))
    values = _first_values(entry.value for entry in iter_entries(BytesIO(text)) if not entry.fault)
    if len(values) == 1 and is_whole and lines[0].lstrip()[:1] == b"{":
        return _unwrapped(Probe(file, "documents", values, is_one_document=True))
    if not values and len(lines) == 1 and not is_whole:
        return Probe(file, "documents", [], is_one_document=True)
    return _unwrapped(Probe(file, "documents" if values else "lines", values))


def _unwrapped(found: Probe) -> Probe:
    """Look through a wrapper such as Docker's, whose `log` holds the record as text."""
    objects = [value for value in found.sample if isinstance(value, dict)]
    for key in _WRAPPER_KEYS:
        inner = [value[key] for value in objects if isinstance(value.get(key), str)]
        parsed = [parse_line(text.encode("utf-8", "replace")) for text in inner]
        values = [entry.value for entry in parsed if isinstance(entry.value, dict)]
        if values and len(inner) >= len(objects) * 0.8 and len(values) >= max(1, len(inner) * 0.3):
            return found._replace(sample=values, unwrap=key, has_prefixes=True)
    return found


def records_of_document(value: Any) -> list[Any]:
    """Return the records a single document holds: its rows when it is a data frame or an envelope, else itself."""
    return unfolded(value) or [value]

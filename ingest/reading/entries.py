"""Gives the values of a file that is not one record a line, whatever its container."""

import re
from collections.abc import Iterator
from typing import BinaryIO

from ingest.reading.compression import FRAMED_ZSTD, STREAM_FAULTS, iter_frames, open_file
from ingest.reading.documents import Entry, iter_entries
from ingest.reading.encodings import as_utf8
from ingest.reading.envelopes import streamed
from ingest.reading.key_values import iter_pairs
from ingest.reading.parsing import parse_line
from ingest.reading.probing import Probe, message_values
from ingest.reading.tables import iter_csv, iter_parquet, iter_rows
from ingest.reading.unwrapping import RAW_KEPT


def entries_of(found: Probe, place: str = "") -> Iterator[Entry]:
    """Yield the values of a file; `place` is that of the records in a document too large to be read at once."""
    if found.container == "empty":
        return
    if found.container == "parquet":
        yield from _parquet_entries(found)
        return
    last = 0
    try:
        with open_file(found.file.path).stream as raw:
            for entry in _stream_entries(found, raw, place):
                last = entry.line
                yield entry
    except STREAM_FAULTS as error:
        yield Entry(last + 1, fault=f"the file cannot be read on: {error}")


def _stream_entries(found: Probe, raw: BinaryIO, place: str) -> Iterator[Entry]:
    if place:
        yield from streamed(place, as_utf8(raw, found.encoding))
    elif found.container == "frames":
        for number, message in enumerate(iter_frames(raw, is_zstd=found.compression == FRAMED_ZSTD), 1):
            yield from (Entry(number, value) for value in message_values(message))
    elif found.container == "binary":
        yield Entry(1, raw.read())
    elif found.container == "csv":
        yield from iter_csv(as_utf8(raw, found.encoding), found.delimiter)
    elif found.container == "pairs":
        yield from iter_pairs(as_utf8(raw, found.encoding))
    elif found.container == "rows":
        yield from iter_rows(as_utf8(raw, found.encoding))
    elif found.container == "text":
        yield from _text_entries(as_utf8(raw, found.encoding))
    else:
        yield from iter_entries(as_utf8(raw, found.encoding))


def _text_entries(stream: BinaryIO) -> Iterator[Entry]:
    """Yield the lines of a file in which nothing looked like a record, each told of by itself."""
    for number, line in enumerate(stream, 1):
        if line.strip():
            parsed = parse_line(line)
            yield Entry(number, parsed.value, parsed.fault, line[:RAW_KEPT].decode("utf-8", "replace"))


def _parquet_entries(found: Probe) -> Iterator[Entry]:
    import pyarrow as pa

    try:
        yield from iter_parquet(found.file.path)
    except (pa.ArrowException, OSError, ValueError) as error:
        yield Entry(1, fault=f"not readable as Parquet: {re.sub(r'[^ -~]', '?', str(error))[:200]}")

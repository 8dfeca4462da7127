"""Opens a file as the stream of what it holds; gzip, zstd and framed zstd are told by their first bytes."""

import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import zstandard

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
PARQUET_MAGIC = b"PAR1"
FRAMED_ZSTD = "framed zstd"
_LARGEST_FRAME = 1 << 28
STREAM_FAULTS = (EOFError, OSError, zlib.error, zstandard.ZstdError)
"""What reading a damaged compressed stream raises."""


class OpenFile(NamedTuple):
    """A stream of uncompressed bytes; `is_plain` says that its offsets are those of the file itself."""

    stream: BinaryIO
    compression: str
    is_plain: bool


def open_file(path: Path) -> OpenFile:
    """Open a file and undo its compression."""
    raw = cast("BinaryIO", path.open("rb"))
    head = raw.read(8)
    raw.seek(0)
    if head.startswith(GZIP_MAGIC):
        return OpenFile(cast("BinaryIO", gzip.GzipFile(fileobj=raw)), "gzip", is_plain=False)
    if head.startswith(ZSTD_MAGIC):
        reader = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
        return OpenFile(cast("BinaryIO", io.BufferedReader(reader, 1 << 18)), "zstd", is_plain=False)
    if head[4:8] == ZSTD_MAGIC:
        return OpenFile(raw, FRAMED_ZSTD, is_plain=False)
    return OpenFile(raw, "", is_plain=True)


def iter_frames(stream: BinaryIO, *, is_zstd: bool) -> Iterator[bytes]:
    """Yield the messages of a length-framed file: 4 bytes big-endian length, then that many bytes each.

    Raises EOFError when the last message is cut short, and zstandard.ZstdError when one cannot be unpacked.
    """
    while length_bytes := stream.read(4):
        length = int.from_bytes(length_bytes, "big")
        message = stream.read(length) if length <= _LARGEST_FRAME else b""
        if len(message) < length or len(length_bytes) < 4:  # noqa: PLR2004 - bytes of a length
            raise EOFError(f"a message of {length} bytes is cut off after {len(message)}")
        yield unpacked(message) if is_zstd else message


def unpacked(message: bytes) -> bytes:
    """Return one zstd message unpacked, of at most 256 MB."""
    reader = zstandard.ZstdDecompressor().stream_reader(message, read_across_frames=True)
    return reader.read(_LARGEST_FRAME)

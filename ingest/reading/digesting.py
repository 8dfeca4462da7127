"""Digests of files, put together from those of their pieces, which may be taken wherever the pieces are read."""

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import xxhash

PIECE_BYTES = 1 << 20
_READ_AT_ONCE = 1 << 18
_DIGEST_BYTES = 16


def digests_of_pieces(contents: Iterable[bytes | memoryview]) -> bytes:
    """Return the XXH3 hashes, of 128 bits, of each piece of bytes that stand one behind the other."""
    digests = bytearray()
    piece, room = xxhash.xxh3_128(), PIECE_BYTES
    for content in contents:
        at = 0
        while at < len(content):
            taken = memoryview(content)[at : at + room]
            piece.update(taken)
            at, room = at + len(taken), room - len(taken)
            if not room:
                digests += piece.digest()
                piece, room = xxhash.xxh3_128(), PIECE_BYTES
    return bytes(digests if room == PIECE_BYTES else digests + piece.digest())


def digest_of_all(digests: bytes, size: int) -> str | None:
    """Return the digest of `size` bytes from those of their pieces; None when these are not all there."""
    is_whole = len(digests) == -(-size // PIECE_BYTES) * _DIGEST_BYTES
    return xxhash.xxh3_128_hexdigest(digests) if is_whole else None


def file_digest(path: Path) -> str:
    """Return the digest of a file's bytes, of 128 bits: it tells files apart that nobody made alike on purpose."""
    return xxhash.xxh3_128_hexdigest(digests_of_pieces(_contents(path)))


@contextmanager
def digest_beside(path: Path) -> Iterator[Future[str]]:
    """Digest the bytes of a file on a thread while it is read; hashing does not hold up the interpreter."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(file_digest, path)


def _contents(path: Path) -> Iterator[memoryview]:
    buffer = memoryview(bytearray(_READ_AT_ONCE))
    with path.open("rb", buffering=0) as stream:
        while size := stream.readinto(buffer):
            yield buffer[:size]

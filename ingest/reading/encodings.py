"""Gives any text file as UTF-8 bytes: UTF-16 is told by its byte-order mark or its zero bytes."""

import codecs
import io
import re
from typing import BinaryIO, cast

_SAMPLE = 400
_ZERO_SHARE = 0.3
_NOT_ASCII = re.compile(rb"[\x80-\xff]+")
_UTF8_PAIR = re.compile(rb"[\xc2-\xf4][\x80-\xbf]")
_WINDOWS_SIGNS = bytes([0x80, 0x82, 0x84, 0x85, *range(0x91, 0x98), 0xA3, 0xA7, 0xAB, 0xB0, 0xBB]).decode("cp1252")
"""Money, quotes, dashes, degrees."""


def encoding_of(head: bytes) -> str:
    """Return `utf-8`, `utf-16-le`, `utf-16-be`, a UTF-32, or `binary` for what is no text."""
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32-le" if head.startswith(codecs.BOM_UTF32_LE) else "utf-32-be"
    if head.startswith(codecs.BOM_UTF16_LE):
        return "utf-16-le"
    if head.startswith(codecs.BOM_UTF16_BE):
        return "utf-16-be"
    sample = head[:_SAMPLE]
    if b"\x00" in sample:
        return _by_zero_bytes(sample)
    controls = sum(byte < 32 and byte not in (9, 10, 12, 13, 27) for byte in sample)  # noqa: PLR2004 - ASCII controls
    return "binary" if controls > len(sample) * 0.02 else "utf-8"


def _by_zero_bytes(sample: bytes) -> str:
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if odd > len(sample) // 2 * _ZERO_SHARE and even <= odd // 8:
        return "utf-16-le"
    if even > len(sample) // 2 * _ZERO_SHARE and odd <= even // 8:
        return "utf-16-be"
    return "binary"


def encoding_of_table(head: bytes) -> str:
    """Return `cp1252` for a table as spreadsheets save it on Windows: its only non-ASCII bytes are letters there."""
    if not (foreign := _NOT_ASCII.findall(head)) or _UTF8_PAIR.search(head):
        return "utf-8"
    signs = b"".join(foreign).decode("cp1252", "replace")
    letters = sum(sign.isalpha() or sign in _WINDOWS_SIGNS for sign in signs)
    return "cp1252" if letters >= len(signs) * 0.9 else "utf-8"


def as_utf8(stream: BinaryIO, encoding: str) -> BinaryIO:
    """Return the stream re-encoded as UTF-8, without a byte-order mark; what cannot be decoded is replaced."""
    if encoding == "utf-8":
        return stream
    return cast("BinaryIO", io.BufferedReader(_Recoded(stream, encoding), 1 << 18))


class _Recoded(io.RawIOBase):
    def __init__(self, stream: BinaryIO, encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._ready = b""
        self._is_first = True

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        while not self._ready:
            piece = self._stream.read(1 << 18)
            written = self._decoder.decode(piece, final=not piece)
            if self._is_first and written:
                written, self._is_first = written.removeprefix("\ufeff"), False
            self._ready = written.encode("utf-8", "replace")
            if not piece:
                break
        taken = self._ready[: len(buffer)]
        self._ready = self._ready[len(taken) :]
        buffer[: len(taken)] = taken
        return len(taken)

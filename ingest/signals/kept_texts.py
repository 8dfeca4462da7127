"""Bytes as texts, to be kept with what mining remembers between runs."""

import base64
import zlib
from hashlib import sha256

_DIGEST = 16


def kept_text(content: bytes, made_of: str) -> str:
    """Return bytes as a text of letters and marks, led by a digest of it and of what they were `made_of`."""
    text = base64.b64encode(zlib.compress(content, 1)).decode()
    return _digest(text, made_of) + text


def bytes_of_kept(text: str, made_of: str) -> bytes | None:
    """Return the bytes; None where they were made of something else, or the text is not as it was written."""
    digest, held = text[:_DIGEST], text[_DIGEST:]
    return zlib.decompress(base64.b64decode(held)) if digest == _digest(held, made_of) else None


def _digest(text: str, made_of: str) -> str:
    return sha256(f"{text}\0{made_of}".encode()).hexdigest()[:_DIGEST]

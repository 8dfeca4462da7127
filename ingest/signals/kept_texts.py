"""Bytes as texts, to be kept with what mining remembers between runs."""

import base64
import zlib
from hashlib import sha256

_DIGEST = 16


def kept_text(content: bytes) -> str:
    """Return bytes as a text of letters and marks, led by a digest of what it holds."""
    text = base64.b64encode(zlib.compress(content, 1)).decode()
    return _digest(text) + text


def bytes_of_kept(text: str) -> bytes | None:
    """Return the bytes; None where the text is not as it was written."""
    digest, held = text[:_DIGEST], text[_DIGEST:]
    return zlib.decompress(base64.b64decode(held)) if digest == _digest(held) else None


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:_DIGEST]

"""Corpus chunks and the text hash by which a changed or moved chunk is recognised."""

import hashlib
import unicodedata
from typing import NamedTuple


class Chunk(NamedTuple):
    """One passage of the corpus, or one retrieved passage when `score` is given."""

    chunk_id: str
    text: str
    doc_id: str = ""
    score: float | None = None


def canonical_chunk_id(raw: object) -> str:
    """Return an id as it is compared everywhere: a string, stripped, in Unicode form NFC."""
    text = str(raw)
    return (text if text.isascii() else unicodedata.normalize("NFC", text)).strip()


def chunk_text_hash(text: str) -> str:
    """Return `sha256:` and the hex digest of the NFC text with white space collapsed to single spaces."""
    normalised = " ".join(unicodedata.normalize("NFC", text).split())
    return "sha256:" + hashlib.sha256(normalised.encode("utf-8", "surrogatepass")).hexdigest()

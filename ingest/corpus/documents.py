"""What of a chunk is indexed and how its words are cut, in tantivy's terms."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from evalsets.chunks import canonical_chunk_id

_CJK = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af])")
_WRITER_BYTES = 256_000_000


class CorpusHit(NamedTuple):
    """A chunk of the corpus; `score` is its BM25 score, 0 when it was not searched for."""

    chunk_id: str
    doc_id: str
    position: int
    text: str
    score: float = 0.0


class PlacedChunk(NamedTuple):
    """A chunk and its place in its document."""

    chunk_id: str
    doc_id: str
    position: int
    text: str


def write_chunks(index: Any, chunks: Iterable[PlacedChunk], *, replace: bool = False) -> int:
    """Write chunks, in place of those with the same ids if `replace`; return how many."""
    index.register_tokenizer("folded", analyser())
    writer = index.writer(heap_size=_WRITER_BYTES)
    written = 0
    for chunk in chunks:
        if replace:
            writer.delete_documents_by_term("chunk_id", canonical_chunk_id(chunk.chunk_id))
        writer.add_document(_document(chunk))
        written += 1
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return written


def _document(chunk: PlacedChunk) -> Any:
    import tantivy

    text = chunk.text.encode("utf-8", "replace")
    document = tantivy.Document()
    document.add_text("chunk_id", canonical_chunk_id(chunk.chunk_id))
    document.add_text("doc_id", chunk.doc_id)
    document.add_unsigned("position", chunk.position)
    document.add_bytes("text", text)
    document.add_text("words", _spread(text.decode("utf-8")))
    return document


def hit_of(stored: dict[str, list[Any]], score: float) -> CorpusHit:
    """Make a hit of a stored document."""
    return CorpusHit(
        stored["chunk_id"][0],
        stored["doc_id"][0],
        int(stored["position"][0]),
        bytes(stored["text"][0]).decode("utf-8"),
        float(score),
    )


def term_of(field: str, value: str) -> Any:
    """Return the query for one exact value of a field."""
    import tantivy

    return tantivy.Query.term_query(schema(), field, value, index_option="basic")


def analysed(text: str) -> list[str]:
    """Return the terms of a text as they stand in the index."""
    terms: list[str] = analyser().analyze(_spread(text.encode("utf-8", "replace").decode("utf-8")))
    return terms


def _spread(text: str) -> str:
    """Set every CJK character apart: those scripts write no spaces, and a whole clause would become one word."""
    return _CJK.sub(r" \1 ", unicodedata.normalize("NFC", text))


@cache
def analyser() -> Any:
    """Return what cuts, folds and stems words."""
    import tantivy

    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    builder = builder.filter(tantivy.Filter.remove_long(60)).filter(tantivy.Filter.lowercase())
    return builder.filter(tantivy.Filter.ascii_fold()).filter(tantivy.Filter.stemmer("english")).build()


@cache
def schema() -> Any:
    """Return the fields of a chunk in the index."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("chunk_id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("doc_id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("position", stored=True, indexed=True, fast=True)
    builder.add_bytes_field("text", stored=True)  # bytes: kept for reading, never tokenised as one giant term
    builder.add_text_field("words", stored=False, tokenizer_name="folded", index_option="freq")
    return builder.build()

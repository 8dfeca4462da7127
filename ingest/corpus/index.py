"""The search index of the corpus: a throw-away tantivy cache beside the chunk store, rebuilt whenever they differ."""

import shutil
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from evalsets.chunks import Chunk, canonical_chunk_id
from ingest.corpus.documents import CorpusHit, PlacedChunk, analysed, analyser, hit_of, schema, term_of, write_chunks
from ingest.log_store import LogStore

_POINTER = "CURRENT"
_LAYOUT = "1"
"""Raised when what is indexed changes, so that an older cache is built anew."""
_MAX_QUERY_TERMS = 64
_NEIGHBOURS_SHOWN = 200


class CorpusIndex:
    """Search the corpus in `folder`. Any number of readers; a build swaps a whole new index in."""

    def __init__(self, folder: Path) -> None:
        """Open nothing yet; the index is opened, and opened anew after a build, when it is first asked."""
        self.folder = folder
        self._opened: tuple[str, Any] | None = None

    @property
    def version(self) -> str:
        """The corpus version the index was built from; empty when there is no index."""
        return self._pointer()[1]

    def refresh(self, chunks: Iterable[Chunk], *, version: str = "") -> int:
        """Build the index anew from all chunks of the corpus, in document order; return how many there are."""
        return self.build(_placed(chunks), version=version)

    def build(self, chunks: Iterable[PlacedChunk], *, version: str = "") -> int:
        """Build a new index from all chunks and swap it in; readers never see a half-built one."""
        import tantivy

        name = f"index-{uuid.uuid4().hex[:12]}"
        (self.folder / name).mkdir(parents=True)
        index = tantivy.Index(schema(), path=str(self.folder / name))
        written = write_chunks(index, chunks)
        self._swap_in(name, version)
        return written

    def update(self, chunks: Iterable[PlacedChunk], *, version: str) -> int:
        """Put chunks in place of those with the same ids, keeping the rest; return how many were written."""
        name, _ = self._pointer()
        index = self._open()
        if index is None:
            return self.build(chunks, version=version)
        written = write_chunks(index, chunks, replace=True)
        self._point_at(name, version)
        return written

    def search(self, query: str, limit: int = 10, doc_id: str | None = None) -> list[CorpusHit]:
        """Return the best chunks for the words of `query` by BM25, best first, of one document if one is given.

        Words count however they are accented, cased or (in English) inflected. Characters have no special meaning.
        """
        import tantivy

        index = self._open()
        terms = analysed(query)[:_MAX_QUERY_TERMS]
        if index is None or not terms:
            return []
        wanted = tantivy.Query.boolean_query(
            [
                (tantivy.Occur.Should, tantivy.Query.term_query(schema(), "words", term, index_option="freq"))
                for term in dict.fromkeys(terms)
            ]
        )
        if doc_id is not None:
            only = tantivy.Query.const_score_query(term_of("doc_id", doc_id), 0.0)
            wanted = tantivy.Query.boolean_query([(tantivy.Occur.Must, wanted), (tantivy.Occur.Must, only)])
        return self._hits(index, wanted, limit)

    def get(self, chunk_id: str) -> CorpusHit | None:
        """Return the chunk of this id, or None."""
        index = self._open()
        found = self._hits(index, term_of("chunk_id", canonical_chunk_id(chunk_id)), 1) if index is not None else []
        return found[0]._replace(score=0.0) if found else None

    def neighbours(self, chunk_id: str, reach: int = 2) -> list[CorpusHit]:
        """Return this chunk and those up to `reach` places before and after it in its document, in order."""
        import tantivy

        index, chunk = self._open(), self.get(chunk_id)
        if index is None or chunk is None:
            return []
        near = tantivy.Query.range_query(
            schema(), "position", tantivy.FieldType.Unsigned, max(0, chunk.position - reach), chunk.position + reach
        )
        both = tantivy.Query.boolean_query(
            [(tantivy.Occur.Must, term_of("doc_id", chunk.doc_id)), (tantivy.Occur.Must, near)]
        )
        found = self._hits(index, both, _NEIGHBOURS_SHOWN)
        return sorted((hit._replace(score=0.0) for hit in found), key=lambda hit: (hit.position, hit.chunk_id))

    def document(self, doc_id: str, limit: int = 1000) -> list[CorpusHit]:
        """Return the chunks of a document in order, at most `limit`."""
        index = self._open()
        found = self._hits(index, term_of("doc_id", doc_id), limit) if index is not None else []
        return sorted((hit._replace(score=0.0) for hit in found), key=lambda hit: (hit.position, hit.chunk_id))

    def count(self) -> int:
        """Return the number of chunks in the index."""
        index = self._open()
        return int(index.searcher().num_docs) if index is not None else 0

    def _hits(self, index: Any, query: Any, limit: int) -> list[CorpusHit]:
        searcher = index.searcher()
        found = searcher.search(query, limit=limit, count=False).hits
        return [hit_of(searcher.doc(address).to_dict(), score) for score, address in found]

    def _open(self) -> Any:
        import tantivy

        name, version = self._pointer()
        if not name:
            return None
        if self._opened is None or self._opened[0] != name + version:
            index = tantivy.Index.open(str(self.folder / name))
            index.register_tokenizer("folded", analyser())
            self._opened = (name + version, index)
        return self._opened[1]

    def _pointer(self) -> tuple[str, str]:
        try:
            layout, name, version = (self.folder / _POINTER).read_text(encoding="utf-8").split("\n")
        except (FileNotFoundError, ValueError):
            return "", ""
        is_usable = layout == _LAYOUT and (self.folder / name / "meta.json").is_file()
        return (name, version) if is_usable else ("", "")

    def _point_at(self, name: str, version: str) -> None:
        fresh = self.folder / f"{_POINTER}-{uuid.uuid4().hex[:8]}"
        fresh.write_text(f"{_LAYOUT}\n{name}\n{version}", encoding="utf-8")
        fresh.replace(self.folder / _POINTER)

    def _swap_in(self, name: str, version: str) -> None:
        before = self._pointer()[0]
        self._point_at(name, version)
        if before and before != name:
            shutil.rmtree(self.folder / before, ignore_errors=True)


def keep_current(index: CorpusIndex, store: LogStore) -> int:
    """Bring the index up to the chunk store; return how many chunks were written, 0 when nothing had changed.

    Chunks that were added or changed are written alone; only when some are gone is the index built anew.
    """
    state = _corpus_state(store)
    if index.version == state.version:
        return 0
    count_before, latest_before = _parse_version(index.version)
    fresh = _count_since(store, latest_before)
    if count_before and fresh <= max(1000, state.chunks // 4):
        written = index.update(_stored_chunks(store, since=latest_before), version=state.version)
        if index.count() == state.chunks:
            return written
    return index.build(_stored_chunks(store), version=state.version)


class _CorpusState(NamedTuple):
    chunks: int
    latest: str

    @property
    def version(self) -> str:
        return f"{self.chunks} {self.latest}"


def _parse_version(version: str) -> tuple[int, str]:
    count, _, latest = version.partition(" ")
    return (int(count), latest) if count.isdigit() and latest else (0, "")


def _corpus_state(store: LogStore) -> _CorpusState:
    query = "SELECT count(*), coalesce(CAST(max(epoch_us(added_at)) AS VARCHAR), '0') FROM corpus_chunks"
    with store.unit() as connection:
        return _CorpusState(*connection.execute(query).fetchall()[0])


def _count_since(store: LogStore, latest: str) -> int:
    query = "SELECT count(*) FROM corpus_chunks WHERE epoch_us(added_at) > ?"
    with store.unit() as connection:
        return int(connection.execute(query, [int(latest or 0)]).fetchall()[0][0])


def _stored_chunks(store: LogStore, *, since: str = "-1") -> Iterator[PlacedChunk]:
    query = """
        SELECT chunk_id, doc_id, position, text FROM corpus_chunks
        WHERE epoch_us(added_at) > ? AND chunk_id > ? ORDER BY chunk_id LIMIT 50000
    """
    after = ""
    while True:
        with store.unit() as connection:
            rows = connection.execute(query, [int(since or -1), after]).fetchall()
        yield from (PlacedChunk(*row) for row in rows)
        if not rows:
            return
        after = rows[-1][0]


def _placed(chunks: Iterable[Chunk]) -> Iterator[PlacedChunk]:
    places: Counter[str] = Counter()
    for chunk in chunks:
        yield PlacedChunk(chunk.chunk_id, chunk.doc_id, places[chunk.doc_id], chunk.text)
        places[chunk.doc_id] += 1

"""Where known passages stand in a corpus that was cut anew: which chunks hold stretches of each passage."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from evalsets.chunks import Chunk

if TYPE_CHECKING:
    import numpy as np

    Integers = np.ndarray[Any, np.dtype[np.int64]]
    Hashes = np.ndarray[Any, np.dtype[np.uint64]]

SHINGLE_WORDS = 4
_LOOKED_FOR_WHOLE = 2 * SHINGLE_WORDS
"""A passage of fewer words is looked for whole too: cut in mid-word it may share no shingle."""
_BATCH_CHUNKS = 2000
_MOST_PASSAGES_A_SHINGLE = 200
"""A shingle that more passages hold is boilerplate and tells nothing."""
_FILTER_BITS = 22
_KEPT_A_PASSAGE = 24
"""Chunks kept for one passage, those with the most shingles in common."""
_SAME_DOCUMENT_BONUS = 1000
"""Chunks of the passage's own document come first, however common its words are elsewhere."""
_UNSPACED = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])")


class Passage(NamedTuple):
    """A text to look for, and the document it was in."""

    text: str
    doc_id: str = ""


class Match(NamedTuple):
    """A chunk that shares shingles with a passage; `place` is its place in the corpus by document."""

    chunk: Chunk
    place: int
    shared: int


class MatchedCorpus(NamedTuple):
    """For each passage by key the chunks that hold some of it, most first, and the corpus in order of document."""

    matches: Mapping[str, list[Match]]
    corpus: Sequence[Chunk]

    def chunk_at(self, place: int) -> Chunk | None:
        """Return the chunk at a place of the corpus; None beyond its ends."""
        return self.corpus[place] if 0 <= place < len(self.corpus) else None


def one_spaced(text: str) -> str:
    """Return the text as its hash sees it: Unicode form NFC, white space collapsed."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def passage_words(text: str) -> list[str]:
    """Return the words of a text in lower case; one a character where no spaces are written."""
    folded = unicodedata.normalize("NFC", text).lower()
    return (folded if folded.isascii() else _UNSPACED.sub(r" \1 ", folded)).split()


def covered_places(wanted: Sequence[str], chunk_text: str) -> frozenset[int]:
    """Return the places of the words of `wanted` that stand in the chunk within a shared run of a shingle's length."""
    size = min(SHINGLE_WORDS, len(wanted))
    words = passage_words(chunk_text)
    there = {tuple(words[place : place + size]) for place in range(len(words) - size + 1)}
    starts = [place for place in range(len(wanted) - size + 1) if tuple(wanted[place : place + size]) in there]
    return frozenset(place + offset for place in starts for offset in range(size))


def match_passages(passages: Mapping[str, Passage], corpus: Sequence[Chunk]) -> MatchedCorpus:
    """Find the chunks that share shingles of four words with each passage (by key), in one pass over the corpus.

    A passage of a few words is looked for whole.
    """
    ordered = _by_document(corpus)
    words = {key: passage_words(passage.text) for key, passage in passages.items()}
    long = [key for key, found in words.items() if len(found) >= SHINGLE_WORDS]
    short = {key: one_spaced(passages[key].text) for key, found in words.items() if 0 < len(found) < _LOOKED_FOR_WHOLE}
    matches: dict[str, list[Match]] = {key: [] for key in passages}
    index = _ShingleIndex([words[key] for key in long])
    pairs = _best_pairs(index, [passages[key] for key in long], ordered) if long else ()
    for owner, place, shared in pairs:
        matches[long[owner]].append(Match(ordered[place], place, shared))
    for key, place in _short_hits(short, ordered):
        if all(match.place != place for match in matches[key]):
            matches[key].append(Match(ordered[place], place, 1))
    for found in matches.values():
        found.sort(key=lambda match: (-match.shared, match.place))
    return MatchedCorpus(matches, ordered)


def _by_document(corpus: Sequence[Chunk]) -> list[Chunk]:
    by_document: dict[str, list[Chunk]] = defaultdict(list)
    for chunk in corpus:
        by_document[chunk.doc_id].append(chunk)
    return [chunk for chunks in by_document.values() for chunk in chunks]


def _short_hits(short: Mapping[str, str], corpus: Sequence[Chunk]) -> Iterator[tuple[str, int]]:
    if not short:
        return
    for place, chunk in enumerate(corpus):
        text = one_spaced(chunk.text)
        yield from ((key, place) for key, wanted in short.items() if wanted in text)


def _best_pairs(
    index: "_ShingleIndex", passages: Sequence[Passage], corpus: Sequence[Chunk]
) -> Iterator[tuple[int, int, int]]:
    """Yield passage, place in the corpus and number of shared shingles of the pairs that share the most."""
    import numpy as np

    documents = {doc_id: number for number, doc_id in enumerate(dict.fromkeys(chunk.doc_id for chunk in corpus))}
    of_chunk = np.array([documents[chunk.doc_id] for chunk in corpus], dtype=np.int64)
    of_passage = np.array([documents.get(passage.doc_id, -1) for passage in passages], dtype=np.int64)
    best = np.empty((0, 3), dtype=np.int64)
    for start in range(0, len(corpus), _BATCH_CHUNKS):
        found = index.count(corpus[start : start + _BATCH_CHUNKS], len(corpus), start)
        best = np.concatenate([best, found])
        bonus = _SAME_DOCUMENT_BONUS * (of_passage[best[:, 0]] == of_chunk[best[:, 1]])
        best = best[_first_of_each(best[:, 0], best[:, 2] + bonus)]
    yield from ((int(owner), int(place), int(shared)) for owner, place, shared in best)


def _first_of_each(owners: "Integers", scores: "Integers") -> "Integers":
    """Return the rows that are among the best `_KEPT_A_PASSAGE` of their owner."""
    import numpy as np

    order = np.lexsort((-scores, owners))
    sorted_owners = owners[order]
    starts = np.searchsorted(sorted_owners, sorted_owners, side="left")
    return order[np.arange(len(order)) - starts < _KEPT_A_PASSAGE]


class _ShingleIndex:
    """The shingles of all passages, sorted by hash, so that a batch of chunks is looked up in one go."""

    def __init__(self, passages: Sequence[Sequence[str]]) -> None:
        import numpy as np

        none = np.empty(0, dtype=np.int64)
        hashes = [_shingle_hashes(words) for words in passages]
        owners = [np.full(len(each), number, dtype=np.int64) for number, each in enumerate(hashes)]
        joined = np.concatenate([none.view(np.uint64), *hashes])
        order = np.argsort(joined, kind="stable")
        self._owners = np.concatenate([none, *owners])[order]
        self._hashes, self._first, self._many = np.unique(joined[order], return_index=True, return_counts=True)
        # Most shingles of a corpus stand in no passage; a look at one bit spares them the binary search.
        self._may_be_there = np.zeros(1 << _FILTER_BITS, dtype=np.bool_)
        self._may_be_there[self._hashes >> np.uint64(64 - _FILTER_BITS)] = True

    def count(self, batch: Sequence[Chunk], corpus_size: int, start: int) -> "Integers":
        """Return rows of passage, place in the corpus and number of shared shingles."""
        import numpy as np

        hashes, chunks = _batch_shingles(batch)
        likely = self._may_be_there[hashes >> np.uint64(64 - _FILTER_BITS)]
        hashes, chunks = hashes[likely], chunks[likely]
        found = np.searchsorted(self._hashes, hashes)
        found[found == len(self._hashes)] = 0
        hit = (self._hashes[found] == hashes) & (self._many[found] <= _MOST_PASSAGES_A_SHINGLE)
        low, many, chunks = self._first[found[hit]], self._many[found[hit]], chunks[hit]
        # The entries low, low + 1, … low + many - 1 of every hit, laid end to end.
        within = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        owners = self._owners[np.repeat(low, many) + within]
        pairs, shared = np.unique(owners * corpus_size + start + np.repeat(chunks, many), return_counts=True)
        return np.stack([pairs // corpus_size, pairs % corpus_size, shared], axis=1)


def _batch_shingles(batch: Sequence[Chunk]) -> "tuple[Hashes, Integers]":
    """Return the shingles of each chunk and the place of that chunk in the batch."""
    import numpy as np

    listed = [passage_words(chunk.text) for chunk in batch]
    chunk_of_word = np.repeat(np.arange(len(batch)), [len(words) for words in listed])
    hashes = _shingle_hashes([word for words in listed for word in words])
    starts, ends = chunk_of_word[: len(hashes)], chunk_of_word[SHINGLE_WORDS - 1 :]
    inside = starts == ends[: len(hashes)]
    return hashes[inside], starts[inside]


def _shingle_hashes(words: Sequence[str]) -> "Hashes":
    import numpy as np

    if len(words) < SHINGLE_WORDS:
        return np.empty(0, dtype=np.uint64)
    # Python's own hash of a string is fast and, within one process, the same for the same word.
    numbers = np.fromiter(map(hash, words), dtype=np.int64, count=len(words)).view(np.uint64)
    count = len(words) - SHINGLE_WORDS + 1
    mixed = np.zeros(count, dtype=np.uint64)
    for offset in range(SHINGLE_WORDS):
        mixed = mixed * np.uint64(0x9E3779B97F4A7C15) + numbers[offset : offset + count]
    return mixed

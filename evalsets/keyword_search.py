"""BM25 over a corpus in memory: pure Python, deterministic, the search of the built-in pipeline."""

import heapq
import math
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from evalsets.chunks import Chunk
from evalsets.words import tokens


class _Posting(NamedTuple):
    document: int
    weight: float


def search_terms(text: str) -> list[str]:
    """Return the terms a text is found by: its folded tokens without the plural s of English."""
    return [_stem(token) for token in tokens(text)]


def _stem(word: str) -> str:
    """Strip the plural of English words: one rule, so that `refunds` finds `refund`."""
    shortest_with_plural = 4
    if len(word) >= shortest_with_plural and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


class KeywordIndex:
    """An inverted index with BM25 weights (Robertson and Zaragoza 2009; k1 = 1.2, b = 0.75) worked out in advance."""

    def __init__(self, chunks: Iterable[Chunk], *, k1: float = 1.2, b: float = 0.75) -> None:
        self.chunks = tuple(chunks)
        counts = [Counter(search_terms(chunk.text)) for chunk in self.chunks]
        lengths = [count.total() for count in counts]
        mean_length = sum(lengths) / len(lengths) if sum(lengths) else 1.0
        frequency = Counter(term for count in counts for term in count)
        self._postings: dict[str, list[_Posting]] = {term: [] for term in frequency}
        for document, count in enumerate(counts):
            norm = k1 * (1 - b + b * lengths[document] / mean_length)
            for term, times in count.items():
                weight = self._idf(frequency[term]) * times * (k1 + 1) / (times + norm)
                self._postings[term].append(_Posting(document, weight))

    def _idf(self, document_frequency: int) -> float:
        return math.log(1 + (len(self.chunks) - document_frequency + 0.5) / (document_frequency + 0.5))

    def search(self, query: str, k: int) -> list[Chunk]:
        """Return at most `k` chunks with a term of the query, best first, scores rounded; ties keep corpus order."""
        scores: dict[int, float] = {}
        for term in dict.fromkeys(search_terms(query)):
            for document, weight in self._postings.get(term, ()):
                scores[document] = scores.get(document, 0.0) + weight
        best = heapq.nsmallest(k, scores.items(), key=lambda entry: (-entry[1], entry[0]))
        return [self.chunks[document]._replace(score=round(score, 6)) for document, score in best]

"""The help desk's own search, imitated: word overlap with rare words counting more, and a hit or miss on request."""

import math
import random
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from .handbook import HandbookChunk

_WORD = re.compile(r"\w+")
TOP_K = 4


class Hit(NamedTuple):
    """A retrieved chunk and its similarity in [0, 1]."""

    chunk: HandbookChunk
    similarity: float


class SimulatedSearch:
    """Ranks handbook chunks for a question; deterministic for one random generator."""

    def __init__(self, chunks: Sequence[HandbookChunk], rng: random.Random) -> None:
        self._rng = rng
        self._chunks = {chunk.chunk_id: chunk for chunk in chunks}
        self._words = {chunk.chunk_id: _words(f"{chunk.title} {chunk.heading} {chunk.text}") for chunk in chunks}
        seen_in = Counter(word for words in self._words.values() for word in words)
        self._weight = {word: math.log(1 + len(chunks) / count) for word, count in seen_in.items()}

    def retrieve(self, text: str, *, gold: Sequence[str], finds_gold: bool, near: Sequence[str] = ()) -> list[Hit]:
        """Return the top chunks for `text`, with the gold chunks among them or kept out, in rank order."""
        ranked = [chunk_id for chunk_id in self._ranked(text) if chunk_id not in gold and chunk_id not in near]
        wanted = [*(gold if finds_gold else ()), *near]
        top = ranked[: max(1, TOP_K - len(wanted))]
        for chunk_id in wanted:
            top.insert(self._rng.choice((0, 0, 0, 1, 1, 2)), chunk_id)
        return [
            Hit(self._chunks[chunk_id], similarity)
            for chunk_id, similarity in zip(top, self._falling(len(top)), strict=True)
        ]

    def _ranked(self, text: str) -> list[str]:
        asked = _words(text)
        scores = {
            chunk_id: sum(self._weight.get(word, 0.0) for word in asked & words) / math.sqrt(len(words))
            + self._rng.random() * 0.02
            for chunk_id, words in self._words.items()
        }
        return sorted(scores, key=lambda chunk_id: -scores[chunk_id])

    def _falling(self, count: int) -> list[float]:
        top = self._rng.uniform(0.48, 0.86)
        steps = [self._rng.uniform(0.01, 0.11) for _ in range(count)]
        return [round(top - sum(steps[:place]), 3) for place in range(count)]


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.lower()) if len(word) > 2}  # noqa: PLR2004 - articles and the like

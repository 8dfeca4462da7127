"""How like a question is to those a system is known to serve: by letter trigrams, or by sentence embeddings."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import log, sqrt

import numpy as np

from evalsets.embedding import load_embedder
from ingest.signals.pair_features import Numbers, folded_question

_SIZES = (3, 4)


def scope_likeness(questions: Sequence[str], known: Sequence[str], *, embeddings: str = "") -> Numbers:
    """Return for each question its highest cosine with a known one, in [0, 1]; a low one hints at out of scope."""
    if not questions or not known:
        return np.zeros(len(questions))
    if embeddings:
        model = load_embedder(embeddings)
        return np.asarray((model.embed(questions) @ model.embed(known).T).max(axis=1), dtype=np.float64)
    return _by_letters([_grams(text) for text in questions], [_grams(text) for text in known])


def _by_letters(questions: Sequence[Counter[str]], known: Sequence[Counter[str]]) -> Numbers:
    """Compare by TF-IDF over letter n-grams within words, through an inverted index of the known ones."""
    found_in = Counter(gram for grams in known for gram in grams)
    weight = {gram: 1 + log((1 + len(known)) / (1 + count)) for gram, count in found_in.items()}
    index: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for place, grams in enumerate(known):
        for gram, value in _at_length_one(grams, weight).items():
            index[gram].append((place, value))
    postings = {gram: (np.array([p for p, _ in row]), np.array([v for _, v in row])) for gram, row in index.items()}
    highest = np.zeros(len(questions))
    for number, grams in enumerate(questions):
        scores = np.zeros(len(known))
        for gram, value in _at_length_one(grams, weight).items():
            if gram in postings:
                places, values = postings[gram]
                scores[places] += value * values
        highest[number] = scores.max()
    return highest


def _grams(text: str) -> Counter[str]:
    words = [f" {word} " for word in folded_question(text).split()]
    return Counter(word[i : i + n] for word in words for n in _SIZES for i in range(len(word) - n + 1))


def _at_length_one(grams: Counter[str], weight: dict[str, float]) -> dict[str, float]:
    rarest = max(weight.values(), default=1.0)
    values = {gram: (1 + log(count)) * weight.get(gram, rarest) for gram, count in grams.items()}
    length = sqrt(sum(value * value for value in values.values())) or 1.0
    return {gram: value / length for gram, value in values.items()}

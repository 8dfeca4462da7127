"""Measure how well likeness to known questions tells what is out of scope; its rows go into docs/quality.md."""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from math import log, sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evalsets.embedding import MINILM, has_minilm, load_embedder
from ingest.signals.pair_features import Numbers, folded_question

PREFIX = "out_of_scope_"
_SIZES = (3, 4)
"""How many letters are taken together."""


class ScopeRow(NamedTuple):
    """The AUROC of one measure of likeness on one file."""

    method: str
    file: str
    questions: int
    auroc: float


def measure_out_of_scope(folder: Path) -> list[ScopeRow]:
    """Return a row for each file whose name begins with `out_of_scope_` and each measure."""
    methods = {"letter n-grams, TF-IDF": ""} | ({"sentence embeddings": MINILM} if has_minilm() else {})
    return [
        _measured(path, method, model)
        for path in sorted(folder.glob(f"{PREFIX}*.jsonl"))
        for method, model in methods.items()
    ]


def _measured(path: Path, method: str, model: str) -> ScopeRow:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    known = [row["text"] for row in rows if row["part"] == "reference"]
    asked = [row for row in rows if row["part"] != "reference"]
    likeness = scope_likeness([row["text"] for row in asked], known, embeddings=model)
    return ScopeRow(method, path.name, len(asked), auroc(1 - likeness, np.array([row["label"] for row in asked])))


def auroc(scores: Numbers, labels: Numbers) -> float:
    """Return the chance that a positive scores above a negative, ties by half (Mann-Whitney)."""
    order = np.argsort(scores, kind="stable")
    ranks = np.empty(len(scores))
    values, starts, counts = np.unique(scores[order], return_index=True, return_counts=True)
    for start, count in zip(starts, counts, strict=True):
        ranks[order[start : start + count]] = start + (count + 1) / 2
    positive = labels.astype(bool)
    hits, others = int(positive.sum()), int((~positive).sum())
    return float((ranks[positive].sum() - hits * (hits + 1) / 2) / max(1, hits * others)) if len(values) else 0.0


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

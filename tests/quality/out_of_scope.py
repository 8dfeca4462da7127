"""Measure how well likeness to known questions tells what is out of scope; its rows go into docs/quality.md."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evalsets.embedding import MINILM, has_minilm
from ingest.mining.scope import scope_likeness
from ingest.signals.pair_features import Numbers

PREFIX = "out_of_scope_"


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

"""Measure the groundedness proxies on every faithfulness file of a folder; its rows go into docs/quality.md."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evalsets.grounding import Similarity, meaning_support, phrase_support, share_supported, token_precision

PREFIX = "faith_"
_DATA_SETS = ("mtrag_human", "expertqa_claims", "begin_wow")

Scorer = Callable[[str, Sequence[str]], float | None]

THRESHOLDS: dict[str, dict[str, float]] = {
    "60% rule": {"mtrag_human": 0.66, "expertqa_claims": 1.0, "begin_wow": 1.0},
    "token precision": {"mtrag_human": 0.648, "expertqa_claims": 0.535, "begin_wow": 0.73},
    "tokens and pairs": {"mtrag_human": 0.563, "expertqa_claims": 0.375, "begin_wow": 0.625},
    "with embeddings": {"mtrag_human": 0.626, "expertqa_claims": 0.432, "begin_wow": 0.652},
}
"""The score from which an answer is called faithful, chosen on the development half of each set by `best_threshold`."""


NOTES = """Balanced accuracy at a threshold chosen on the development half of each set; thresholds do not transfer.

- Tried: the 60% rule, token precision with and without stemming, precision of word pairs, the least and the mean share
  of a sentence, numbers missing from the text, MiniLM similarity of sentences and of the whole answer to the closest
  passage, and their products and means. Words and word pairs together are at least as good as words alone on all
  three sets; adding similarity to the closest passage helps where answers paraphrase (expertqa, mtrag) and costs a
  point where they copy (begin).
- The product of token precision and sentence similarity does no better than the mean, at an embedding a sentence.
- None of them sees a negation or a wrong name: they are labelled proxies, and a gate refuses them unless allowed.
"""
"""What was tried and where the limit lies, for docs/quality.md."""


class FaithfulnessRow(NamedTuple):
    """How one proxy does on one file. `spearman` is with the mean human rating, where there is one."""

    method: str
    data_set: str
    file: str
    answers: int
    threshold: float
    balanced_accuracy: float
    spearman: float | None


def measure_faithfulness(folder: Path, similarity: Similarity | None = None) -> list[FaithfulnessRow]:
    """Return a row for each file whose name begins with `faith_` and each proxy; embeddings only when handed over."""
    scorers = _scorers(similarity)
    return [
        _measured(path, method, scorer)
        for path in sorted(folder.glob(f"{PREFIX}*.jsonl"))
        for method, scorer in scorers.items()
    ]


def best_threshold(labels: Sequence[bool], scores: Sequence[float]) -> float:
    """Return the lowest score from which calling an answer faithful gives the best balanced accuracy."""
    return max(sorted(set(scores)), key=lambda threshold: balanced_accuracy(labels, scores, threshold))


def balanced_accuracy(labels: Sequence[bool], scores: Sequence[float], threshold: float) -> float:
    """Return the mean of the shares of faithful answers found and of unfaithful ones left out."""
    found = [score >= threshold for label, score in zip(labels, scores, strict=True) if label]
    wrong = [score >= threshold for label, score in zip(labels, scores, strict=True) if not label]
    return (sum(found) / max(1, len(found)) + 1 - sum(wrong) / max(1, len(wrong))) / 2


def _scorers(similarity: Similarity | None) -> dict[str, Scorer]:
    scorers: dict[str, Scorer] = {
        "60% rule": share_supported,
        "token precision": token_precision,
        "tokens and pairs": phrase_support,
    }
    if similarity is not None:
        scorers["with embeddings"] = lambda answer, texts: meaning_support(answer, texts, similarity)
    return scorers


def _measured(path: Path, method: str, scorer: Scorer) -> FaithfulnessRow:
    rows = list(_rows(path))
    labels = [bool(row["label"]) for row in rows]
    scores = [scorer(row["answer"], row["contexts"]) or 0.0 for row in rows]
    data_set = _data_set(path)
    threshold = THRESHOLDS[method].get(data_set) or best_threshold(labels, scores)
    return FaithfulnessRow(
        method=method,
        data_set=data_set,
        file=path.name,
        answers=len(rows),
        threshold=threshold,
        balanced_accuracy=balanced_accuracy(labels, scores, threshold),
        spearman=_spearman(rows, scores),
    )


def _spearman(rows: Sequence[dict[str, Any]], scores: Sequence[float]) -> float | None:
    if not all("faithfulness" in row for row in rows):
        return None
    from scipy.stats import spearmanr

    ratings = [sum(row["faithfulness"]) / len(row["faithfulness"]) for row in rows]
    return float(spearmanr(ratings, scores).statistic)


def _data_set(path: Path) -> str:
    stem = path.stem.removeprefix(PREFIX)
    return next((name for name in _DATA_SETS if stem.startswith(name)), stem)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip())

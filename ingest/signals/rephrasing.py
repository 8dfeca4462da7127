"""Whether one question asks the same as the one before it, and in which of four ways, for whole columns at once."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from math import log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz
from rapidfuzz.process import cpdist

from evalsets.embedding import load_embedder
from ingest.signals.cues import CORRECTION, DOUBT, expression
from ingest.signals.pair_features import (
    LEXICAL_FEATURES,
    MEANING_FEATURES,
    RETRY_MARKS,
    RETRY_OPENING,
    Numbers,
    cores_for,
    folded_question,
    lexical_features,
    may_share_content,
    with_meaning,
)

_CORRECTED = re.compile(expression((*CORRECTION, *DOUBT)))
_NO_MARKS = str.maketrans(dict.fromkeys(RETRY_MARKS, " "))
LONGEST = 400
"""Letters of a question that are compared: pasted documents are no questions, and would be slow."""
HOPELESS, MAY_BE_SAME, NEARLY_ALL = 42.0, 70.0, 90.0
"""rapidfuzz token_set_ratio below which, and (the last) from which, the weights would only confirm what it says: on the
development data 2% of the rephrases they find lie below, and they call 99% of the pairs above."""
CORRECTED_SCORE = 0.8


KINDS = ("restated", "reworded", "corrected", "repeated")
KindNumbers = npt.NDArray[np.int8]


class Verdict(NamedTuple):
    """How the later question takes up the earlier one; `score` in [0, 1]."""

    kind: str
    """restated, reworded, corrected or repeated."""
    score: float


class Head(NamedTuple):
    """A logistic model of one kind of rephrase: weights by feature, and from which probability it is believed."""

    intercept: float
    weights: Mapping[str, float]
    threshold: float

    def stricter_threshold(self, strictness: float) -> float:
        """Return the threshold with its odds multiplied."""
        odds = strictness * self.threshold / (1 - self.threshold)
        return odds / (1 + odds)

    def least_logit(self, strictness: float) -> float:
        """Return what intercept and weighted features must come to."""
        threshold = self.stricter_threshold(strictness)
        return log(threshold / (1 - threshold))

    def probabilities(self, features: Numbers, names: Iterable[str]) -> Numbers:
        """Return the probability of each row, columns named by `names`."""
        logits = self.intercept + features @ np.array([self.weights[name] for name in names])
        return np.asarray(1 / (1 + np.exp(-logits)), dtype=np.float64)


class RephraseModel(NamedTuple):
    """Restated and reworded, told apart: the former keeps the words, the latter the need."""

    restated: Head
    reworded: Head


@cache
def rephrase_model(*, with_embeddings: bool = False) -> RephraseModel:
    """Read the weights that `tests/quality/fit_rephrase.py` fitted."""
    text = (files("ingest.signals") / "rephrase_weights.json").read_text(encoding="utf-8")
    kinds = json.loads(text)["embeddings" if with_embeddings else "lexical"]
    return RephraseModel(**{kind: Head(**kinds[kind]) for kind in RephraseModel._fields})


def rephrase_verdicts(
    earlier: Sequence[str | None],
    later: Sequence[str | None],
    *,
    embeddings: str = "",
    strictness: float = 1.0,
) -> list[Verdict | None]:
    """Judge each pair of questions; None where the later one is no rephrase or a question is missing.

    `embeddings` names a sentence model and adds meaning to words. `strictness` multiplies the odds at which a pair is
    believed: above 1 fewer rephrases are called, below 1 more.
    """
    first = [folded_question((text or "")[:LONGEST]) for text in earlier]
    second = [folded_question((text or "")[:LONGEST]) for text in later]
    corrected = [a != b and bool(a) and _CORRECTED.search(b) is not None for a, b in zip(first, second, strict=True)]
    alike = similarity_verdicts(
        [None if is_corrected else text for text, is_corrected in zip(first, corrected, strict=True)],
        second,
        embeddings=embeddings,
        strictness=strictness,
    )
    return [
        Verdict("corrected", CORRECTED_SCORE) if is_corrected else verdict
        for is_corrected, verdict in zip(corrected, alike, strict=True)
    ]


def similarity_verdicts(
    first: Sequence[str | None], second: Sequence[str | None], *, embeddings: str = "", strictness: float = 1.0
) -> list[Verdict | None]:
    """Judge pairs of folded questions by what they have in common, cues aside; None for what is no rephrase.

    Pairs with hardly a word, or no content word, in common are none; pairs with nearly all words in common are
    restated; what lies between is weighed. `rephrase_columns` does the same for pairs by the million.
    """
    verdicts: list[Verdict | None] = [None] * len(first)
    places = [
        place
        for place, (a, b) in enumerate(zip(first, second, strict=True))
        if a and b and (embeddings or may_share_content(a[:LONGEST], b[:LONGEST]))
    ]
    judged = judge(
        [(first[place] or "")[:LONGEST] for place in places],
        [(second[place] or "")[:LONGEST] for place in places],
        embeddings=embeddings,
        strictness=strictness,
    )
    for place, verdict in zip(places, judged, strict=True):
        verdicts[place] = verdict
    return verdicts


def judge(
    earlier: Sequence[str], later: Sequence[str], *, embeddings: str = "", strictness: float = 1.0
) -> list[Verdict | None]:
    """Judge pairs of folded questions that may share content."""
    if not earlier:
        return []
    alike = np.asarray(
        cpdist(earlier, later, scorer=fuzz.token_set_ratio, workers=cores_for(len(earlier))), dtype=np.float64
    )
    kinds, scores = plain_likeness(earlier, later, alike)
    is_open = kinds < 0 if embeddings else (kinds < 0) & (alike >= HOPELESS)
    open_at = np.flatnonzero(is_open)
    if open_at.size:
        features, names = _measured([earlier[int(i)] for i in open_at], [later[int(i)] for i in open_at], embeddings)
        model = rephrase_model(with_embeddings=bool(embeddings))
        kinds[open_at], scores[open_at] = weigh(features, names, model, strictness)
    return [
        Verdict(KINDS[kind], float(score)) if kind >= 0 else None for kind, score in zip(kinds, scores, strict=True)
    ]


def plain_likeness(earlier: Sequence[str], later: Sequence[str], word_sets: Numbers) -> tuple[KindNumbers, Numbers]:
    """Tell what is repeated, or restated with nearly all words in common; -1 for what has to be weighed.

    `word_sets` is rapidfuzz token_set_ratio, 0 to 100. Kinds are places in KINDS.
    """
    kinds, scores = np.full(len(word_sets), -1, dtype=np.int8), np.zeros(len(word_sets))
    nearly_all = np.flatnonzero(word_sets >= NEARLY_ALL)
    kinds[nearly_all] = KINDS.index("restated")
    scores[nearly_all] = _rounded(word_sets[nearly_all] / 100)
    for index in map(int, np.flatnonzero(word_sets >= MAY_BE_SAME)):
        if is_repeated(earlier[index], later[index]):
            kinds[index], scores[index] = KINDS.index("repeated"), 1.0
    return kinds, scores


def is_repeated(earlier: str, later: str) -> bool:
    """Tell whether two questions are the same but for marks and an opening; only asked of what has words in common."""
    return earlier == later or _bare(earlier) == _bare(later)


def weigh(
    features: Numbers, names: Iterable[str], model: RephraseModel, strictness: float
) -> tuple[KindNumbers, Numbers]:
    """Weigh what was measured, columns named by `names`; -1 where neither head believes in a rephrase."""
    restated, reworded = (_margin(head, features, names, strictness) for head in model)
    margins = np.maximum(restated, reworded)
    scores = np.zeros(len(margins))
    scores[margins >= 0] = _rounded(0.5 + margins[margins >= 0] / 2)
    kinds = np.where(restated >= reworded, KINDS.index("restated"), KINDS.index("reworded"))
    return np.where(margins >= 0, kinds, -1).astype(np.int8), scores


def _rounded(scores: Numbers) -> Numbers:
    """Round to three places as Python does, which looks closely where a score lies between two."""
    thousands = scores * 1000
    rounded = np.rint(thousands) / 1000
    for place in np.flatnonzero(np.abs(np.abs(thousands % 1) - 0.5) < _BETWEEN):
        rounded[place] = round(float(scores[place]), 3)
    return np.asarray(rounded, dtype=np.float64)


_BETWEEN = 1e-6


def _measured(earlier: Sequence[str], later: Sequence[str], embeddings: str) -> tuple[Numbers, tuple[str, ...]]:
    features, names = lexical_features(earlier, later), tuple(LEXICAL_FEATURES)
    if not embeddings:
        return features, names
    return with_meaning(features, cosines(earlier, later, embeddings)), (*names, *MEANING_FEATURES)


def _bare(question: str) -> str:
    """Drop what a retry may add: marks, and an opening such as `hm`, `hello` or `again:`."""
    return " ".join(RETRY_OPENING.sub("", question).translate(_NO_MARKS).split())


def _margin(head: Head, features: Numbers, names: Iterable[str], strictness: float) -> Numbers:
    """Return how far each probability lies above the threshold, as a share of the way to 1; negative below it."""
    threshold = head.stricter_threshold(strictness)
    return np.asarray((head.probabilities(features, names) - threshold) / (1 - threshold), dtype=np.float64)


def cosines(earlier: Sequence[str], later: Sequence[str], model: str) -> Numbers:
    """Return the cosine of the sentence embeddings of each pair; each distinct text is embedded once."""
    texts = sorted({*earlier, *later})
    vectors = load_embedder(model).embed(texts)
    place = {text: number for number, text in enumerate(texts)}
    a, b = vectors[[place[text] for text in earlier]], vectors[[place[text] for text in later]]
    return np.asarray((a * b).sum(axis=1), dtype=np.float64)

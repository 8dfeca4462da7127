"""Whether one question asks the same as the one before it, and in which of four ways, for whole columns at once."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from rapidfuzz import fuzz
from rapidfuzz.process import cpdist

from ingest.signals.cues import CORRECTION, DOUBT, expression
from ingest.signals.embedding import load_embedder
from ingest.signals.pair_features import (
    LEXICAL_FEATURES,
    MEANING_FEATURES,
    Numbers,
    folded_question,
    lexical_features,
    with_meaning,
)

_CORRECTED = re.compile(expression((*CORRECTION, *DOUBT)))
_OPENING = re.compile(r"^(?:hm+|hi|hello|hey|again|please|sorry|ok|okay|well|so)\b[ ,.:;!?-]*")
_NO_MARKS = str.maketrans(dict.fromkeys("?!.,;:\"'()-", " "))
_LONGEST = 400
"""Letters of a question that are compared: pasted documents are no questions, and would be slow."""
_HOPELESS = 40.0
"""rapidfuzz token_set_ratio below which no pair of the development data was called restated or reworded."""


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

    def probabilities(self, features: Numbers, names: Sequence[str]) -> Numbers:
        """Return the probability of each row, columns named by `names`."""
        logits = self.intercept + features @ np.array([self.weights.get(name, 0.0) for name in names])
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
    verdicts: list[Verdict | None] = [None] * len(earlier)
    undecided: list[int] = []
    first = [folded_question((text or "")[:_LONGEST]) for text in earlier]
    second = [folded_question((text or "")[:_LONGEST]) for text in later]
    for place, (a, b) in enumerate(zip(first, second, strict=True)):
        if not a or not b:
            continue
        if a == b or _bare(a) == _bare(b) != "":
            verdicts[place] = Verdict("repeated", 1.0)
        elif _CORRECTED.search(b):
            verdicts[place] = Verdict("corrected", 0.8)
        else:
            undecided.append(place)
    for place, verdict in _by_similarity(first, second, undecided, embeddings, strictness):
        verdicts[place] = verdict
    return verdicts


def _bare(question: str) -> str:
    """Drop what a retry may add: marks, and an opening such as `hm`, `hello` or `again:`."""
    return " ".join(_OPENING.sub("", question).translate(_NO_MARKS).split())


def _by_similarity(
    first: Sequence[str], second: Sequence[str], places: Sequence[int], embeddings: str, strictness: float
) -> list[tuple[int, Verdict]]:
    kept = list(places) if embeddings else _worth_a_look(first, second, places)
    if not kept:
        return []
    model = rephrase_model(with_embeddings=bool(embeddings))
    earlier, later = [first[place] for place in kept], [second[place] for place in kept]
    features, names = lexical_features(earlier, later), list(LEXICAL_FEATURES)
    if embeddings:
        features = with_meaning(features, cosines(earlier, later, embeddings))
        names += MEANING_FEATURES
    sure = [_margin(head, features, names, strictness) for head in model]
    verdicts = []
    for place, restated, reworded in zip(kept, *sure, strict=True):
        kind, margin = ("restated", restated) if restated >= reworded else ("reworded", reworded)
        if margin >= 0:
            verdicts.append((place, Verdict(kind, round(0.5 + margin / 2, 3))))
    return verdicts


def _worth_a_look(first: Sequence[str], second: Sequence[str], places: Sequence[int]) -> list[int]:
    """Leave out pairs with too little in common for either kind; most of a log goes here, at little cost."""
    alike = cpdist(
        [first[place] for place in places],
        [second[place] for place in places],
        scorer=fuzz.token_set_ratio,
        score_cutoff=_HOPELESS,
        workers=-1,
    )
    return [place for place, score in zip(places, alike, strict=True) if score > 0]


def _margin(head: Head, features: Numbers, names: Sequence[str], strictness: float) -> Numbers:
    """Return how far each probability lies above the threshold, as a share of the way to 1; negative below it."""
    odds = strictness * head.threshold / (1 - head.threshold)
    threshold = odds / (1 + odds)
    return np.asarray((head.probabilities(features, names) - threshold) / (1 - threshold), dtype=np.float64)


def cosines(earlier: Sequence[str], later: Sequence[str], model: str) -> Numbers:
    """Return the cosine of the sentence embeddings of each pair; each distinct text is embedded once."""
    texts = sorted({*earlier, *later})
    vectors = load_embedder(model).embed(texts)
    place = {text: number for number, text in enumerate(texts)}
    a, b = vectors[[place[text] for text in earlier]], vectors[[place[text] for text in later]]
    return np.asarray((a * b).sum(axis=1), dtype=np.float64)

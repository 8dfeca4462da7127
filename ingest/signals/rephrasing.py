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

from evalsets.embedding import load_embedder
from ingest.signals.cues import CORRECTION, DOUBT, expression
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
_HOPELESS, _MAY_BE_SAME, _NEARLY_ALL = 42.0, 70.0, 90.0
"""rapidfuzz token_set_ratio below which, and (the last) from which, the weights would only confirm what it says: on the
development data 2% of the rephrases they find lie below, and they call 99% of the pairs above."""
CORRECTED_SCORE = 0.8


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
    first = [folded_question((text or "")[:_LONGEST]) for text in earlier]
    second = [folded_question((text or "")[:_LONGEST]) for text in later]
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

    Three steps, each cheaper than what it saves: pairs with hardly a word in common are none, pairs with nearly all
    words in common are restated, and what lies between is weighed.
    """
    verdicts: list[Verdict | None] = [None] * len(first)
    places = [place for place, (a, b) in enumerate(zip(first, second, strict=True)) if a and b]
    earlier = [(first[place] or "")[:_LONGEST] for place in places]
    later = [(second[place] or "")[:_LONGEST] for place in places]
    alike = np.asarray(cpdist(earlier, later, scorer=fuzz.token_set_ratio, workers=-1)) if places else np.zeros(0)
    is_open = np.full(len(places), fill_value=True) if embeddings else alike >= _HOPELESS
    for index in np.flatnonzero(alike >= _MAY_BE_SAME):
        if _bare(earlier[index]) == _bare(later[index]):
            verdicts[places[index]] = Verdict("repeated", 1.0)
        elif alike[index] >= _NEARLY_ALL:
            verdicts[places[index]] = Verdict("restated", round(float(alike[index]) / 100, 3))
        is_open[index] = verdicts[places[index]] is None
    open_at = np.flatnonzero(is_open)
    if open_at.size:
        weighed = _weighed([earlier[i] for i in open_at], [later[i] for i in open_at], embeddings, strictness)
        for index, verdict in zip(open_at, weighed, strict=True):
            verdicts[places[index]] = verdict
    return verdicts


def _weighed(earlier: Sequence[str], later: Sequence[str], embeddings: str, strictness: float) -> list[Verdict | None]:
    model = rephrase_model(with_embeddings=bool(embeddings))
    features, names = lexical_features(earlier, later), list(LEXICAL_FEATURES)
    if embeddings:
        features = with_meaning(features, cosines(earlier, later, embeddings))
        names += MEANING_FEATURES
    restated, reworded = (_margin(head, features, names, strictness) for head in model)
    kinds = np.where(restated >= reworded, "restated", "reworded")
    margins = np.maximum(restated, reworded)
    return [
        Verdict(str(kind), round(0.5 + float(margin) / 2, 3)) if margin >= 0 else None
        for kind, margin in zip(kinds, margins, strict=True)
    ]


def _bare(question: str) -> str:
    """Drop what a retry may add: marks, and an opening such as `hm`, `hello` or `again:`."""
    return " ".join(_OPENING.sub("", question).translate(_NO_MARKS).split())


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

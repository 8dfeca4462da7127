"""What is measured on two consecutive questions to tell a rephrase from a follow-up."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cpdist

from ingest.signals.cues import FOLLOWING_ON, expression

Numbers = npt.NDArray[np.float64]

LEXICAL_FEATURES: Mapping[str, str] = {
    "sorted_words_alike": "rapidfuzz token_sort_ratio of the questions, 0 to 1",
    "letters_alike": "rapidfuzz ratio, 0 to 1",
    "part_alike": "rapidfuzz partial_ratio, 0 to 1",
    "shared_content": "content words in both over content words in either",
    "earlier_kept": "share of the earlier words, pronouns aside, that stand in the later question",
    "smaller_kept": "content words in both over those of the question with fewer",
    "earlier_content_kept": "share of the earlier content words that stand in the later question",
    "later_content_old": "share of the later content words that stood in the earlier question",
    "order_kept": "longest run of common words in order over the earlier words, pronouns aside",
    "trigrams_shared": "letter trigrams in both over those in either",
    "trigrams_kept": "letter trigrams in both over those of the question with fewer",
    "same_question_word": "1 when both ask with the same word: what, how many, is, can …",
    "later_points_back": "1 when the later question has a pronoun to be resolved",
    "later_length": "words of the later question over 10, at most 3",
    "length_growth": "log of the later over the earlier number of words",
    "earlier_content": "content words of the earlier question over 8, at most 1",
    "follows_on": "1 when the later question goes on: what about, another, also, thanks …",
}
MEANING_FEATURES: Mapping[str, str] = {
    "meaning_alike": "cosine of the sentence embeddings",
    "meaning_beyond_words": "that cosine times the share of earlier content words that are gone",
}

_POINTING_TEXT = """
it its they them their theirs this that these those he him his she her hers there then one ones here such
"""
_FUNCTION_TEXT = """
a an the of in on at to for from by with and or but is are was were be been do does did have has had can could will
would
should may might what which who whom whose when where why how i you we me my your our us if so about as not no yes any
some than too also just please tell know okay ok oh well thanks thank hi hello want need like get am i'm it's what's
don't
doesn't
"""
_POINTING = frozenset(_POINTING_TEXT.split())
_FUNCTION = _POINTING | frozenset(_FUNCTION_TEXT.split())
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_ASKING = re.compile(
    r"\b(?:how (?:many|much|long)|what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|can|could"
    r"|will|would|should)\b"
)
_FOLLOWING_ON = re.compile(expression(FOLLOWING_ON))
_SUFFIXES = {"ings": "", "ing": "", "ies": "y", "ied": "y", "edly": "", "ed": "", "es": "", "ly": "", "'s": "", "s": ""}
_SHORTEST_STEM = 3


class _Question(NamedTuple):
    stems: tuple[str, ...]
    without_pointing: frozenset[str]
    content: frozenset[str]
    trigrams: frozenset[str]
    points: bool
    asks_with: str


def folded_question(text: str) -> str:
    """Return a question as it is compared: lower case, straight quotes, single spaces."""
    return " ".join(text.replace("\u2019", "'").lower().split())


def lexical_features(earlier: Sequence[str], later: Sequence[str]) -> Numbers:
    """Measure pairs of folded questions; one row a pair, the columns in the order of LEXICAL_FEATURES."""
    alike = [
        np.asarray(cpdist(earlier, later, scorer=scorer, workers=-1), dtype=np.float64) / 100
        for scorer in (fuzz.token_sort_ratio, fuzz.ratio, fuzz.partial_ratio)
    ]
    counted = np.array([_counted(_read(a), _read(b), b) for a, b in zip(earlier, later, strict=True)], dtype=np.float64)
    return np.column_stack([*alike, counted.reshape(len(earlier), len(LEXICAL_FEATURES) - len(alike))])


def with_meaning(lexical: Numbers, cosines: Numbers) -> Numbers:
    """Add the columns of MEANING_FEATURES, given the cosine of each pair."""
    gone = 1 - lexical[:, list(LEXICAL_FEATURES).index("earlier_content_kept")]
    return np.column_stack([lexical, cosines, cosines * gone])


def _counted(a: _Question, b: _Question, later: str) -> tuple[float, ...]:
    both = len(a.content & b.content)
    common = LCSseq.similarity(a.stems, b.stems)
    trigrams = len(a.trigrams & b.trigrams)
    return (
        both / max(1, len(a.content | b.content)),
        len(a.without_pointing.intersection(b.stems)) / max(1, len(a.without_pointing)),
        both / max(1, min(len(a.content), len(b.content))),
        both / max(1, len(a.content)),
        both / max(1, len(b.content)),
        min(1.0, common / max(1, sum(stem not in _POINTING for stem in a.stems))),
        trigrams / max(1, len(a.trigrams | b.trigrams)),
        trigrams / max(1, min(len(a.trigrams), len(b.trigrams))),
        float(bool(a.asks_with) and a.asks_with == b.asks_with),
        float(b.points),
        min(len(b.stems), 30) / 10,
        float(np.log((1 + len(b.stems)) / (1 + len(a.stems)))),
        min(len(a.content), 8) / 8,
        float(_FOLLOWING_ON.search(later) is not None),
    )


@lru_cache(maxsize=50_000)
def _read(question: str) -> _Question:
    words = _WORD.findall(question)
    asking = _ASKING.search(question)
    return _Question(
        stems=tuple(map(_stem, words)),
        without_pointing=frozenset(_stem(word) for word in words if word not in _POINTING),
        content=frozenset(_stem(word) for word in words if word not in _FUNCTION),
        trigrams=frozenset(question[start : start + 3] for start in range(len(question) - 2)),
        points=any(word in _POINTING for word in words),
        asks_with=asking.group() if asking else "",
    )


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    """Take a common English ending off, so that `refunds`, `refunded` and `refunding` are one word."""
    for suffix, instead in _SUFFIXES.items():
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM:
            word = word[: -len(suffix)] + instead
            break
    if len(word) > _SHORTEST_STEM and word[-1] == "e":
        word = word[:-1]
    if len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] not in "sl":
        word = word[:-1]
    return word

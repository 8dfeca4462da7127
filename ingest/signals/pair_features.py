"""What is measured on two consecutive questions to tell a rephrase from a follow-up."""

import re
from collections.abc import Mapping, Sequence
from enum import IntFlag
from functools import lru_cache
from math import log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cpdist

from evalsets.languages import LANGUAGES, stopwords_of
from ingest.signals.cues import FOLLOWING_ON, INTERJECTIONS

Numbers = npt.NDArray[np.float64]

LEXICAL_FEATURES: Mapping[str, str] = {
    "word_sets_alike": "rapidfuzz token_set_ratio of the questions, 0 to 1",
    "sorted_words_alike": "rapidfuzz token_sort_ratio, 0 to 1",
    "letters_alike": "rapidfuzz ratio, 0 to 1",
    "shared_content": "content words in both over content words in either",
    "earlier_kept": "share of the earlier words, pronouns aside, that stand in the later question",
    "smaller_kept": "content words in both over those of the question with fewer",
    "earlier_content_kept": "share of the earlier content words that stand in the later question",
    "later_content_old": "share of the later content words that stood in the earlier question",
    "order_kept": "longest run of common words in order over the earlier words, pronouns aside",
    "same_question_word": "1 when both ask with the same word: what, how, is, can ...",
    "earlier_points_back": "1 when the earlier question has a pronoun to be resolved",
    "later_points_back": "1 when the later question has one",
    "resolves": "1 when the earlier question has one and the later none",
    "later_length": "words of the later question over 10, at most 3",
    "length_growth": "log of the later over the earlier number of words",
    "earlier_content": "content words of the earlier question over 8, at most 1",
    "follows_on": "1 when the later question goes on: what about, another, also, thanks ...",
}
COUNTED_FEATURES = tuple(LEXICAL_FEATURES)[3:]
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
_RESOLVED_BEFORE = _POINTING - {"there", "here", "such", "that"}
_ASKING_TEXT = """
what which who whom whose when where why how is are was were do does did can could will would should
wie was wo wann wer wen wem warum wieso welche welcher welches kann kannst können darf muss gibt
où quand pourquoi qui quel quelle quels quelles combien est-ce qu'est-ce puis-je peut-on pouvez-vous
cómo qué cuál cuáles dónde cuándo quién cuánto cuánta ¿cómo ¿qué ¿cuál ¿cuáles ¿dónde ¿cuándo ¿quién ¿cuánto ¿puedo ¿hay
cosa quale quali dove quando chi perché quanto quanta posso c'è
qual quais onde quem quanto existe há
hoe wat waar wanneer waarom welke welk kan mag moet
"""
_ASKING = frozenset(_ASKING_TEXT.split())
_ENGLISH_TOO_TEXT = """
ad ai as al ben bin com come comment dan den die dies door dos due e ed en era eu hat hay io la man me men met mine non
o os over per plus pour
sea son sue te ten ton tot u van vi war wil y you
"""
_ELSEWHERE = {word for code in LANGUAGES[1:] for word in stopwords_of(code) if word not in _ENGLISH_TOO_TEXT.split()}
"""Function words of other languages, but for those that carry meaning in English."""
_FUNCTION = _POINTING | _ASKING | _ELSEWHERE | frozenset(_FUNCTION_TEXT.split())
RETRY_MARKS = "?!.,;:\"'()-"
"""Marks that a question sent again may have more or fewer of."""
RETRY_OPENING = re.compile(r"^(?:hm+|hi|hello|hey|again|please|sorry|ok|okay|well|so)\b[ ,.:;!?-]*")
NO_MARKS = str.maketrans(dict.fromkeys('?!.,;:()[]{}<>/\\|"*_#=+~`', " "))
SUFFIXES = {"ings": "", "ing": "", "ies": "y", "ied": "y", "edly": "", "ed": "", "es": "", "ly": "", "'s": "", "s": ""}
SHORTEST_STEM = 3
_FEW = 500


class _Question(NamedTuple):
    stems: tuple[str, ...]
    without_pointing: frozenset[str]
    content: frozenset[str]
    points: bool
    asks_with: str
    goes_on: bool


def folded_question(text: str) -> str:
    """Return a question as it is compared: lower case, straight quotes, single spaces."""
    return " ".join(text.replace("\u2019", "'").lower().split())


def points_back(question: str) -> bool:
    """Tell whether a question has a pronoun that only what was said before can resolve, such as `it` or `those`."""
    return not _RESOLVED_BEFORE.isdisjoint(folded_question(question).translate(NO_MARKS).split())


def may_share_content(earlier: str, later: str) -> bool:
    """Tell whether two folded questions share a content word, or one of them has none."""
    a, b = _read(earlier).content, _read(later).content
    return not a or not b or not a.isdisjoint(b)


def lexical_features(earlier: Sequence[str], later: Sequence[str]) -> Numbers:
    """Measure pairs of folded questions; one row a pair, the columns in the order of LEXICAL_FEATURES."""
    alike = [
        np.asarray(cpdist(earlier, later, scorer=scorer, workers=cores_for(len(earlier))), dtype=np.float64) / 100
        for scorer in (fuzz.token_set_ratio, fuzz.token_sort_ratio, fuzz.ratio)
    ]
    counted = np.array([_counted(_read(a), _read(b)) for a, b in zip(earlier, later, strict=True)], dtype=np.float64)
    return np.column_stack([*alike, counted.reshape(len(earlier), len(COUNTED_FEATURES))])


def cores_for(pairs: int) -> int:
    """Return how many threads to compare with, as rapidfuzz is told: all, but for so few pairs that one is faster."""
    return -1 if pairs > _FEW else 1


def with_meaning(lexical: Numbers, cosines: Numbers) -> Numbers:
    """Add the columns of MEANING_FEATURES, given the cosine of each pair."""
    gone = 1 - lexical[:, list(LEXICAL_FEATURES).index("earlier_content_kept")]
    return np.column_stack([lexical, cosines, cosines * gone])


def _counted(a: _Question, b: _Question) -> tuple[float, ...]:
    both = len(a.content & b.content)
    of_a, of_b = len(a.content), len(b.content)
    words_a, words_b = len(a.stems), len(b.stems)
    return (
        both / ((of_a + of_b - both) or 1),
        len(a.without_pointing.intersection(b.stems)) / (len(a.without_pointing) or 1),
        both / (min(of_a, of_b) or 1),
        both / (of_a or 1),
        both / (of_b or 1),
        min(1.0, LCSseq.similarity(a.stems, b.stems) / (len(a.without_pointing) or 1)),
        a.asks_with == b.asks_with != "",
        a.points,
        b.points,
        a.points and not b.points,
        min(words_b, 30) / 10,
        log((1 + words_b) / (1 + words_a)),
        min(of_a, 8) / 8,
        b.goes_on,
    )


@lru_cache(maxsize=20_000)
def _read(question: str) -> _Question:
    words = question.translate(NO_MARKS).split()
    stems = tuple(map(stem, words))
    return _Question(
        stems,
        without_pointing=frozenset(stem for stem in stems if stem not in _POINTING),
        content=frozenset(stem for stem, word in zip(stems, words, strict=True) if word not in _FUNCTION),
        points=not _POINTING.isdisjoint(words),
        asks_with=next((word for word in words if word in _ASKING), ""),
        goes_on=_goes_on(words),
    )


def _goes_on(words: Sequence[str]) -> bool:
    if not FOLLOWING_ON.isdisjoint(words) or words[:2] == ["tell", "me"] or words[:1] in _OPENINGS:
        return True
    start = next((place for place, word in enumerate(words) if word not in INTERJECTIONS), 0)
    return words[start : start + 1] in _WHAT and words[start + 1 : start + 2] in _ABOUT


_OPENINGS = (["and"], ["thanks"], ["great"], ["interesting"], ["oh"], ["yes"])
_WHAT, _ABOUT = (["what"], ["how"]), (["about"], ["else"])


class Trait(IntFlag):
    """What the features ask of a word; the bits from `ASKING_SHIFT` number the question word that it is."""

    CONTENT = 1
    POINTS = 2
    FOLLOWS_ON = 4
    INTERJECTION = 8
    WHAT = 16
    ABOUT = 32
    TELL = 64
    ME = 128
    OPENS = 256


ASKING_SHIFT = 12
_ASKING_NUMBERS = {word: number for number, word in enumerate(sorted(_ASKING), start=1)}


def known_words() -> Mapping[str, int]:
    """Return the Trait bits of each word that has more than CONTENT, its number as a question word above them."""
    openings = {word for words in (*_OPENINGS, *_WHAT, *_ABOUT) for word in words}
    return {word: _traits(word) for word in (_FUNCTION | FOLLOWING_ON | INTERJECTIONS | openings | {"tell", "me"})}


def _traits(word: str) -> int:
    is_so = {
        Trait.CONTENT: word not in _FUNCTION,
        Trait.POINTS: word in _POINTING,
        Trait.FOLLOWS_ON: word in FOLLOWING_ON,
        Trait.INTERJECTION: word in INTERJECTIONS,
        Trait.WHAT: [word] in _WHAT,
        Trait.ABOUT: [word] in _ABOUT,
        Trait.TELL: word == "tell",
        Trait.ME: word == "me",
        Trait.OPENS: [word] in _OPENINGS,
    }
    return sum(trait for trait, holds in is_so.items() if holds) | _ASKING_NUMBERS.get(word, 0) << ASKING_SHIFT


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """Take a common English ending off, so that `refunds`, `refunded` and `refunding` are one word."""
    for suffix, instead in SUFFIXES.items():
        if word.endswith(suffix) and len(word) - len(suffix) >= SHORTEST_STEM:
            word = word[: -len(suffix)] + instead
            break
    if len(word) > SHORTEST_STEM and word[-1] == "e":
        word = word[:-1]
    if len(word) > SHORTEST_STEM and word[-1] == word[-2] and word[-1] not in "sl":
        word = word[:-1]
    return word

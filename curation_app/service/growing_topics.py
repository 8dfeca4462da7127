"""What is asked about more than before: words that grew beyond chance, gathered into the phrases people use."""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

from curation_app.service.changes import Change, Share, rate_change
from curation_app.service.monitoring import Compared, log_stamp
from curation_app.workspace import Workspace
from evalsets.words import content_words
from ingest.daily_reading import WordCount, read_words
from ingest.log_store import LogStore
from ingest.topic_reading import PhraseCount, count_phrases, sample_questions

FALSE_SHARE = 0.05
"""Share of the words called growing that may be so by chance."""
LEAST_GROWTH = 1.25
LEAST_QUESTIONS = 4
GATHERED_WORDS = 40
SHOWN_TOPICS = 8
_SAMPLE = 3000
_LONGEST = 5
"""Tokens of a phrase."""
_TYPICAL_SHARE = 0.5
"""Share of a word's questions in which a phrase must stand to speak for it."""
_EXACT_UP_TO = 1000
_NEGLIGIBLE = 1e-9
_BREAK = re.compile("[^\\w\\s'\u2019-]+")


class GrowingTopic(NamedTuple):
    """A phrase that more questions hold than before; `growth` is its rate over the rate before, None from nothing."""

    phrase: str
    recent: int
    before: int
    growth: float | None
    change: Change
    example: str


def growing_topics(workspace: Workspace, compared: Compared) -> tuple[GrowingTopic, ...]:
    """Return what grew between the two spans of a view, the surest first; kept until the log changes."""
    return _topics(workspace, compared, log_stamp(workspace))


@lru_cache(maxsize=64)
def _topics(workspace: Workspace, compared: Compared, _changed: tuple[int, ...]) -> tuple[GrowingTopic, ...]:
    before, recent = compared.turns
    if not before or not recent:
        return ()
    filters = compared.filters._replace(first_day=compared.before_from, last_day=compared.last_day)
    with LogStore(workspace.logs_path).unit() as connection:
        words = read_words(connection, filters, recent_from=compared.recent_from, least=LEAST_QUESTIONS)
        grown = grown_words(words, before, recent)[:GATHERED_WORDS]
        if not grown:
            return ()
        latest = filters._replace(first_day=compared.recent_from)
        sample = sample_questions(connection, latest, words=[word.word for word in grown], limit=_SAMPLE)
        phrases = gather(grown, sample)
        counts = count_phrases(connection, filters, phrases=list(phrases), recent_from=compared.recent_from)
    found = [_topic(count, before, recent, phrases[count.phrase]) for count in counts]
    grew = [topic for topic in found if topic.change.low is not None and topic.change.low > 0]
    return tuple(sorted(grew, key=lambda topic: -(topic.change.low or 0))[:SHOWN_TOPICS])


def grown_words(words: Sequence[WordCount], before: int, recent: int) -> list[WordCount]:
    """Return the words whose share of questions grew, the surest first; `before` and `recent` count all questions.

    Each is tested by the conditional test of two counts (Przyborowski and Wilenski, Biometrika 31, 1940), and of all
    those tested at most one in twenty of the words returned is there by chance (Benjamini and Hochberg, 1995).
    """
    ranked = sorted((_chance(word, recent / (before + recent)), word) for word in words)
    passing = [place for place, (chance, _) in enumerate(ranked, 1) if chance <= FALSE_SHARE * place / len(ranked)]
    surest = [word for _, word in ranked[: max(passing, default=0)]]
    return [
        word
        for word in surest
        if word.recent * before >= LEAST_GROWTH * word.before * recent and content_words(word.word)
    ]


def gather(words: Sequence[WordCount], questions: Sequence[str]) -> dict[str, str]:
    """Return the phrases that stand for the words, each with a question that holds it; words asked together share one.

    A word is spoken for by the longest phrase that stands in at least half of the sampled questions with that word.
    """
    holding: dict[str, set[int]] = defaultdict(set)
    for place, question in enumerate(questions):
        for phrase in _phrases(question):
            holding[phrase].add(place)
    found: dict[str, str] = {}
    for word in (one.word for one in words):
        asked = holding.get(word, set())
        if not asked or _is_covered(asked, found, holding):
            continue
        phrase = _phrase_for(word, asked, holding)
        found[phrase] = min(
            (questions[place] for place in holding[phrase]), key=lambda text: (abs(len(text) - 60), text)
        )
        if len(found) == SHOWN_TOPICS:
            break
    return found


def _phrase_for(word: str, asked: set[int], holding: Mapping[str, set[int]]) -> str:
    typical = [
        phrase
        for phrase, places in holding.items()
        if word in phrase.split()
        and len(places) >= max(_TYPICAL_SHARE * len(asked), LEAST_QUESTIONS if " " in phrase else 1)
    ]
    return max(typical, key=lambda phrase: (phrase.count(" "), len(holding[phrase]), phrase), default=word)


def _is_covered(asked: set[int], found: Mapping[str, str], holding: Mapping[str, set[int]]) -> bool:
    """Whether most questions with a word hold a phrase that was found already."""
    return any(len(asked & holding[phrase]) >= _TYPICAL_SHARE * len(asked) for phrase in found)


def _phrases(question: str) -> Iterator[str]:
    """Yield the runs of up to five tokens between punctuation that begin and end with a telling word."""
    for part in _BREAK.split(question.lower()):
        tokens = part.split()
        telling = [bool(content_words(token)) for token in tokens]
        for start, is_telling in enumerate(telling):
            for end in range(start + 1, min(start + _LONGEST, len(tokens)) + 1):
                if is_telling and telling[end - 1]:
                    yield " ".join(tokens[start:end])


def _topic(count: PhraseCount, before: int, recent: int, example: str) -> GrowingTopic:
    change = rate_change(Share(count.before, before), Share(count.recent, recent))
    growth = (count.recent / recent) / (count.before / before) if count.before else None
    return GrowingTopic(count.phrase, count.recent, count.before, growth, change, example)


def _chance(word: WordCount, share: float) -> float:
    """Return the chance of at least so many recent questions among all with the word, when its share did not grow."""
    number = word.recent + word.before
    if word.recent <= number * share:
        return 1.0
    if number > _EXACT_UP_TO:
        spread = math.sqrt(number * share * (1 - share))
        return 1 - NormalDist().cdf((word.recent - 0.5 - number * share) / spread)
    likeliest = math.exp(
        math.lgamma(number + 1) - math.lgamma(word.recent + 1) - math.lgamma(word.before + 1)
        + word.recent * math.log(share) + word.before * math.log1p(-share)
    )  # fmt: skip
    chance, term = likeliest, likeliest
    for hits in range(word.recent + 1, number + 1):
        term *= (number - hits + 1) / hits * share / (1 - share)
        chance += term
        if term < _NEGLIGIBLE * chance:
            break
    return min(1.0, chance)

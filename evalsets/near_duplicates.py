"""Which questions of a set ask the same, in the same words or nearly; exact over the whole set, no sampling."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from rapidfuzz.distance import Indel

from evalsets.words import content_tokens, tokens

SAME_WORDS = 0.8
"""Share of meaningful words that two questions must have in common, spelling slips forgiven."""
_JOIN_AT = 0.6
_SPELLING = 0.8
_MOST_SLIPS = 2
_SHARED_TOKENS = 0.5

# Words that change what is asked although most stop word lists drop them.
_TELLING = frozenset(
    {"how", "when", "where", "who", "whose", "which", "why", "not", "no", "never", "without", "before", "after"}
    | {"wie", "wann", "wo", "wer", "warum", "nicht", "kein", "keine", "nie", "ohne", "vor", "nach"}
    | {"comment", "quand", "où", "qui", "pourquoi", "pas", "jamais", "sans", "avant", "après"}
    | {"cómo", "cuándo", "dónde", "quién", "nunca", "sin", "antes", "después"}
)


_POLITE = frozenset(
    {"please", "kindly", "hello", "hi", "hey", "thanks", "thank", "bitte", "danke", "hallo"}
    | {"svp", "merci", "bonjour", "gracias", "hola", "grazie", "ciao", "obrigado"}
)
_WORTH_A_SKELETON = 5
_DOUBLED = re.compile(r"(.)\1+")
_VOWELS = re.compile("[aeiou]")


class LikePair(NamedTuple):
    """Two items whose questions ask the same; `similarity` is in (0, 1], 1 for the same words."""

    first_id: str
    second_id: str
    similarity: float


class _Question(NamedTuple):
    id: str
    tokens: frozenset[str]
    content: frozenset[str]
    skeletons: frozenset[str]
    """The content as it is indexed, so that a slip of spelling finds its word."""
    telling: frozenset[str]
    numbers: tuple[str, ...]


def like_pairs(questions: Mapping[str, str]) -> list[LikePair]:
    """Return the pairs of ids whose questions ask the same, in the order of the ids; copies pair with the first one."""
    rows: dict[tuple[object, ...], _Question] = {}
    copies: list[LikePair] = []
    for id_ in sorted(questions):
        row = _analysed(id_, questions[id_])
        first = rows.setdefault(row[1:], row)
        if first is not row:
            copies.append(LikePair(first.id, id_, 1.0))
    pairs = (
        LikePair(a.id, b.id, similarity)
        for a, b in _candidates(list(rows.values()))
        if (similarity := _similarity(a, b))
    )
    return sorted([*copies, *pairs])


def likes_among(questions: Mapping[str, str], *, settled: Collection[str]) -> dict[str, str]:
    """Return for each id that is not settled the id of one that asks the same; a settled one when there is one."""
    likes: dict[str, str] = {}
    for pair in like_pairs(questions):
        for one, other in ((pair.first_id, pair.second_id), (pair.second_id, pair.first_id)):
            if one not in settled and (one not in likes or (other in settled and likes[one] not in settled)):
                likes[one] = other
    return likes


def _analysed(id_: str, question: str) -> _Question:
    words = [word for word in tokens(question) if word not in _POLITE]
    meaningful = frozenset(content_tokens(words)) or frozenset(words)
    every = frozenset(words)
    skeletons = frozenset(map(_skeleton, meaningful))
    return _Question(
        id_, every, meaningful, skeletons, every & _TELLING, tuple(sorted(word for word in words if word[0].isdigit()))
    )


def _skeleton(word: str) -> str:
    """Return a word without doubled letters and inner vowels, which most slips of spelling leave alone."""
    if len(word) < _WORTH_A_SKELETON or not word.isalpha():
        return word
    single = _DOUBLED.sub(r"\1", word)
    return single[0] + _VOWELS.sub("", single[1:])


def _candidates(rows: list[_Question]) -> Iterator[tuple[_Question, _Question]]:
    # Prefix filter: two sets with a Jaccard of at least t share one of their n - ceil(t n) + 1 rarest members.
    frequency = Counter(word for row in rows for word in row.skeletons)
    index: dict[tuple[str, tuple[str, ...], frozenset[str]], list[_Question]] = defaultdict(list)
    for row in rows:
        rarest = sorted(row.skeletons, key=lambda word: (frequency[word], word))
        prefix = rarest[: len(rarest) - math.ceil(_JOIN_AT * len(rarest)) + 1]
        seen: set[str] = set()
        for word in prefix:
            alike = index[word, row.numbers, row.telling]
            for other in alike:
                if other.id not in seen and _may_match(row, other):
                    yield other, row
                seen.add(other.id)
            alike.append(row)


def _may_match(one: _Question, other: _Question) -> bool:
    small, large = sorted((len(one.skeletons), len(other.skeletons)))
    return small >= _JOIN_AT * large


def _similarity(one: _Question, other: _Question) -> float:
    """Return the share of meaningful words in common, 0 when the questions differ in what they ask."""
    left, right = one.content - other.content, other.content - one.content
    common, fewest, most = len(one.content & other.content), *sorted((len(left), len(right)))
    if fewest > _MOST_SLIPS or (common + fewest) / (common + most) < SAME_WORDS:
        return 0.0
    slips = _spelling_slips(left, right)
    left, right = left - slips.keys(), right - set(slips.values())
    if left and right:
        return 0.0
    shared = common + len(slips)
    similarity = shared / (shared + len(left) + len(right))
    alike = len(one.tokens & other.tokens) + len(slips)
    overlap = alike / (len(one.tokens) + len(other.tokens) - alike)
    return similarity if similarity >= SAME_WORDS and overlap >= _SHARED_TOKENS else 0.0


def _spelling_slips(left: frozenset[str], right: frozenset[str]) -> dict[str, str]:
    slips: dict[str, str] = {}
    for word in sorted(left):
        if not word.isalpha():
            continue
        free = [other for other in sorted(right) if other not in slips.values() and other.isalpha()]
        best = max(free, key=lambda other: Indel.normalized_similarity(word, other), default=None)
        if best is not None and Indel.normalized_similarity(word, best) >= _SPELLING:
            slips[word] = best
    return slips

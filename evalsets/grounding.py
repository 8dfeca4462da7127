"""How much of an answer stands in the retrieved text: proxies that see words, not meaning."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from evalsets.languages import guess_language, language_table
from evalsets.words import content_tokens, passage_tokens, sentences, tokens, without_citations, without_markdown

SUPPORT_SHARE = 0.6
"""A sentence is taken for supported when this share of its content words stands in the retrieved text."""
_SAME_STATEMENT = 0.5
"""Share of content words from which a retrieved sentence is taken to speak of the same thing."""


class SentenceSupport(NamedTuple):
    """One sentence of an answer, the share of its content words found, and whether that is enough."""

    sentence: str
    share: float
    is_supported: bool


class Contradiction(NamedTuple):
    """A sentence of an answer and the retrieved sentence that says the same words, one of the two negated."""

    sentence: str
    retrieved: str


def token_precision(answer: str, texts: Iterable[str]) -> float | None:
    """Return the share of the answer's content words, repeats counted, that stand in the texts; None without any.

    Sees neither negation nor paraphrase.
    """
    words = content_tokens(tokens(without_citations(answer)))
    known = token_set(texts)
    return sum(word in known for word in words) / len(words) if words else None


@lru_cache(maxsize=256)
def _claiming_sentences(answer: str) -> tuple[str, ...]:
    return tuple(sentences(without_citations(without_markdown(answer))))


def token_set(texts: Iterable[str]) -> frozenset[str]:
    """Return the folded tokens of all texts."""
    return frozenset().union(*map(passage_tokens, texts))


def sentence_support(
    answer: str,
    texts: Iterable[str],
    *,
    least_share: float = SUPPORT_SHARE,
) -> list[SentenceSupport]:
    """Return each sentence of the answer that has content words, with its share of words found in the texts."""
    known = token_set(texts)
    language = guess_language(tokens(answer))
    supports = []
    for sentence in _claiming_sentences(answer):
        words = set(content_tokens(tokens(sentence), language))
        if words:
            share = len(words & known) / len(words)
            supports.append(SentenceSupport(sentence, share, share >= least_share))
    return supports


def share_supported(answer: str, texts: Iterable[str], *, least_share: float = SUPPORT_SHARE) -> float | None:
    """Return the share of the answer's sentences that are supported: the 60% rule; None without a sentence."""
    supports = sentence_support(answer, texts, least_share=least_share)
    return sum(support.is_supported for support in supports) / len(supports) if supports else None


def pair_precision(answer: str, texts: Iterable[str]) -> float | None:
    """Return the share of the answer's neighbouring tokens that stand side by side in one of the texts."""
    own = tokens(without_citations(answer))
    pairs = list(pairwise(own))
    if not pairs:
        return token_precision(answer, texts)
    known = [_passage_pairs(text) for text in texts]
    return sum(any(pair in passage for passage in known) for pair in pairs) / len(pairs)


@lru_cache(maxsize=1024)
def _passage_pairs(text: str) -> frozenset[tuple[str, str]]:
    return frozenset(pairwise(passage_tokens(text)))


def phrase_support(answer: str, texts: Sequence[str]) -> float | None:
    """Return the mean of token precision and pair precision: word order counts as well as words."""
    words = token_precision(answer, texts)
    return None if words is None else (words + (pair_precision(answer, texts) or 0.0)) / 2


Similarity = Callable[[str, Sequence[str]], float]
"""The similarity, in [-1, 1], of a text to the closest of several passages."""


def meaning_support(answer: str, texts: Sequence[str], similarity: Similarity) -> float | None:
    """Return the mean of token precision, pair precision and similarity to the closest passage.

    Chosen among a dozen combinations on three public sets of human judgements; see docs/quality.md.
    """
    words = token_precision(answer, texts)
    if words is None:
        return None
    closeness = max(0.0, similarity(answer, texts)) if any(texts) else 0.0
    return (words + (pair_precision(answer, texts) or 0.0) + closeness) / 3


_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_DIGIT = re.compile(r"\d")


def stated_numbers(answer: str) -> list[str]:
    """Return the folded numbers of an answer, each once; list marks and citations are none."""
    if not _DIGIT.search(answer):
        return []
    return list(
        dict.fromkeys(
            token for token in tokens(without_citations(without_markdown(answer))) if _NUMBER.fullmatch(token)
        )
    )


def unsupported_numbers(answer: str, texts: Iterable[str], *, question: str = "") -> list[str]:
    """Return the stated numbers that stand neither in the texts nor in the question."""
    stated = stated_numbers(answer)
    known = token_set([*texts, question]) if stated else frozenset()
    return [number for number in stated if number not in known]


def contradictions(answer: str, texts: Iterable[str]) -> list[Contradiction]:
    """Return sentences of the answer that say what a retrieved sentence says, but for a negation in one of the two."""
    answer_sentences = [_Statement.of(sentence) for sentence in _claiming_sentences(answer)]
    known = [statement for text in texts for statement in _passage_statements(text)]
    found = []
    for statement in answer_sentences:
        closest = _closest(statement, known)
        if closest is not None and closest.is_negated != statement.is_negated:
            found.append(Contradiction(statement.sentence, closest.sentence))
    return found


class _Statement(NamedTuple):
    sentence: str
    words: frozenset[str]
    is_negated: bool

    @classmethod
    def of(cls, sentence: str) -> "_Statement":
        folded = tokens(sentence)
        table = language_table(guess_language(folded))
        words = frozenset(content_tokens(folded, table.code)) - table.negations
        return cls(sentence, words, not table.negations.isdisjoint(folded))


@lru_cache(maxsize=1024)
def _passage_statements(text: str) -> tuple[_Statement, ...]:
    return tuple(map(_Statement.of, sentences(text)))


def _closest(statement: _Statement, known: Sequence[_Statement]) -> _Statement | None:
    """Return the retrieved sentence that shares most words, if it shares enough of both; one that agrees wins a tie."""
    best, best_rank = None, (_SAME_STATEMENT, False)
    for other in known:
        larger = max(len(statement.words), len(other.words))
        rank = (
            len(statement.words & other.words) / larger if larger else 0.0,
            other.is_negated == statement.is_negated,
        )
        if rank > best_rank:
            best, best_rank = other, rank
    return best

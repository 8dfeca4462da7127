"""Groundedness without a model: proxies that see words, and checks of numbers and negations beside them.

A right refusal claims nothing, so all of these are undefined for an answer that declines.
"""

from collections.abc import Callable

from evalsets import grounding
from evalsets.metrics.base import Half, Metric, Scale, ScoredCase
from evalsets.words import sentences

_NO_CLAIM = "the answer declines or says nothing, or no retrieved text is known"
_PROXY = "own; a proxy: sees neither negation nor paraphrase"


def _texts(case: ScoredCase) -> list[str]:
    return [chunk.text for chunk in case.retrieved]


def _where_it_claims(measure: Callable[[ScoredCase, str], float | None]) -> Callable[[ScoredCase], float | None]:
    def measured(case: ScoredCase) -> float | None:
        answer = (case.answer or "").strip()
        is_blind = bool(case.retrieved) and not any(chunk.text for chunk in case.retrieved)
        return measure(case, answer) if answer and not is_blind and not case.refusal.is_refusal else None

    return measured


def _numbers_supported(case: ScoredCase, answer: str) -> float | None:
    stated = grounding.stated_numbers(answer)
    if not stated:
        return None
    missing = grounding.unsupported_numbers(answer, _texts(case), question=case.item.question)
    return 1 - len(missing) / len(stated)


def _negation_agrees(case: ScoredCase, answer: str) -> float | None:
    contradicted = {found.sentence for found in grounding.contradictions(answer, _texts(case))}
    return float(not contradicted) if sentences(answer) else None


GROUNDED_TOKENS = Metric(
    "grounded_tokens",
    Half.GENERATION,
    "content words of the answer that stand in the retrieved text / all of them",
    f"{_PROXY} (token precision)",
    _where_it_claims(lambda case, answer: grounding.token_precision(answer, _texts(case))),
    undefined_when=_NO_CLAIM,
    is_proxy=True,
)
GROUNDED_PHRASES = Metric(
    "grounded_phrases",
    Half.GENERATION,
    "mean of grounded_tokens and the share of neighbouring tokens that stand side by side in the retrieved text",
    f"{_PROXY} (word order counts)",
    _where_it_claims(lambda case, answer: grounding.phrase_support(answer, _texts(case))),
    undefined_when=_NO_CLAIM,
    is_proxy=True,
)
GROUNDED_SENTENCES = Metric(
    "grounded_sentences",
    Half.GENERATION,
    "sentences at least 60% of whose content words stand in the retrieved text / all sentences",
    f"{_PROXY} (60% rule)",
    _where_it_claims(lambda case, answer: grounding.share_supported(answer, _texts(case))),
    undefined_when=_NO_CLAIM,
    is_proxy=True,
)
NUMBERS_SUPPORTED = Metric(
    "numbers_supported",
    Half.GENERATION,
    "numbers of the answer that stand in the retrieved text or the question / all its numbers",
    "own; folded number formats",
    _where_it_claims(_numbers_supported),
    undefined_when="the answer declines or states no number",
    is_proxy=True,
)
NEGATION_AGREES = Metric(
    "negation_agrees",
    Half.GENERATION,
    "1 unless a sentence of the answer negates the retrieved sentence whose words it shares, or the reverse",
    "own; negation words by language",
    _where_it_claims(_negation_agrees),
    Scale.RATE,
    undefined_when=_NO_CLAIM,
    is_proxy=True,
)

GROUNDEDNESS_METRICS = (GROUNDED_TOKENS, GROUNDED_PHRASES, GROUNDED_SENTENCES, NUMBERS_SUPPORTED, NEGATION_AGREES)


def grounded_meaning(similarity: grounding.Similarity) -> Metric:
    """Return the mean of word and word pair precision and passage similarity, for a run with the embeddings extra."""
    return Metric(
        "grounded_meaning",
        Half.GENERATION,
        "mean of token precision, precision of neighbouring tokens, and similarity to the closest passage",
        "own; a proxy: sees paraphrase, not negation",
        _where_it_claims(lambda case, answer: grounding.meaning_support(answer, _texts(case), similarity)),
        undefined_when=_NO_CLAIM,
        is_proxy=True,
    )

"""Metrics of the answer that need no model: facts, matches, length, citations and declining."""

from collections import Counter
from collections.abc import Sequence

from evalsets.chunks import canonical_chunk_id
from evalsets.metrics.base import Half, Metric, Scale, ScoredCase
from evalsets.metrics.facts import missing_facts, share_of_facts
from evalsets.words import content_words, phrase_in, token_text, tokens

_NO_EXPECTED = "the item has no expected text"
_NO_FACTS = "the item has no facts"


def _answer(case: ScoredCase) -> str:
    return case.answer or ""


def _all_facts(case: ScoredCase) -> float | None:
    facts = case.item.answer_facts
    return float(not missing_facts(facts, _answer(case))) if facts else None


def _forbidden_absent(case: ScoredCase) -> float | None:
    if not case.item.forbidden:
        return None
    padded = token_text(_answer(case))
    return float(not any(phrase_in(padded, phrase) for phrase in case.item.forbidden))


def _cited_exist(case: ScoredCase) -> float | None:
    if not case.cited_ids:
        return None
    retrieved = set(case.ranking)
    return sum(canonical_chunk_id(cited) in retrieved for cited in case.cited_ids) / len(case.cited_ids)


def _keywords(case: ScoredCase) -> float | None:
    wanted = set(content_words(case.item.expected, case.item.language))
    return len(wanted & set(tokens(_answer(case)))) / len(wanted) if wanted else None


def _exact_match(case: ScoredCase) -> float | None:
    return float(_answer(case).strip() == case.item.expected.strip()) if case.item.expected.strip() else None


def _normalised_match(case: ScoredCase) -> float | None:
    expected = token_text(case.item.expected)
    return float(token_text(_answer(case)) == expected) if expected.strip() else None


def _token_f1(case: ScoredCase) -> float | None:
    expected = tokens(case.item.expected)
    return token_f1(tokens(_answer(case)), expected) if expected else None


def token_f1(answer: Sequence[str], expected: Sequence[str]) -> float:
    """Return the F1 of two bags of tokens, repeats counted; 0 when either is empty."""
    shared = (Counter(answer) & Counter(expected)).total()
    return 2 * shared / (len(answer) + len(expected)) if shared else 0.0


def _declined(case: ScoredCase) -> float:
    return float(case.refusal.is_refusal)


FACTS_PRESENT = Metric(
    "facts_present",
    Half.GENERATION,
    "facts one of whose alternatives stands in the answer / all facts",
    "own; whole words, folded",
    lambda case: share_of_facts(case.item.answer_facts, _answer(case)),
    undefined_when=_NO_FACTS,
)
ALL_FACTS = Metric(
    "all_facts",
    Half.GENERATION,
    "1 if every fact stands in the answer, else 0",
    "own; whole words, folded",
    _all_facts,
    Scale.RATE,
    undefined_when=_NO_FACTS,
)
FORBIDDEN_ABSENT = Metric(
    "forbidden_absent",
    Half.GENERATION,
    "1 if none of the forbidden phrases stands in the answer, else 0",
    "own; whole words, folded",
    _forbidden_absent,
    Scale.RATE,
    undefined_when="the item forbids nothing",
)
CITED_EXIST = Metric(
    "cited_exist",
    Half.GENERATION,
    "cited ids that are among the retrieved / all cited ids",
    "own",
    _cited_exist,
    undefined_when="the answer cites nothing",
)
KEYWORDS_PRESENT = Metric(
    "keywords_present",
    Half.GENERATION,
    "distinct content words of the expected text that stand in the answer / all of them",
    "own; unigram recall without function words",
    _keywords,
    undefined_when=_NO_EXPECTED,
)
EXACT_MATCH = Metric(
    "exact_match",
    Half.GENERATION,
    "1 if the answer is the expected text to the letter, else 0",
    "common",
    _exact_match,
    Scale.RATE,
    undefined_when=_NO_EXPECTED,
)
NORMALISED_MATCH = Metric(
    "normalised_match",
    Half.GENERATION,
    "1 if answer and expected text have the same folded tokens, else 0",
    "common (SQuAD exact match, articles kept)",
    _normalised_match,
    Scale.RATE,
    undefined_when=_NO_EXPECTED,
)
TOKEN_F1 = Metric(
    "token_f1",
    Half.GENERATION,
    "2 · shared tokens / (tokens of the answer + tokens of the expected text)",
    "SQuAD F1, articles kept",
    _token_f1,
    undefined_when=_NO_EXPECTED,
)
DECLINED = Metric(
    "declined",
    Half.GENERATION,
    "1 if the answer says that it cannot or will not answer, else 0",
    "own refusal detector",
    _declined,
    Scale.RATE,
    higher_is_better=False,
)
WRONGLY_DECLINED = Metric(
    "wrongly_declined",
    Half.GENERATION,
    "declined, over items the corpus answers",
    "own refusal detector",
    lambda case: _declined(case) if case.item.is_answerable else None,
    Scale.RATE,
    undefined_when="the corpus does not answer the item",
    higher_is_better=False,
)
CORRECTLY_DECLINED = Metric(
    "correctly_declined",
    Half.GENERATION,
    "declined, over items the corpus does not answer",
    "own refusal detector",
    lambda case: None if case.item.is_answerable else _declined(case),
    Scale.RATE,
    undefined_when="the corpus answers the item",
)

ANSWER_METRICS = (
    FACTS_PRESENT,
    ALL_FACTS,
    FORBIDDEN_ABSENT,
    CITED_EXIST,
    KEYWORDS_PRESENT,
    EXACT_MATCH,
    NORMALISED_MATCH,
    TOKEN_F1,
    DECLINED,
    WRONGLY_DECLINED,
    CORRECTLY_DECLINED,
)


def words_within(least: int, most: int) -> Metric:
    """Return the check that the answer has between `least` and `most` words, both allowed."""
    return Metric(
        f"words_within@{least}-{most}",
        Half.GENERATION,
        f"1 if the answer has {least} to {most} words, else 0",
        "own",
        lambda case: float(least <= len(_answer(case).split()) <= most),
        Scale.RATE,
    )

"""Why an item failed: the first yes of a short list, from the corpus to the judge."""

from collections import Counter
from collections.abc import Collection, Iterable
from enum import StrEnum
from typing import NamedTuple

from evalsets.grounding import contradictions, unsupported_numbers
from evalsets.metrics.answers import KEYWORDS_PRESENT
from evalsets.metrics.base import Half, ScoredCase
from evalsets.metrics.facts import missing_facts

LOW_RANK = 5
"""A first gold chunk below this rank is taken to be ranked too low."""
_SAYS_THE_SAME = 0.8
"""Share of the expected content words from which an answer that failed may have been judged wrongly."""


class Cause(StrEnum):
    """What went wrong first."""

    NO_ANSWER = "no answer"
    NOT_IN_CORPUS = "not in corpus"
    NOT_RETRIEVED = "in corpus, not retrieved"
    RANKED_TOO_LOW = "retrieved, ranked too low"
    CONTRADICTED = "in context, contradicted"
    DECLINED = "in context, declined"
    JUDGED_WRONGLY = "judged wrongly"
    LEFT_OUT = "in context, left out of the answer"


LOOK_AT: dict[Cause, str] = {
    Cause.NO_ANSWER: "the pipeline: it gave no answer",
    Cause.NOT_IN_CORPUS: "the corpus, or the prompt when it should have declined",
    Cause.NOT_RETRIEVED: "the retriever",
    Cause.RANKED_TOO_LOW: "the ranking",
    Cause.CONTRADICTED: "the prompt or the model: the answer says other than the text",
    Cause.DECLINED: "the prompt or the model: it declines although the text is there",
    Cause.JUDGED_WRONGLY: "the judge, or the item's facts: the answer seems right",
    Cause.LEFT_OUT: "the prompt or the model: the answer leaves out what the text says",
}
HALF_OF: dict[Cause, Half] = {
    Cause.NOT_IN_CORPUS: Half.RETRIEVAL,
    Cause.NOT_RETRIEVED: Half.RETRIEVAL,
    Cause.RANKED_TOO_LOW: Half.RETRIEVAL,
}


class Diagnosis(NamedTuple):
    """The cause of a failure and what shows it."""

    cause: Cause
    evidence: str

    @property
    def look_at(self) -> str:
        """Where to mend it."""
        return LOOK_AT[self.cause]


def diagnose(
    case: ScoredCase,
    *,
    corpus_ids: Collection[str] | None = None,
    low_rank: int = LOW_RANK,
) -> Diagnosis:
    """Return the cause of a failed case: the first that applies, in the order of the pipeline.

    Args:
        case: an item that did not pass.
        corpus_ids: ids of all chunks of the corpus; without them, gold chunks are taken to be in it.
        low_rank: a first gold chunk below this rank is ranked too low.
    """
    if case.answer is None:
        return Diagnosis(Cause.NO_ANSWER, "the pipeline gave no answer")
    if not case.item.is_answerable:
        return Diagnosis(Cause.NOT_IN_CORPUS, "the corpus does not cover the question, and the answer does not decline")
    return _retrieval_cause(case, corpus_ids, low_rank) or _answer_cause(case)


def _retrieval_cause(case: ScoredCase, corpus_ids: Collection[str] | None, low_rank: int) -> Diagnosis | None:
    missing = sorted(case.gold - set(corpus_ids)) if corpus_ids is not None else []
    if case.gold and len(missing) == len(case.gold):
        return Diagnosis(Cause.NOT_IN_CORPUS, f"gold chunks not in the corpus: {', '.join(missing)}")
    if case.gold and not case.hit_ranks:
        return Diagnosis(Cause.NOT_RETRIEVED, f"none of {', '.join(sorted(case.gold))} is among the retrieved")
    if case.gold and case.hit_ranks[0] > low_rank:
        return Diagnosis(Cause.RANKED_TOO_LOW, f"the first gold chunk stands at rank {case.hit_ranks[0]}")
    return None


def _answer_cause(case: ScoredCase) -> Diagnosis:
    answer, texts = case.answer or "", [chunk.text for chunk in case.retrieved]
    declined = case.refusal.is_refusal
    found = [] if declined else contradictions(answer, texts)
    if found:
        return Diagnosis(Cause.CONTRADICTED, f"{found[0].sentence!r} against {found[0].retrieved!r}")
    numbers = unsupported_numbers(answer, texts, question=case.item.question) if any(texts) and not declined else []
    if numbers:
        return Diagnosis(Cause.CONTRADICTED, f"numbers the retrieved text does not hold: {', '.join(numbers)}")
    if declined:
        return Diagnosis(Cause.DECLINED, f"the answer says {case.refusal.phrase!r}")
    return _judged_or_left_out(case, answer)


def _judged_or_left_out(case: ScoredCase, answer: str) -> Diagnosis:
    missed = missing_facts(case.item.answer_facts, answer)
    share = KEYWORDS_PRESENT.score(case)
    if case.item.answer_facts and not missed:
        return Diagnosis(Cause.JUDGED_WRONGLY, "every fact stands in the answer")
    if not case.item.answer_facts and share is not None and share >= _SAYS_THE_SAME:
        return Diagnosis(Cause.JUDGED_WRONGLY, f"{share:.0%} of the words of the expected text stand in the answer")
    stated = "; ".join(" / ".join(fact) for fact in missed) or "the expected text"
    return Diagnosis(Cause.LEFT_OUT, f"the answer does not say: {stated}")


def cause_counts(diagnoses: Iterable[Diagnosis]) -> dict[Cause, int]:
    """Return how often each cause was the first, most frequent first."""
    return dict(Counter(diagnosis.cause for diagnosis in diagnoses).most_common())

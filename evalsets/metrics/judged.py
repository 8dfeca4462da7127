"""Metrics read off a judge's verdict; undefined where the judge did not look, or had nothing to look at."""

from collections.abc import Callable

from evalsets.judges.verdict import Verdict
from evalsets.metrics.base import Half, Metric, Scale, ScoredCase

_NO_VERDICT = "the judge did not look at it"


def _read(aspect: Callable[[Verdict], float | bool | None]) -> Callable[[ScoredCase], float | None]:
    def measured(case: ScoredCase) -> float | None:
        found = aspect(case.verdict) if case.verdict else None
        return None if found is None else float(found)

    return measured


def _unless_rightly_declined(aspect: Callable[[Verdict], float | bool | None]) -> Callable[[ScoredCase], float | None]:
    """Leave a right refusal out: it claims nothing, and it is the relevant thing to say."""
    read = _read(aspect)

    def measured(case: ScoredCase) -> float | None:
        declined = case.verdict is not None and case.verdict.declined
        return None if declined and not case.item.is_answerable else read(case)

    return measured


CORRECT = Metric(
    "correct",
    Half.GENERATION,
    "1 if the judge finds the answer correct against the expected text and facts, else 0",
    "the run's judge",
    _read(lambda verdict: verdict.correct),
    Scale.RATE,
    undefined_when=_NO_VERDICT,
)
FAITHFULNESS = Metric(
    "faithfulness",
    Half.GENERATION,
    "claims of the answer that the judge quotes support for / all its claims",
    "the run's judge, claim by claim",
    _unless_rightly_declined(lambda verdict: verdict.supported),
    undefined_when=f"{_NO_VERDICT}, or the answer claims nothing",
)
ANSWER_RELEVANCE = Metric(
    "answer_relevance",
    Half.GENERATION,
    "1 if the judge finds that the answer addresses the question, else 0",
    "the run's judge",
    _unless_rightly_declined(lambda verdict: verdict.relevant),
    Scale.RATE,
    undefined_when=f"{_NO_VERDICT}, or the answer rightly declines",
)
JUDGED_DECLINED = Metric(
    "judged_declined",
    Half.GENERATION,
    "1 if the judge finds that the answer declines, else 0",
    "the run's judge",
    _read(lambda verdict: verdict.declined),
    Scale.RATE,
    undefined_when=_NO_VERDICT,
    higher_is_better=False,
)

JUDGED_METRICS = (CORRECT, FAITHFULNESS, ANSWER_RELEVANCE, JUDGED_DECLINED)


def _ragas(name: str) -> Metric:
    return Metric(
        f"ragas_{name}",
        Half.RETRIEVAL if name.startswith("context") else Half.GENERATION,
        f"ragas's {name.replace('_', ' ')}",
        "the ragas judge (extra `ragas`)",
        lambda case: case.verdict.scores.get(name) if case.verdict else None,
        undefined_when="the judge is not ragas, or the item lacks what its metric needs",
    )


RAGAS_METRICS = tuple(
    _ragas(name) for name in ("faithfulness", "factual_correctness", "context_precision", "context_recall")
)
"""Scored when named: `errata run --judge ragas --metric ragas_faithfulness`."""

"""The four-metric scorecard, which passes when every metric clears its bar, and the gate every question must clear."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pydantic import Field

from evalsets.items import StrictModel
from evalsets.metrics import ranking
from evalsets.metrics.base import Half, Metric, ScoredCase
from evalsets.metrics.facts import share_of_facts

_ROUNDING = 1e-9
"""Means of tenths miss a bar of the same tenths by their last bit."""


class ScorecardBars(StrictModel):
    """The least mean of each of the four metrics; a set or a tag may set its own."""

    faithfulness: float = Field(0.90, ge=0, le=1)
    answer_relevance: float = Field(0.80, ge=0, le=1)
    context_precision: float = Field(0.70, ge=0, le=1)
    context_recall: float = Field(0.80, ge=0, le=1)


class ScorecardRow(NamedTuple):
    """One metric of the scorecard; `value` None means that nothing measured it, which is no pass."""

    name: str
    value: float | None
    bar: float
    passes: bool
    measured_by: str
    is_proxy: bool
    look_at: Half


class Scorecard(NamedTuple):
    """The four rows, and whether every one clears its bar."""

    rows: tuple[ScorecardRow, ...]

    @property
    def passes(self) -> bool:
        """Whether every metric clears its bar."""
        return all(row.passes for row in self.rows)


STAND_INS: Mapping[str, tuple[str, ...]] = {
    "faithfulness": ("faithfulness", "grounded_meaning", "grounded_tokens"),
    "answer_relevance": ("answer_relevance",),
    "context_precision": ("context_precision",),
    "context_recall": ("context_recall",),
}
"""What may measure a row, best first: what stands behind the first is a proxy and is named as one."""
_HALVES = {
    "faithfulness": Half.GENERATION,
    "answer_relevance": Half.GENERATION,
    "context_precision": Half.RETRIEVAL,
    "context_recall": Half.RETRIEVAL,
}


def scorecard(means: Mapping[str, float | None], bars: ScorecardBars | None = None) -> Scorecard:
    """Hold the means of a run, by metric name, against the bars."""
    least = (bars or ScorecardBars()).model_dump()
    return Scorecard(tuple(_row(name, means, bar) for name, bar in least.items()))


def scorecard_of_rows(rows: Iterable[Mapping[str, float | None]], bars: ScorecardBars | None = None) -> Scorecard:
    """Hold the means of item rows against the bars; a value of None leaves the mean of its metric."""
    columns: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.items():
            if value is not None:
                columns.setdefault(name, []).append(value)
    return scorecard({name: sum(values) / len(values) for name, values in columns.items()}, bars)


def _row(name: str, means: Mapping[str, float | None], bar: float) -> ScorecardRow:
    measured_by = next((metric for metric in STAND_INS[name] if means.get(metric) is not None), "")
    value = means.get(measured_by)
    passes = value is not None and value >= bar - _ROUNDING
    is_proxy = measured_by not in {"", name}
    return ScorecardRow(name, value, bar, passes, measured_by, is_proxy, _HALVES[name])


def _context_precision(case: ScoredCase) -> float | None:
    if not case.gold:
        return None
    ranks = case.hit_ranks
    return sum(found / rank for found, rank in enumerate(ranks, 1)) / len(ranks) if ranks else 0.0


def _context_recall(case: ScoredCase) -> float | None:
    if case.gold:
        return ranking.returned_recall(case.hit_ranks, len(case.gold), len(case.ranking))
    return share_of_facts(case.item.answer_facts, *(chunk.text for chunk in case.retrieved))


CONTEXT_PRECISION = Metric(
    "context_precision",
    Half.RETRIEVAL,
    "mean over the gold chunks found of the precision at their rank, 0 when none is found",
    "ragas context precision, with gold ids for its judge",
    _context_precision,
    undefined_when="the item has no gold chunks",
)
CONTEXT_RECALL = Metric(
    "context_recall",
    Half.RETRIEVAL,
    "gold chunks returned / all gold chunks; without gold, facts standing in the retrieved text / all facts",
    "ragas context recall, with gold ids or facts for its judge",
    _context_recall,
    undefined_when="the item has neither gold chunks nor facts",
)

SCORECARD_METRICS = (CONTEXT_PRECISION, CONTEXT_RECALL)


class EveryQuestionBars(StrictModel):
    """What each single question must reach."""

    recall: float = Field(1.0, ge=0, le=1)
    groundedness: float = Field(0.8, ge=0, le=1)
    correctness: float = Field(0.8, ge=0, le=1)


class QuestionScores(NamedTuple):
    """The three figures of one question; None where one is undefined, which no bar is held against."""

    item_id: str
    recall: float | None
    groundedness: float | None
    correctness: float | None


class QuestionFailure(NamedTuple):
    """One figure of one question under its bar."""

    item_id: str
    name: str
    value: float
    bar: float


class EveryQuestionResult(NamedTuple):
    """Which questions miss a bar; passes when none does and at least one question was scored."""

    questions: int
    failures: tuple[QuestionFailure, ...]

    @property
    def passes(self) -> bool:
        """Whether every question clears every bar."""
        return self.questions > 0 and not self.failures


def every_question(scores: Sequence[QuestionScores], bars: EveryQuestionBars | None = None) -> EveryQuestionResult:
    """Hold every single question against every bar, so that no mean hides a bad answer."""
    least = (bars or EveryQuestionBars()).model_dump()
    failures = [
        QuestionFailure(question.item_id, name, value, bar)
        for question in scores
        for name, bar in least.items()
        if (value := getattr(question, name)) is not None and value < bar - _ROUNDING
    ]
    return EveryQuestionResult(len(scores), tuple(failures))

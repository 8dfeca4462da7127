"""The items of a run with their trials and the score of every metric."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from evalsets.diagnosis import diagnose
from evalsets.items import Item
from evalsets.metrics.base import Half, Metric, Scale
from evalsets.report import ItemResult, RetrievedRef
from evalsets.running.figures import ItemGroup, ItemScore
from evalsets.running.journal import JournalIndex
from evalsets.running.metrics import JUDGED_NAMES, metrics_of
from evalsets.running.plan import RunPlan
from evalsets.running.trials import Trial, trials_of


class ScoredItem(NamedTuple):
    """One item's result and its scores, in the order of the run's metrics."""

    result: ItemResult
    scores: list[ItemScore]
    group: ItemGroup


def score_items(plan: RunPlan, index: JournalIndex, not_called: str) -> list[ScoredItem]:
    """Return every item of the plan; `not_called` says why a step of a stopped run was never called."""
    metrics = metrics_of(plan.settings)
    rows = [
        _scored(item, list(trials_of(plan, index, item, not_called)), metrics, plan=plan)
        for item in plan.eval_set.items
    ]
    for place, metric in enumerate(metrics):
        if metric.name in JUDGED_NAMES and metric.higher_is_better:
            _fail_what_was_not_judged(rows, place, metric.name)
    return rows


def _fail_what_was_not_judged(rows: Sequence[ScoredItem], place: int, name: str) -> None:
    """Score what ended before its verdict as a failure in what the judge looked at in the other items."""
    if all(row.scores[place].value is None for row in rows):
        return
    for row in rows:
        score = row.scores[place]
        if score.value is None and not score.is_scored:
            row.scores[place] = ItemScore(0.0, is_scored=False)
            row.result.scores[name] = 0.0


def _scored(item: Item, trials: Sequence[Trial], metrics: Sequence[Metric], *, plan: RunPlan) -> ScoredItem:
    scores = [_item_score(metric, trials) for metric in metrics]
    by_name = {metric.name: score.value for metric, score in zip(metrics, scores, strict=True)}
    result = _result(item, trials, by_name, plan)
    if not result.passed:
        failed = next(trial for trial in trials if not trial.passed)
        cause, evidence = diagnose(failed.case, corpus_ids=plan.corpus.gold_ids)
        result = result.model_copy(update={"cause": cause.value, "cause_evidence": evidence})
    return ScoredItem(result, scores, ItemGroup(item.mode.value, item.tags, item.group or f"item {item.id}"))


def _item_score(metric: Metric, trials: Sequence[Trial]) -> ItemScore:
    """Return the mean over repeats; a repeat whose steps failed scores as a failure where the metric is defined."""
    if len(trials) == 1:
        return _trial_score(metric, trials[0])
    scored = [_trial_score(metric, trial) for trial in trials]
    values = [score.value for score in scored if score.value is not None]
    return ItemScore(sum(values) / len(values) if values else None, all(score.is_scored for score in scored))


@lru_cache(maxsize=4096, typed=True)
def _score(value: float | None, is_scored: bool) -> ItemScore:  # noqa: FBT001 - the score's own fields
    """Return the one score of these values: most scores of a run are 0, 1 or undefined."""
    return ItemScore(value, is_scored)


def _trial_score(metric: Metric, trial: Trial) -> ItemScore:
    is_scored = _ended_well(metric, trial)
    value = metric.measure(trial.case)
    if is_scored or value is None:
        return _score(value, is_scored)
    if metric.scale is Scale.AMOUNT:
        return _score(None, False)  # noqa: FBT003 - as above
    # What did not answer did not decline either: only figures in which more is better fall to their worst.
    return _score(0.0 if metric.higher_is_better else value, False)  # noqa: FBT003 - as above


def _ended_well(metric: Metric, trial: Trial) -> bool:
    """Return whether the steps that a metric reads all ended well."""
    if metric.half is Half.RETRIEVAL:
        return trial.has_retrieved
    return trial.is_scored if metric.name in JUDGED_NAMES else trial.has_answered


def _result(item: Item, trials: Sequence[Trial], scores: dict[str, float | None], plan: RunPlan) -> ItemResult:
    first = trials[0]
    telling = next((trial for trial in trials if not trial.passed), first)
    gold = first.case.gold
    return ItemResult(
        id=item.id,
        mode=item.mode,
        source=item.source,
        tags=item.tags,
        group=item.group,
        language=item.language,
        question=item.question,
        expected=item.expected,
        content=plan.content(item),
        is_known_failing=item.id in plan.eval_set.known_failing_ids,
        steps=first.steps,
        gold_chunk_ids=item.gold_chunk_ids,
        retrieved=tuple(
            RetrievedRef(
                chunk_id=chunk.chunk_id, doc_id=chunk.doc_id, score=chunk.score, is_gold=chunk.chunk_id in gold
            )
            for chunk in first.case.retrieved
        ),
        found=scores[f"hit@{plan.settings.k}"],
        duplicates=first.case.duplicates,
        answer=first.case.answer,
        declined=first.case.refusal.is_refusal,
        passed=all(trial.passed for trial in trials),
        passes=tuple(trial.passed for trial in trials),
        is_scored=all(trial.is_scored for trial in trials),
        reason=telling.reason,
        verdict=telling.verdict.model_dump(mode="json", exclude_defaults=True) if telling.verdict else {},
        scores=scores,
    )

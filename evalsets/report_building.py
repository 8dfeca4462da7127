"""From a journal to a report: nothing but what stands in the journal and the set goes in."""

import platform
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from evalsets.figures import ItemGroup, ItemScore, figure_of, item_score, mean, pass_figures
from evalsets.git_state import current_commit
from evalsets.items import Item
from evalsets.journal import JournalIndex
from evalsets.pipelines.base import digest
from evalsets.report import (
    ItemResult,
    JudgeRef,
    PipelineRef,
    Report,
    RetrievedRef,
    RunStatus,
    SetRef,
    Steadiness,
)
from evalsets.run_metrics import metrics_at
from evalsets.run_plan import RunPlan
from evalsets.set_file import compute_hash
from evalsets.trials import Trial, trials_of


class _End(NamedTuple):
    status: RunStatus
    reason: str


def build_report(plan: RunPlan, journal_path: Path) -> Report:
    """Return the report of what stands in the journal; the same journal gives the same bytes."""
    index = JournalIndex(journal_path)
    try:
        return _report(plan, index)
    finally:
        index.close()


def _report(plan: RunPlan, index: JournalIndex) -> Report:
    end = _end_of(index)
    metrics = metrics_at(plan.settings.k)
    known_failing = plan.eval_set.known_failing_ids
    results: list[ItemResult] = []
    rows: list[tuple[ItemGroup, list[ItemScore]]] = []
    for item in plan.eval_set.items:
        trials = list(trials_of(plan, index, item, end.reason or "the run ended before it"))
        scores = [item_score(metric, trials) for metric in metrics]
        results.append(
            _item_result(
                item,
                trials,
                {metric.name: score.value for metric, score in zip(metrics, scores, strict=True)},
                is_known_failing=item.id in known_failing,
            )
        )
        if item.id not in known_failing:
            rows.append((ItemGroup(item.mode.value, item.tags, item.group or f"item {item.id}"), scores))
    counted = [result for result in results if not result.is_known_failing]
    groups = [group for group, _ in rows]
    rates = [result.pass_rate for result in counted]
    modes = pass_figures(rates, groups, lambda group: (group.mode,))
    figures = [figure_of(metric, [scores[i] for _, scores in rows], groups) for i, metric in enumerate(metrics)]
    by_name = {figure.name: figure for figure in figures}
    not_scored = sum(not result.is_scored for result in counted)
    end = _judged_end(end, not_scored, len(counted), plan.settings.max_error_share)
    return Report(
        headline=_headline(counted, end),
        status=end.status,
        status_reason=end.reason,
        retrieval_recall=by_name[f"hit@{plan.settings.k}"].value,
        answer_accuracy=mean(rates) or 0.0,
        refusal_rate=mean([float(result.declined) for result in counted]) or 0.0,
        by_mode={mode: figure.rate for mode, figure in modes.items()},
        eval_set=_set_ref(plan),
        pipeline=PipelineRef(
            name=plan.pipeline.name,
            kind=plan.pipeline.kind,
            fingerprint=plan.pipeline.fingerprint,
            settings=plan.pipeline.settings(),
        ),
        judge=JudgeRef(name=plan.judge.name, fingerprint=plan.judge.fingerprint),
        settings=plan.settings.measured(),
        versions={"errata": _errata_version(), "python": platform.python_version()},
        git_commit=current_commit(),
        passed=sum(result.passed for result in counted),
        failed=sum(not result.passed and result.is_scored for result in counted),
        not_scored=not_scored,
        lenient_accuracy=mean([result.pass_rate for result in counted if result.is_scored]),
        modes=modes,
        tags=pass_figures(rates, groups, lambda group: group.tags),
        metrics=by_name,
        step_counts=_step_counts(counted),
        steadiness=_steadiness(counted, plan.settings.repeat),
        known_failing=tuple(sorted(known_failing)),
        items=tuple(results),
    )


def _end_of(index: JournalIndex) -> _End:
    ends = [event for event in index.events if event.get("event") == "ended"]
    return _End(ends[-1]["status"], ends[-1]["reason"]) if ends else _End("interrupted", "it was cut off")


def _judged_end(end: _End, not_scored: int, total: int, most: float) -> _End:
    """Return how the run ended, incomplete when too many items could not be scored."""
    if end.status != "complete" or not total or not_scored / total <= most:
        return end
    return _End("incomplete", f"{not_scored} of {total} items could not be scored; at most {most:.0%} may")


def _item_result(
    item: Item, trials: Sequence[Trial], scores: dict[str, float | None], *, is_known_failing: bool
) -> ItemResult:
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
        content=digest(item.model_dump_json(exclude_defaults=True)),
        is_known_failing=is_known_failing,
        steps=first.steps,
        gold_chunk_ids=item.gold_chunk_ids,
        retrieved=tuple(
            RetrievedRef(
                chunk_id=chunk.chunk_id, doc_id=chunk.doc_id, score=chunk.score, is_gold=chunk.chunk_id in gold
            )
            for chunk in first.case.retrieved
        ),
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


def _headline(results: Sequence[ItemResult], end: _End) -> str:
    """Return one sentence: how many passed and failed, and what could not be scored and why, by kind."""
    total = len(results)
    passed = sum(result.passed for result in results)
    failed = sum(not result.passed and result.is_scored for result in results)
    kinds = Counter(
        next(step.status for step in result.steps.values() if step.status not in {"ok", "refused"})
        if any(step.status not in {"ok", "refused"} for step in result.steps.values())
        else "error"
        for result in results
        if not result.is_scored
    )
    parts = [f"{passed} of {total} items passed", f"{failed} failed"]
    if kinds:
        counted = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        parts.append(f"{sum(kinds.values())} could not be scored and count as failures ({counted})")
    ending = "" if end.status == "complete" else f" The run is {end.status}: {end.reason}."
    return ", ".join(parts) + "." + ending


def _set_ref(plan: RunPlan) -> SetRef:
    eval_set = plan.eval_set
    return SetRef(
        name=eval_set.name,
        version=eval_set.version,
        hash=eval_set.content_hash or compute_hash(eval_set),
        items=len(eval_set.items),
    )


def _step_counts(results: Sequence[ItemResult]) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {}
    for result in results:
        for name, step in result.steps.items():
            counts.setdefault(name, Counter())[step.status] += 1
    return {name: dict(sorted(count.items())) for name, count in counts.items()}


def _steadiness(results: Sequence[ItemResult], repeats: int) -> Steadiness | None:
    if repeats == 1 or not results:
        return None
    flipped = [0 < sum(result.passes) < len(result.passes) for result in results]
    return Steadiness(
        repeats=repeats,
        pass_rate=sum(result.pass_rate for result in results) / len(results),
        pass_every_time=sum(result.passed for result in results) / len(results),
        flip_rate=sum(flipped) / len(results),
    )


def _errata_version() -> str:
    try:
        return version("errata-evals")
    except PackageNotFoundError:
        return "unknown"

"""From a journal to a report: nothing but what stands in the journal and the set goes in."""

import platform
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from evalsets.git_state import current_commit
from evalsets.report import (
    Figure,
    ItemResult,
    JudgeRef,
    PipelineRef,
    Report,
    RunStatus,
    SetRef,
    Steadiness,
)
from evalsets.running.figures import figure_of, mean, pass_figures
from evalsets.running.journal import JournalIndex
from evalsets.running.metrics import metrics_of
from evalsets.running.plan import RunPlan
from evalsets.running.production_estimate import estimate_of
from evalsets.running.scored_items import ScoredItem, score_items
from evalsets.running.scoring_bars import scorecards_of
from evalsets.sets.file import compute_hash

NAMED_IN_HEADLINE = 5


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
    rows = score_items(plan, index, end.reason or "the run ended before it")
    counted = [row for row in rows if not row.result.is_known_failing]
    results = [row.result for row in counted]
    not_scored = sum(not result.is_scored for result in results)
    end = _judged_end(end, not_scored, len(results), plan.settings.max_error_share)
    figures = _figures(plan, counted)
    groups = [row.group for row in counted]
    rates = [result.pass_rate for result in results]
    modes = pass_figures(rates, groups, lambda group: (group.mode,))
    return Report(
        headline=_headline(results, end),
        status=end.status,
        status_reason=end.reason,
        retrieval_recall=figures[f"hit@{plan.settings.k}"].value,
        answer_accuracy=mean(rates) or 0.0,
        refusal_rate=figures["declined"].value or 0.0,
        by_mode={mode: figure.rate for mode, figure in modes.items()},
        eval_set=_set_ref(plan),
        pipeline=_pipeline_ref(plan),
        judge=_judge_ref(plan),
        settings=plan.settings.measured(),
        versions={"errata": _errata_version(), "python": platform.python_version()},
        git_commit=current_commit(),
        passed=sum(result.passed for result in results),
        failed=sum(not result.passed and result.is_scored for result in results),
        not_scored=not_scored,
        lenient_accuracy=mean([result.pass_rate for result in results if result.is_scored]),
        modes=modes,
        tags=pass_figures(rates, groups, lambda group: group.tags),
        metrics=figures,
        scorecards=scorecards_of(plan.eval_set, counted),
        step_counts=_step_counts(results),
        causes=dict(Counter(result.cause for result in results if result.cause).most_common()),
        drift=dict(plan.corpus.drift),
        steadiness=_steadiness(results, plan.settings.repeat),
        production=estimate_of(plan.eval_set, results),
        warnings=(*_warnings(results, figures, plan.corpus.drift), *_mended(rows)),
        known_failing=tuple(sorted(plan.eval_set.known_failing_ids)),
        items=tuple(row.result for row in rows),
    )


def _figures(plan: RunPlan, counted: Sequence[ScoredItem]) -> dict[str, Figure]:
    groups = [row.group for row in counted]
    return {
        metric.name: figure_of(metric, [row.scores[place] for row in counted], groups)
        for place, metric in enumerate(metrics_of(plan.settings))
    }


def _warnings(results: Sequence[ItemResult], figures: Mapping[str, Figure], drift: Mapping[str, int]) -> Iterator[str]:
    """Say what a reader of the figures should know before trusting them."""
    if drifted := {kind: count for kind, count in drift.items() if kind != "valid" and count}:
        listed = ", ".join(f"{count} {kind}" for kind, count in drifted.items())
        yield f"the set no longer fits the corpus: gold chunks {listed}; see `errata drift`"
    if duplicates := sum(result.duplicates for result in results):
        yield f"{duplicates} retrieved chunks repeat an id above them; each counts once, at its first rank"
    without_gold = sum(not result.gold_chunk_ids and result.mode != "out_of_scope" for result in results)
    if without_gold:
        yield f"{without_gold} answerable items have no gold chunks and are left out of the retrieval figures"
    yield from sorted({figure.interval_warning for figure in figures.values() if "groups" in figure.interval_warning})


def _mended(rows: Sequence[ScoredItem]) -> Iterator[str]:
    if passed := [row.result.id for row in rows if row.result.is_known_failing and row.result.passed]:
        yield f"known to fail but passed: {_listed(passed)}; `errata known-failing` takes them off the list"


def _end_of(index: JournalIndex) -> _End:
    ends = [event for event in index.events if event.get("event") == "ended"]
    return _End(ends[-1]["status"], ends[-1]["reason"]) if ends else _End("interrupted", "it was cut off")


def _judge_ref(plan: RunPlan) -> JudgeRef:
    """Name the judge; a model may not gate until the gate finds grades of people beside the set."""
    judge = plan.judge
    is_model = bool(getattr(judge, "is_model", False))
    note = "a model, and no grades of people were looked at" if is_model else ""
    return JudgeRef(name=judge.name, fingerprint=judge.fingerprint, may_gate=not is_model, note=note)


def _judged_end(end: _End, not_scored: int, total: int, most: float) -> _End:
    """Return how the run ended, incomplete when too many items could not be scored."""
    if end.status != "complete" or not total or not_scored / total <= most:
        return end
    return _End("incomplete", f"{not_scored} of {total} items could not be scored; at most {most:.0%} may")


def _pipeline_ref(plan: RunPlan) -> PipelineRef:
    pipeline = plan.pipeline
    return PipelineRef(
        name=pipeline.name, kind=pipeline.kind, fingerprint=pipeline.fingerprint, settings=pipeline.settings()
    )


def _headline(results: Sequence[ItemResult], end: _End) -> str:
    """Return one sentence: how many passed and failed, and which could not be scored, by kind."""
    passed = sum(result.passed for result in results)
    failed = sum(not result.passed and result.is_scored for result in results)
    parts = [f"{passed} of {len(results)} items passed", f"{failed} failed"]
    if named := _not_scored(results):
        count = sum(map(len, named.values()))
        listed = "; ".join(f"{len(ids)} {kind}: {_listed(ids)}" for kind, ids in sorted(named.items()))
        parts.append(f"{count} could not be scored and count as failures ({listed})")
    ending = "" if end.status == "complete" else f" The run is {end.status}: {end.reason}."
    return ", ".join(parts) + "." + ending


def _not_scored(results: Sequence[ItemResult]) -> dict[str, list[str]]:
    """Return the ids of the items that could not be scored, by how their first failing step ended."""
    named: dict[str, list[str]] = {}
    for result in results:
        if not result.is_scored:
            statuses = (step.status for step in result.steps.values())
            kind = next((status for status in statuses if status not in {"ok", "refused"}), "error")
            named.setdefault(kind, []).append(result.id)
    return named


def _listed(ids: Sequence[str]) -> str:
    more = len(ids) - NAMED_IN_HEADLINE
    return ", ".join(ids[:NAMED_IN_HEADLINE]) + (f" and {more} more" if more > 0 else "")


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

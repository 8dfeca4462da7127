"""One item run once, as its journal lines tell it: how each step ended and the case that metrics score."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from evalsets.items import Item
from evalsets.judges.verdict import Verdict
from evalsets.metrics.base import ScoredCase
from evalsets.pipelines.base import Answer, Asked, Retrieved
from evalsets.report import StepResult
from evalsets.running.call_values import case_of, decode
from evalsets.running.journal import CallRecord, JournalIndex
from evalsets.running.plan import JUDGE_STEP, RunPlan

_CALLED_FOR_NOTHING = "a step before it did not end well"


class Trial(NamedTuple):
    """One repeat of one item. `records` holds its finished calls by step."""

    case: ScoredCase
    steps: dict[str, StepResult]
    records: Mapping[str, CallRecord]
    has_retrieved: bool
    has_answered: bool
    verdict: Verdict | None

    @property
    def is_scored(self) -> bool:
        """Whether every step ended well, so that a verdict stands."""
        return self.verdict is not None

    @property
    def passed(self) -> bool:
        """Whether the judge let it pass; what could not be judged did not pass."""
        return self.verdict is not None and self.verdict.passed

    @property
    def reason(self) -> str:
        """Return why it passed or failed, in words."""
        if self.verdict is not None:
            return self.verdict.note
        name, step = next((name, step) for name, step in self.steps.items() if step.status not in {"ok", "refused"})
        return f"{name} {step.status}: {step.error}"


def trials_of(plan: RunPlan, index: JournalIndex, item: Item, not_called: str) -> Iterator[Trial]:
    """Yield the repeats of one item; `not_called` says why a step of a stopped run was never called."""
    for repeat in range(plan.settings.repeat):
        names = (*plan.pipeline.steps, JUDGE_STEP)
        found = {name: index.get(plan.key(item, name, repeat)) for name in names}
        records = {name: record for name, record in found.items() if record is not None}
        yield _trial(plan, item, records, not_called)


def _trial(plan: RunPlan, item: Item, records: Mapping[str, CallRecord], not_called: str) -> Trial:
    names = (*plan.pipeline.steps, JUDGE_STEP)
    values = {name: decode(name, record.value) for name, record in records.items() if record.is_ok}
    retrieved, answer = _halves(values)
    verdict = values.get(JUDGE_STEP)
    case = case_of(
        item,
        retrieved,
        answer,
        retrieve_s=_seconds(records.get("retrieve")),
        answer_s=_seconds(records.get("answer") or records.get("ask")),
        verdict=verdict,
        texts=plan.texts_for(retrieved.chunks) if retrieved else None,
    )
    declined = answer is not None and case.refusal.is_refusal
    steps = dict(_step_results(names, records, not_called, declined=declined))
    return Trial(case, steps, records, retrieved is not None, answer is not None, verdict)


def _halves(values: Mapping[str, object]) -> tuple[Retrieved | None, Answer | None]:
    asked = values.get("ask")
    if isinstance(asked, Asked):
        return asked.retrieved, asked.answer
    retrieved, answer = values.get("retrieve"), values.get("answer")
    return (
        retrieved if isinstance(retrieved, Retrieved) else None,
        answer if isinstance(answer, Answer) else None,
    )


def _step_results(
    names: tuple[str, ...], records: Mapping[str, CallRecord], not_called: str, *, declined: bool
) -> Iterator[tuple[str, StepResult]]:
    is_cut_short = False
    for name in names:
        record = records.get(name)
        if record is None:
            yield name, StepResult(status="skipped", error=_CALLED_FOR_NOTHING if is_cut_short else not_called)
        elif record.is_ok and declined and name in {"answer", "ask"}:
            yield name, StepResult(status="refused")
        else:
            yield name, StepResult.model_validate({"status": record.status, "error": record.error, "raw": record.raw})
        is_cut_short = is_cut_short or record is None or not record.is_ok


def _seconds(record: CallRecord | None) -> float | None:
    return record.seconds if record is not None and record.is_ok else None

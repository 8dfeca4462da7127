"""Play with the built-in keyword pipeline: the runner's own steps, judge and metrics over a set or a typed question."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from curation_app.service.set_places import whole_corpus
from curation_app.service.set_references import resolve
from curation_app.workspace import Workspace
from evalsets.chunks import Chunk
from evalsets.errors import BadInputError
from evalsets.items import Item, Mode, Source
from evalsets.judges.base import FactsJudge
from evalsets.metrics.base import ScoredCase
from evalsets.metrics.groundedness import GROUNDED_TOKENS
from evalsets.metrics.registry import metric_named
from evalsets.metrics.retrieval import hit, precision
from evalsets.metrics.scorecard import EveryQuestionBars, EveryQuestionResult, QuestionScores, every_question
from evalsets.pipelines.keyword import KeywordPipeline
from evalsets.running.call_values import case_of

_JUDGE = FactsJudge()
_FACTS = metric_named("facts_present")


class Knobs(NamedTuple):
    """What the sliders say."""

    top_k: int
    is_padded: bool
    groundedness: float
    correctness: float


class Played(NamedTuple):
    """One question as the pipeline answered it."""

    case: ScoredCase
    passed: bool
    note: str
    scores: QuestionScores
    found_gold: float | None
    precision: float | None
    declined: bool


class GateLine(NamedTuple):
    """A figure against its bar; `value` None means that nothing measured it."""

    name: str
    value: float | None
    bar: float
    passes: bool


class Score(NamedTuple):
    """The whole set under the knobs: means, the gate over them, and the questions that miss a bar."""

    played: tuple[Played, ...]
    recall: float | None
    precision: float | None
    accuracy: float
    refusal_rate: float
    gate: tuple[GateLine, ...]
    questions: EveryQuestionResult

    @property
    def passes(self) -> bool:
        """Whether every mean clears its bar."""
        return all(line.passes for line in self.gate)


def play_set(workspace: Workspace, set_name: str, knobs: Knobs) -> Score:
    """Run every item of a set; answers are kept, so that moving a threshold costs only the comparison."""
    head = resolve(set_name, workspace.root)
    stamp = head.eval_set.content_hash
    played = _play_items(workspace, set_name, stamp, _log_stamp(workspace), knobs.top_k, knobs.is_padded)
    return _score(played, knobs)


def play_question(workspace: Workspace, question: str, knobs: Knobs) -> Played:
    """Ask one question; it has no expected answer, so correctness is left open."""
    if not question.strip():
        raise BadInputError("type a question first")
    item = Item(
        id="typed",
        question=question,
        mode=Mode.CONTROL,
        added_on=datetime.now(UTC).date(),
        source=Source.SYNTHETIC,
    )
    pipeline = _pipeline(workspace, _log_stamp(workspace), knobs.top_k, knobs.is_padded)
    return _play(item, pipeline, knobs.top_k)


def _log_stamp(workspace: Workspace) -> int:
    return workspace.logs_path.stat().st_mtime_ns if workspace.logs_path.exists() else 0


@lru_cache(maxsize=4)
def _corpus(workspace: Workspace, _stamp: int) -> Sequence[Chunk]:
    found = whole_corpus(workspace)
    if not found:
        raise BadInputError("there is no corpus to search; load one with `errata corpus add FILE`")
    return tuple(found.values())


@lru_cache(maxsize=64)
def _pipeline(workspace: Workspace, stamp: int, top_k: int, is_padded: bool) -> KeywordPipeline:  # noqa: FBT001 - a knob
    return KeywordPipeline(_corpus(workspace, stamp), name="keyword", top_k=top_k, padding=is_padded)


@lru_cache(maxsize=64)
def _play_items(
    workspace: Workspace,
    set_name: str,
    _set_stamp: str,
    stamp: int,
    top_k: int,
    is_padded: bool,  # noqa: FBT001 - a knob
) -> tuple[Played, ...]:
    items = resolve(set_name, workspace.root).eval_set.items
    pipeline = _pipeline(workspace, stamp, top_k, is_padded)
    return tuple(_play(item, pipeline, top_k) for item in items)


def _play(item: Item, pipeline: KeywordPipeline, k: int) -> Played:
    retrieved = pipeline.retrieve(item, k)
    answer = pipeline.answer(item, retrieved)
    case = case_of(item, retrieved, answer)
    verdict = _JUDGE.judge(case)
    correctness = _FACTS.score(case)
    found = hit(k).score(case)
    return Played(
        case=case,
        passed=verdict.passed,
        note=verdict.note,
        scores=QuestionScores(
            item.id, found, GROUNDED_TOKENS.score(case), float(verdict.passed) if correctness is None else correctness
        ),
        found_gold=found,
        precision=precision(k).score(case),
        declined=case.refusal.is_refusal,
    )


def _score(played: Sequence[Played], knobs: Knobs) -> Score:
    groundedness = _mean([one.scores.groundedness for one in played])
    correctness = _mean([one.scores.correctness for one in played])
    bars = EveryQuestionBars(groundedness=knobs.groundedness, correctness=knobs.correctness)
    return Score(
        played=tuple(played),
        recall=_mean([one.found_gold for one in played]),
        precision=_mean([one.precision for one in played]),
        accuracy=_mean([float(one.passed) for one in played]) or 0.0,
        refusal_rate=_mean([float(one.declined) for one in played]) or 0.0,
        gate=(
            _line("groundedness", groundedness, knobs.groundedness),
            _line("correctness", correctness, knobs.correctness),
        ),
        questions=every_question([one.scores for one in played], bars),
    )


def _line(name: str, value: float | None, bar: float) -> GateLine:
    return GateLine(name, value, bar, passes=value is not None and value >= bar)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None

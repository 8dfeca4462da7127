"""The report of a run: a strict, versioned model, written as the same bytes whenever the same calls were made."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError
from pydantic_core import PydanticSerializationError

from evalsets.atomic_files import write_over
from evalsets.errors import BadInputError, FaultsError
from evalsets.items import Mode, Source, StrictModel
from evalsets.json_files import read_json
from evalsets.surrogates import without_lone_surrogates

REPORT_SCHEMA_VERSION = 1

StepStatus = Literal["ok", "error", "timeout", "refused", "skipped"]
"""How one step of one item ended. `refused`: the answer declined. `skipped`: it was not called."""
RunStatus = Literal["complete", "incomplete", "interrupted"]


class SetRef(StrictModel):
    """Which set was run."""

    name: str
    version: int
    hash: str
    items: int


class PipelineRef(StrictModel):
    """Which pipeline was run."""

    name: str
    kind: str
    fingerprint: str
    settings: dict[str, Any] = Field(default_factory=dict)


class JudgeRef(StrictModel):
    """Which judge decided; a model may gate only once people have graded its verdicts."""

    name: str
    fingerprint: str
    may_gate: bool = True
    note: str = ""


class Figure(StrictModel):
    """One metric over the items.

    `value` is the strict figure: an item that ended in an error counts as a failure. `lenient` leaves such items out.
    `eligible` items are those the metric is defined for, of `total`; `scored` of them ended well.
    """

    name: str
    half: str
    scale: str = "graded"
    unit: str = ""
    value: float | None
    lenient: float | None
    low: float | None = None
    high: float | None = None
    interval: str = ""
    """The method of the 95 % interval [low, high] of the strict figure; empty when there is none."""
    interval_warning: str = ""
    median: float | None = None
    p95: float | None = None
    sum: float | None = None
    """Of an amount, such as tokens or cost: what an item takes in the middle and at worst, and all items together."""
    scored: int
    eligible: int
    total: int
    higher_is_better: bool = True
    is_proxy: bool = False
    by_mode: dict[str, float] = Field(default_factory=dict)
    by_tag: dict[str, float] = Field(default_factory=dict)


class StepResult(StrictModel):
    """How one step ended, and why when not well."""

    status: StepStatus
    error: str = ""
    raw: str = ""


class RetrievedRef(StrictModel):
    """A retrieved chunk by id, in rank order; its text stands in the journal and the corpus."""

    chunk_id: str
    doc_id: str = ""
    score: float | None = None
    is_gold: bool = False


class ItemResult(StrictModel):
    """What became of one item. With repeats, answer and steps are those of the first; passes and scores cover all."""

    id: str
    mode: Mode
    source: Source
    tags: tuple[str, ...] = ()
    group: str = ""
    language: str = ""
    question: str
    expected: str = ""
    content: str
    """Digest of the item, so that runs of two set versions compare only what is the same."""
    is_known_failing: bool = False
    steps: dict[str, StepResult]
    gold_chunk_ids: tuple[str, ...] = ()
    retrieved: tuple[RetrievedRef, ...] = ()
    found: float | None = None
    """Whether a gold chunk was among the first k (the share of repeats in which one was); None without gold."""
    duplicates: int = 0
    """Retrieved entries that repeat an id above them."""
    answer: str | None = None
    declined: bool = False
    passed: bool
    """Whether every repeat passed; an item that ended in an error did not."""
    passes: tuple[bool, ...]
    is_scored: bool
    """Whether every step ended well, in every repeat."""
    reason: str
    verdict: dict[str, Any] = Field(default_factory=dict)
    scores: dict[str, float | None] = Field(default_factory=dict)
    """Each metric's figure; None where it is undefined for the item."""
    cause: str = ""
    """What went wrong first, for an item that did not pass."""
    cause_evidence: str = ""

    @property
    def pass_rate(self) -> float:
        """Return the share of repeats that passed."""
        return sum(self.passes) / len(self.passes)


class ModeFigures(StrictModel):
    """Passes of one mode. `rate` is passed / total."""

    passed: float
    total: int
    rate: float
    low: float | None = None
    high: float | None = None


class ScorecardLine(StrictModel):
    """One metric of the scorecard against its bar; `value` None was not measured, which is no pass."""

    name: str
    value: float | None
    bar: float
    passes: bool
    measured_by: str = ""
    is_proxy: bool = False
    half: str


class ScorecardResult(StrictModel):
    """The four metrics; passes only if every one clears its bar."""

    passes: bool
    lines: tuple[ScorecardLine, ...]


class Steadiness(StrictModel):
    """How steady repeated runs are: mean pass rate, share that passed every time, share that passed only sometimes."""

    repeats: int
    pass_rate: float
    pass_every_time: float
    flip_rate: float


class ProductionEstimate(StrictModel):
    """What the items say of production, each weighted by one over its chance of having been drawn.

    `low` and `high` bound the pass rate at 95 %; the items are worth `effective_items` equally likely draws.
    """

    items: int
    effective_items: float
    pass_rate: float
    low: float
    high: float
    refusal_rate: float


class Report(StrictModel):
    """What a run found. The first four figures are the headline; errors count as failures in all of them."""

    schema_version: Literal[1] = 1
    headline: str
    status: RunStatus
    status_reason: str = ""
    retrieval_recall: float | None
    """Share of answerable items with gold chunks for which at least one was found among the first k."""
    answer_accuracy: float
    """Share of items that passed."""
    refusal_rate: float
    """Share of items whose answer declined."""
    by_mode: dict[str, float]
    """Share of items that passed, by mode."""
    eval_set: SetRef
    pipeline: PipelineRef
    judge: JudgeRef
    settings: dict[str, Any]
    versions: dict[str, str]
    git_commit: str = ""
    passed: int
    failed: int
    not_scored: int
    """Items that ended in an error, timeout or were skipped: failures in every strict figure."""
    lenient_accuracy: float | None
    """Share of passes among the items that could be scored."""
    modes: dict[str, ModeFigures]
    tags: dict[str, ModeFigures] = Field(default_factory=dict)
    metrics: dict[str, Figure] = Field(default_factory=dict)
    scorecards: dict[str, ScorecardResult] = Field(default_factory=dict)
    """The four-metric scorecard of the whole set under `all`, and of each tag that has bars of its own."""
    step_counts: dict[str, dict[str, int]]
    """For each step, how many calls ended in each way."""
    causes: dict[str, int] = Field(default_factory=dict)
    """Failed items by the first cause that applies."""
    steadiness: Steadiness | None = None
    production: ProductionEstimate | None = None
    """None unless at least ten items were drawn with a known chance, some of them as controls."""
    drift: dict[str, int] = Field(default_factory=dict)
    """What became of the gold chunks in the corpus, by kind; empty when no corpus was looked at."""
    warnings: tuple[str, ...] = ()
    known_failing: tuple[str, ...] = ()
    """Items that are known to fail: run and shown, not counted above."""
    items: tuple[ItemResult, ...]

    def wire(self) -> dict[str, Any]:
        """Return JSON-ready values as they stand in the file."""
        return self.model_dump(mode="json")

    def to_bytes(self) -> bytes:
        """Return the canonical bytes: UTF-8 JSON in the order of the model, headline first, newline at the end."""
        try:
            return self.model_dump_json(indent=1).encode() + b"\n"
        except PydanticSerializationError:  # a lone surrogate in a question
            text = json.dumps(self.wire(), ensure_ascii=False, indent=1, allow_nan=False)
            return without_lone_surrogates(text).encode() + b"\n"

    def save(self, path: Path) -> None:
        """Write the report."""
        path.parent.mkdir(parents=True, exist_ok=True)
        write_over(path, self.to_bytes())

    @classmethod
    def load(cls, path: Path | str) -> "Report":
        """Read a report; every fault is named at once."""
        file = Path(path)
        return cls.parse(read_json(file), where=str(file))

    @classmethod
    def parse(cls, wire: Any, *, where: str) -> "Report":
        """Return the report held by parsed JSON; `where` names it in errors."""
        if not isinstance(wire, Mapping) or "answer_accuracy" not in wire:
            raise BadInputError(f"{where} is no report of a run; make one with `errata run SET --out {where}`.")
        if (version := wire.get("schema_version")) != REPORT_SCHEMA_VERSION:
            raise BadInputError(
                f"{where} has report schema {version!r}; this version of errata reads {REPORT_SCHEMA_VERSION}."
            )
        try:
            return cls.model_validate(wire)
        except ValidationError as error:
            faults = [
                f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors(include_url=False)
            ]
            raise FaultsError(f"{where} has {len(faults)} fault(s):", faults) from error


def journal_path(report_path: Path) -> Path:
    """Return where the journal of a report stands: beside it."""
    return report_path.with_name(f"{report_path.stem}.journal.jsonl")

"""The stored runs of a workspace: a small summary beside each report, so that hundreds open at once."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from curation_app.workspace import Workspace
from evalsets.baseline import BASELINE_NAME
from evalsets.errors import BadInputError, ErrataError
from evalsets.report import ModeFigures, Report, load_clock
from evalsets.statistics import wilson_interval

SUMMARY_SUFFIX = ".summary.json"
_BESIDE = (SUMMARY_SUFFIX, ".clock.json", ".run.json", ".progress.json")
SUMMARY_VERSION = 2
HEADLINE_FIGURES = ("retrieval_recall", "answer_accuracy", "refusal_rate")


class Measured(BaseModel):
    """One figure of a run with its 95% interval, where it has one."""

    model_config = ConfigDict(frozen=True)

    value: float | None
    low: float | None = None
    high: float | None = None
    scored: int = 0
    eligible: int = 0
    higher_is_better: bool = True
    half: str = ""
    scale: str = "graded"
    is_proxy: bool = False


class BarLine(BaseModel):
    """One metric of the scorecard against its bar; `value` None was not measured, which is no pass."""

    model_config = ConfigDict(frozen=True)

    name: str
    value: float | None
    bar: float
    passes: bool
    measured_by: str = ""
    is_proxy: bool = False


class RunSummary(BaseModel):
    """What lists and charts need of a run, without its items' texts."""

    model_config = ConfigDict(frozen=True)

    summary_version: int = SUMMARY_VERSION
    run_id: str
    report_mtime_ns: int
    started_at: str = ""
    set_name: str
    set_version: int
    set_hash: str
    pipeline: str
    pipeline_fingerprint: str
    judge: str
    judge_fingerprint: str
    status: str
    headline: str
    k: int
    items: int
    passed: int
    failed: int
    not_scored: int
    figures: dict[str, Measured]
    """The three headline figures and every metric."""
    modes: dict[str, Measured]
    tags: dict[str, Measured] = {}
    scorecard: tuple[BarLine, ...] = ()
    """The scorecard of all items against its bars."""
    causes: dict[str, int]
    cost: float | None = None
    latency_s: dict[str, float] = {}
    """Median seconds by step."""
    known_failing: tuple[str, ...] = ()
    outcomes: dict[str, int] = {}
    """By item: 1 passed, 0 failed, -1 not scored."""


class StoredRun(NamedTuple):
    """A run of the history: its report file and summary."""

    path: Path
    summary: RunSummary

    @property
    def label(self) -> str:
        """Return how a person tells it from others: when, which pipeline, which set version."""
        when = self.summary.started_at[:16].replace("T", " ") or self.summary.run_id
        return f"{when} · {self.summary.pipeline} · {self.summary.set_name} v{self.summary.set_version}"


def report_paths(workspace: Workspace) -> list[Path]:
    """Return every report of the runs folder."""
    if not workspace.runs_folder.is_dir():
        return []
    names = sorted(entry.name for entry in os.scandir(workspace.runs_folder) if entry.name.endswith(".json"))
    return [workspace.runs_folder / name for name in names if not name.endswith(_BESIDE)]


def stored_runs(workspace: Workspace, *, set_name: str = "") -> list[StoredRun]:
    """Return the stored runs, newest first; a report that cannot be read is left out (see `unreadable`)."""
    runs = [StoredRun(path, summary) for path, summary in _summaries(workspace) if isinstance(summary, RunSummary)]
    chosen = [run for run in runs if not set_name or run.summary.set_name == set_name]
    return sorted(chosen, key=lambda run: (run.summary.started_at, run.summary.report_mtime_ns), reverse=True)


def unreadable(workspace: Workspace) -> dict[Path, str]:
    """Return the files of the runs folder that are no report, each with the reason."""
    return {path: str(fault) for path, fault in _summaries(workspace) if not isinstance(fault, RunSummary)}


def summarise(path: Path) -> RunSummary:
    """Read a report, write its summary beside it and return it."""
    summary = _summary_of(Report.load(path), path)
    target = path.with_name(path.stem + SUMMARY_SUFFIX)
    draft = target.with_suffix(f".{os.getpid()}.tmp")
    draft.write_bytes(orjson.dumps(summary.model_dump(mode="json")))
    draft.replace(target)
    return summary


def keep_report(workspace: Workspace, name: str, content: bytes) -> Path:
    """Put a report made elsewhere among the stored runs; the same content is kept once. Raises when it is no report."""
    try:
        wire = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise BadInputError(f"{name!r} is not JSON: {error}") from error
    report = Report.parse(wire, where=name)
    stem = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in Path(name).stem)[:80]
    path = workspace.runs_folder / f"{stem}-{hashlib.sha256(content).hexdigest()[:8]}.json"
    if not path.exists():
        report.save(path)
    return path


def load_report(path: Path) -> Report:
    """Return a report; the last ones read are kept, as long as the file stays the same."""
    return _load_report(path, path.stat().st_mtime_ns)


def _summaries(workspace: Workspace) -> Iterator[tuple[Path, RunSummary | ErrataError]]:
    for path in report_paths(workspace):
        try:
            yield path, _summary_at(path, path.stat().st_mtime_ns)
        except ErrataError as error:
            yield path, error
        except FileNotFoundError:
            continue


@lru_cache(maxsize=2000)
def _summary_at(path: Path, mtime_ns: int) -> RunSummary:
    kept = path.with_name(path.stem + SUMMARY_SUFFIX)
    try:
        raw: dict[str, Any] = orjson.loads(kept.read_bytes())
        if raw["summary_version"] == SUMMARY_VERSION and raw["report_mtime_ns"] == mtime_ns:
            return RunSummary.model_validate(raw)
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError, ValidationError):
        pass
    return summarise(path)


@lru_cache(maxsize=6)
def _load_report(path: Path, _mtime_ns: int) -> Report:
    return Report.load(path)


def _summary_of(report: Report, path: Path) -> RunSummary:
    clock = load_clock(path)
    cost = report.metrics.get("cost")
    counted = [item for item in report.items if not item.is_known_failing]
    return RunSummary(
        run_id=path.stem,
        report_mtime_ns=path.stat().st_mtime_ns,
        started_at=clock.started_at if clock else "",
        set_name=report.eval_set.name,
        set_version=report.eval_set.version,
        set_hash=report.eval_set.hash,
        pipeline=report.pipeline.name,
        pipeline_fingerprint=report.pipeline.fingerprint,
        judge=report.judge.name,
        judge_fingerprint=report.judge.fingerprint,
        status=report.status,
        headline=report.headline,
        k=int(report.settings.get("k", 0)),
        items=len(report.items),
        passed=report.passed,
        failed=report.failed,
        not_scored=report.not_scored,
        figures={**_headline(report, len(counted)), **_metrics(report)},
        modes=_groups(report.modes),
        tags=_groups(report.tags),
        scorecard=_scorecard(report),
        causes=dict(report.causes),
        cost=cost.value * cost.scored if cost is not None and cost.value is not None else None,
        latency_s={step: times["median"] for step, times in clock.latency.items()} if clock else {},
        known_failing=report.known_failing,
        outcomes={item.id: int(item.passed) if item.is_scored else -1 for item in report.items},
    )


def _groups(groups: Mapping[str, ModeFigures]) -> dict[str, Measured]:
    return {
        name: _rate(figures.rate, figures.passed, figures.total, (figures.low, figures.high))
        for name, figures in groups.items()
    }


def _scorecard(report: Report) -> tuple[BarLine, ...]:
    card = report.scorecards.get("all")
    lines = card.lines if card else ()
    return tuple(
        BarLine(
            name=line.name,
            value=line.value,
            bar=line.bar,
            passes=line.passes,
            measured_by=line.measured_by,
            is_proxy=line.is_proxy,
        )
        for line in lines
    )


def _headline(report: Report, counted: int) -> dict[str, Measured]:
    hits = next((figure for name, figure in report.metrics.items() if name.startswith("hit@")), None)
    answerable = hits.eligible if hits else 0
    totals = {"retrieval_recall": answerable, "answer_accuracy": counted, "refusal_rate": counted}
    found = {}
    for name, total in totals.items():
        value = getattr(report, name)
        measured = _rate(value, (value or 0.0) * total, total, (None, None))
        found[name] = measured.model_copy(
            update={
                "higher_is_better": name != "refusal_rate",
                "half": "retrieval" if name == "retrieval_recall" else "generation",
            }
        )
    return found


def _metrics(report: Report) -> dict[str, Measured]:
    return {
        name: Measured(
            value=figure.value,
            low=figure.low,
            high=figure.high,
            scored=figure.scored,
            eligible=figure.eligible,
            higher_is_better=figure.higher_is_better,
            half=figure.half,
            scale=figure.scale,
            is_proxy=figure.is_proxy,
        )
        for name, figure in report.metrics.items()
    }


def _rate(value: float | None, passed: float, total: int, bounds: tuple[float | None, float | None]) -> Measured:
    """Return a rate with the report's own interval, or Wilson's where it holds none."""
    low, high = bounds
    if value is not None and total and (low is None or high is None):
        interval = wilson_interval(min(passed, total), total)
        low, high = interval.low, interval.high
    return Measured(value=value, low=low, high=high, scored=total, eligible=total, scale="rate")


def baseline_summary(workspace: Workspace, set_name: str) -> RunSummary | None:
    """Return the summary of a set's baseline, or None where none was set."""
    path = workspace.sets_folder / set_name / BASELINE_NAME
    return _baseline_at(path, path.stat().st_mtime_ns) if path.is_file() else None


@lru_cache(maxsize=20)
def _baseline_at(path: Path, _mtime_ns: int) -> RunSummary:
    return _summary_of(Report.load(path), path)

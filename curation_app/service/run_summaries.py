"""What lists and charts need of a run: read from the head of its report, and kept in a small file beside it."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from evalsets.report import ModeFigures, Report, ScorecardLine
from evalsets.running.clock import load_clock
from evalsets.statistics import wilson_interval

SUMMARY_SUFFIX = ".summary.json"
SUMMARY_VERSION = 3
HEADLINE_FIGURES = ("retrieval_recall", "answer_accuracy", "refusal_rate")
_BEFORE_ITEMS = b'\n "items": ['
"""Where the head of a report ends: no text in it can hold a line break, so that this stands in no other place."""
_HEAD_BYTES = 65_536


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
    scorecard: tuple[ScorecardLine, ...] = ()
    """The scorecard of all items against its bars."""
    causes: dict[str, int]
    cost: float | None = None
    latency_s: dict[str, float] = {}
    """Median seconds by step."""
    known_failing: tuple[str, ...] = ()
    outcomes: dict[str, int] | None = None
    """By item: 1 passed, 0 failed, -1 not scored; None until somebody has read past the report's head."""


class _Outline(NamedTuple):
    """A report without its items, and what became of them where that was read too."""

    head: Report
    outcomes: dict[str, int] | None


def summary_at(path: Path, mtime_ns: int, *, with_outcomes: bool = False) -> RunSummary:
    """Return the summary kept beside a report while it fits, else make and keep it. Raises when it is no report."""
    kept = _kept_summary(path, mtime_ns)
    if kept is not None and (kept.outcomes is not None or not with_outcomes):
        return kept
    outline = (None if with_outcomes else _read_head(path)) or _read_whole(path)
    return _keep(_summary_of(outline, path, mtime_ns), path)


def keep_summary(report: Report, path: Path) -> RunSummary:
    """Write the summary of a report that has just been saved at `path` beside it."""
    return _keep(summary_of(report, path), path)


def summary_of(report: Report, path: Path) -> RunSummary:
    """Return the summary of a report that stands at `path`."""
    return _summary_of(_outline_of(report), path, path.stat().st_mtime_ns)


def _kept_summary(path: Path, mtime_ns: int) -> RunSummary | None:
    try:
        raw: dict[str, Any] = orjson.loads(_summary_path(path).read_bytes())
        if raw["summary_version"] == SUMMARY_VERSION and raw["report_mtime_ns"] == mtime_ns:
            return RunSummary.model_validate(raw)
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError, ValidationError):
        pass
    return None


def _keep(summary: RunSummary, path: Path) -> RunSummary:
    target = _summary_path(path)
    draft = target.with_suffix(f".{os.getpid()}.tmp")
    draft.write_bytes(orjson.dumps(summary.model_dump(mode="json")))
    draft.replace(target)
    return summary


def _summary_path(path: Path) -> Path:
    return path.with_name(path.stem + SUMMARY_SUFFIX)


def _read_head(path: Path) -> _Outline | None:
    """Read a report as far as its items; None when it was written by other hands and may hold them elsewhere."""
    read = b""
    with path.open("rb") as file:
        while chunk := file.read(_HEAD_BYTES):
            read += chunk
            end = read.find(_BEFORE_ITEMS)
            if end >= 0:
                return _outline(read[:end] + _BEFORE_ITEMS + b"]}")
    return None


def _outline(content: bytes) -> _Outline | None:
    try:
        return _Outline(Report.model_validate(orjson.loads(content)), None)
    except (orjson.JSONDecodeError, ValidationError):
        return None


def _read_whole(path: Path) -> _Outline:
    """Read a report with what became of each item; a fault in it is named by the strict reader."""
    try:
        wire = orjson.loads(path.read_bytes())
        outcomes = {item["id"]: int(item["passed"]) if item["is_scored"] else -1 for item in wire["items"]}
        return _Outline(Report.model_validate({**wire, "items": ()}), outcomes)
    except (orjson.JSONDecodeError, ValidationError, KeyError, TypeError):
        return _outline_of(Report.load(path))


def _outline_of(report: Report) -> _Outline:
    return _Outline(report, {item.id: int(item.passed) if item.is_scored else -1 for item in report.items})


def _summary_of(outline: _Outline, path: Path, mtime_ns: int) -> RunSummary:
    report = outline.head
    clock = load_clock(path)
    cost = report.metrics.get("cost")
    return RunSummary(
        run_id=path.stem,
        report_mtime_ns=mtime_ns,
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
        items=report.eval_set.items,
        passed=report.passed,
        failed=report.failed,
        not_scored=report.not_scored,
        figures={**_headline(report), **_metrics(report)},
        modes=_groups(report.modes),
        tags=_groups(report.tags),
        scorecard=report.scorecards["all"].lines if "all" in report.scorecards else (),
        causes=dict(report.causes),
        cost=cost.value * cost.scored if cost is not None and cost.value is not None else None,
        latency_s={step: times["median"] for step, times in clock.latency.items()} if clock else {},
        known_failing=report.known_failing,
        outcomes=outline.outcomes,
    )


def _groups(groups: Mapping[str, ModeFigures]) -> dict[str, Measured]:
    return {
        name: _rate(figures.rate, figures.passed, figures.total, (figures.low, figures.high))
        for name, figures in groups.items()
    }


def _headline(report: Report) -> dict[str, Measured]:
    hits = next((figure for name, figure in report.metrics.items() if name.startswith("hit@")), None)
    answerable = hits.eligible if hits else 0
    counted = report.passed + report.failed + report.not_scored
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

"""The stored runs of a workspace, listed by their summaries, so that hundreds open at once."""

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import orjson

from curation_app.service.run_summaries import SUMMARY_SUFFIX, RunSummary, summary_at, summary_of
from curation_app.workspace import Workspace
from evalsets.errors import BadInputError, ErrataError
from evalsets.gating.baseline import BASELINE_NAME
from evalsets.report import Report

_BESIDE = (SUMMARY_SUFFIX, ".clock.json", ".run.json", ".progress.json")


class StoredRun(NamedTuple):
    """A run of the history: its report file and summary."""

    path: Path
    summary: RunSummary
    label: str
    """How a person tells it from every other: when, which pipeline, which set version."""

    def outcomes(self) -> Mapping[str, int]:
        """Return what became of each item: 1 passed, 0 failed, -1 not scored; none when its report has a fault."""
        if self.summary.outcomes is not None:
            return self.summary.outcomes
        try:
            return _outcomes_at(self.path, self.summary.report_mtime_ns)
        except (ErrataError, FileNotFoundError):
            return {}


def report_paths(workspace: Workspace) -> list[Path]:
    """Return every report of the runs folder."""
    if not workspace.runs_folder.is_dir():
        return []
    names = sorted(entry.name for entry in os.scandir(workspace.runs_folder) if entry.name.endswith(".json"))
    return [workspace.runs_folder / name for name in names if not name.endswith(_BESIDE)]


def stored_runs(workspace: Workspace, *, set_name: str = "") -> list[StoredRun]:
    """Return the stored runs, newest first; a report that cannot be read is left out (see `unreadable`)."""
    found = [(path, summary) for path, summary in _summaries(workspace) if isinstance(summary, RunSummary)]
    found.sort(key=lambda pair: (pair[1].started_at, pair[1].report_mtime_ns), reverse=True)
    seen = Counter(_label(summary) for _, summary in found)
    return [
        StoredRun(path, summary, label if seen[label] == 1 else f"{label} · {summary.run_id}")
        for path, summary in found
        for label in (_label(summary),)
        if not set_name or summary.set_name == set_name
    ]


def unreadable(workspace: Workspace) -> dict[Path, str]:
    """Return the files of the runs folder that are no report, each with the reason."""
    return {path: str(fault) for path, fault in _summaries(workspace) if not isinstance(fault, RunSummary)}


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


def baseline_summary(workspace: Workspace, set_name: str) -> RunSummary | None:
    """Return the summary of a set's baseline, or None where none was set."""
    path = workspace.sets_folder / set_name / BASELINE_NAME
    return _baseline_at(path, path.stat().st_mtime_ns) if path.is_file() else None


def _label(summary: RunSummary) -> str:
    when = summary.started_at[:19].replace("T", " ") or summary.run_id
    return f"{when} · {summary.pipeline} · {summary.set_name} v{summary.set_version}"


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
    return summary_at(path, mtime_ns)


@lru_cache(maxsize=2000)
def _outcomes_at(path: Path, mtime_ns: int) -> Mapping[str, int]:
    return summary_at(path, mtime_ns, with_outcomes=True).outcomes or {}


@lru_cache(maxsize=6)
def _load_report(path: Path, _mtime_ns: int) -> Report:
    return Report.load(path)


@lru_cache(maxsize=20)
def _baseline_at(path: Path, _mtime_ns: int) -> RunSummary:
    return summary_of(Report.load(path), path)

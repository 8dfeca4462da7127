"""Start, follow, stop and resume runs of a workspace from the app."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from curation_app.workspace import Workspace
from evalsets.errors import BadInputError
from evalsets.running.settings import RunSettings

SILENT_AFTER_S = 20.0
"""A run that has said nothing for so long has ended without a word (killed, or the machine went down)."""
_children: list[subprocess.Popen[bytes]] = []


class BackgroundRun(NamedTuple):
    """A run that was started from the app. `state`: running, stopping, complete, incomplete, interrupted or failed."""

    run_id: str
    path: Path
    """Of the report it writes."""
    state: str
    done: int = 0
    total: int = 0
    failed: int = 0
    reused: int = 0
    message: str = ""
    pid: int = 0
    settings: RunSettings = RunSettings()
    set_ref: str = ""
    pipeline: str = ""
    judge: str = ""
    split: str = "dev"
    by: str = ""

    @property
    def is_alive(self) -> bool:
        """Whether its process is at work."""
        return self.state in {"running", "stopping"}

    @property
    def can_resume(self) -> bool:
        """Whether there is something left to do."""
        return self.state in {"interrupted", "incomplete", "failed"}


class RunOrder(NamedTuple):
    """What a person chose on the Scores page."""

    set_ref: str
    pipeline: str
    judge: str = ""
    settings: RunSettings = RunSettings()
    split: str = "dev"
    """dev, holdout or all, as for `errata run --split`."""
    by: str = ""
    """Who asked, for the ledger of looks at held-out items."""


def start_run(workspace: Workspace, order: RunOrder) -> BackgroundRun:
    """Start a run in a process of its own and return it."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    name = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in order.pipeline)
    set_part = Path(order.set_ref).stem or workspace.settings().sets.default
    out = workspace.runs_folder / f"{set_part}-{name}-{stamp}.json"
    return _launch(workspace, order, out, resume=False)


def resume_run(workspace: Workspace, run_id: str) -> BackgroundRun:
    """Go on with a run that was stopped; calls that stand in its journal are not made again."""
    run = find_run(workspace, run_id)
    if run.is_alive:
        raise BadInputError(f"run {run_id} is at work already")
    order = RunOrder(run.set_ref, run.pipeline, run.judge, run.settings, run.split, run.by)
    return _launch(workspace, order, run.path, resume=True)


def stop_run(workspace: Workspace, run_id: str) -> None:
    """Ask a run to end: calls in flight are finished, the report tells what was done."""
    run = find_run(workspace, run_id)
    if run.is_alive and run.pid:
        with suppress(ProcessLookupError):
            os.kill(run.pid, signal.SIGTERM)
        _stop_marker(run.path).touch()


def find_run(workspace: Workspace, run_id: str) -> BackgroundRun:
    """Return one run that was started from the app."""
    path = workspace.runs_folder / f"{run_id}.run.json"
    if not path.is_file():
        raise BadInputError(f"there is no run {run_id!r} in {workspace.runs_folder}")
    return _read_run(path)


def background_runs(workspace: Workspace) -> list[BackgroundRun]:
    """Return the runs that were started from the app and are not complete, newest first."""
    _reap()
    found = [_read_run(path) for path in workspace.runs_folder.glob("*.run.json")]
    return sorted((run for run in found if run.state != "complete"), key=lambda run: run.run_id, reverse=True)


def _launch(workspace: Workspace, order: RunOrder, out: Path, *, resume: bool) -> BackgroundRun:
    out.parent.mkdir(parents=True, exist_ok=True)
    request, progress = _request_path(out), _progress_path(out)
    wire = {
        "workspace": str(workspace.root),
        "set_ref": order.set_ref,
        "pipeline": order.pipeline,
        "judge": order.judge,
        "out": str(out),
        "progress": str(progress),
        "resume": resume,
        "settings": order.settings.model_dump(mode="json"),
        "split": order.split,
        "by": order.by,
    }
    request.write_text(json.dumps(wire, indent=1), encoding="utf-8")
    progress.write_text(json.dumps({"state": "running", "pid": 0, "told_at": time.time()}), encoding="utf-8")
    _stop_marker(out).unlink(missing_ok=True)
    with out.with_suffix(".log").open("ab") as log:
        child = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", "curation_app.background_run", str(request)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=workspace.root,
            start_new_session=True,
        )
    _children.append(child)
    return _read_run(request)


def _read_run(request: Path) -> BackgroundRun:
    wire = json.loads(request.read_text(encoding="utf-8"))
    out = Path(wire["out"])
    told = _read_progress(_progress_path(out))
    return BackgroundRun(
        run_id=out.stem,
        path=out,
        state=_state(told, out),
        done=told.get("done", 0),
        total=told.get("total", 0),
        failed=told.get("failed", 0),
        reused=told.get("reused", 0),
        message=told.get("message", ""),
        pid=told.get("pid", 0),
        settings=RunSettings.model_validate(wire["settings"]),
        set_ref=wire["set_ref"],
        pipeline=wire["pipeline"],
        judge=wire["judge"],
        split=wire.get("split", "dev"),
        by=wire.get("by", ""),
    )


def _state(told: dict[str, Any], out: Path) -> str:
    state = str(told.get("state", "failed"))
    if state != "running":
        return state
    if time.time() - told.get("told_at", 0) > SILENT_AFTER_S:
        return "interrupted"
    return "stopping" if _stop_marker(out).exists() else "running"


def _read_progress(path: Path) -> dict[str, Any]:
    try:
        told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return told


def _request_path(out: Path) -> Path:
    return out.with_name(f"{out.stem}.run.json")


def _progress_path(out: Path) -> Path:
    return out.with_name(f"{out.stem}.progress.json")


def _stop_marker(out: Path) -> Path:
    return out.with_name(f"{out.stem}.stop")


def _reap() -> None:
    """Take note of children that ended, so that none stays behind as a zombie."""
    _children[:] = [child for child in _children if child.poll() is None]

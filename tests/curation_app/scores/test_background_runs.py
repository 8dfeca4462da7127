"""Runs started from the app: in a process of their own, followed by a small file, stopped and resumed."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from curation_app.service.run_history import stored_runs
from curation_app.service.scoring import (
    BackgroundRun,
    RunOrder,
    background_runs,
    find_run,
    resume_run,
    start_run,
    stop_run,
)
from curation_app.workspace import Workspace
from evalsets.errors import BadInputError
from evalsets.report import Report
from evalsets.running.settings import RunSettings

pytestmark = pytest.mark.xdist_group("scores")

SLOW = """
import time

class Slow:
    def retrieve(self, question, k):
        time.sleep(0.08)
        return ["kb-002#1"]

    def answer(self, question, chunks):
        return "I could not find that."

pipeline = Slow()
"""


@pytest.fixture
def workspace(demo: Any, tmp_path: Path) -> Workspace:
    """A workspace with the demo's set and a slow pipeline, so that a run can be stopped half-way."""
    (tmp_path / "errata.toml").write_text('[pipelines.slow]\nkind = "python"\ntarget = "slow_rag:pipeline"\n')
    (tmp_path / "slow_rag.py").write_text(SLOW)
    (tmp_path / "evalsets").symlink_to(demo.workspace.sets_folder, target_is_directory=True)
    return Workspace(tmp_path)


def until(workspace: Workspace, run_id: str, reached: Callable[[BackgroundRun], bool]) -> BackgroundRun:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        run = find_run(workspace, run_id)
        if reached(run):
            return run
        time.sleep(0.1)
    raise AssertionError(f"the run stayed {find_run(workspace, run_id)}")


def test_a_run_is_stopped_half_way_and_resumed_to_its_end(workspace: Workspace) -> None:
    order = RunOrder("failures", "slow", settings=RunSettings(concurrency=1))
    started = start_run(workspace, order)
    until(workspace, started.run_id, lambda run: run.done >= 2)
    stop_run(workspace, started.run_id)
    stopped = until(workspace, started.run_id, lambda run: not run.is_alive)
    assert stopped.state == "interrupted"
    assert stopped.can_resume
    assert 0 < stopped.done < stopped.total
    assert [run.run_id for run in background_runs(workspace)] == [started.run_id]
    assert Report.load(stopped.path).status == "interrupted"
    resumed = resume_run(workspace, started.run_id)
    with pytest.raises(BadInputError, match="at work already"):
        resume_run(workspace, resumed.run_id)
    finished = until(workspace, started.run_id, lambda run: not run.is_alive)
    assert finished.state == "complete"
    assert finished.reused > 0, "calls of the stopped run were made again"
    assert not background_runs(workspace)
    assert [run.summary.status for run in stored_runs(workspace)] == ["complete"]


def test_a_run_that_cannot_start_says_why(workspace: Workspace) -> None:
    run = start_run(workspace, RunOrder("failures", "no-such-pipeline"))
    ended = until(workspace, run.run_id, lambda run: not run.is_alive)
    assert ended.state == "failed"
    assert "there is no pipeline 'no-such-pipeline'" in ended.message


def test_a_run_that_fell_silent_counts_as_interrupted(workspace: Workspace) -> None:
    workspace.runs_folder.mkdir(parents=True)
    out = workspace.runs_folder / "lost.json"
    (workspace.runs_folder / "lost.run.json").write_text(
        f'{{"out": "{out}", "settings": {{}}, "set_ref": "failures", "pipeline": "slow", "judge": ""}}'
    )
    (workspace.runs_folder / "lost.progress.json").write_text(
        '{"state": "running", "pid": 0, "told_at": 1.0, "done": 3, "total": 9}'
    )
    assert find_run(workspace, "lost").state == "interrupted"


def test_an_unknown_run_is_named(workspace: Workspace) -> None:
    with pytest.raises(BadInputError, match="there is no run 'nothing'"):
        find_run(workspace, "nothing")

import os
import subprocess
import sys
from pathlib import Path

import pytest

from curation_app.presence import is_app_running, step_back_for_reviewers
from curation_app.service.starting import make_workspace
from curation_app.workspace import Workspace

STEPS = [19, os.SCHED_IDLE] if sys.platform == "linux" else [19]
HOLD = """
import sys
from pathlib import Path
from curation_app.presence import announce_app
from curation_app.workspace import Workspace
announce_app(Workspace(Path(sys.argv[1])))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path / "workspace").workspace


def test_a_killed_app_is_no_longer_seen(workspace: Workspace) -> None:
    assert not is_app_running(workspace)
    command = [sys.executable, "-c", HOLD, str(workspace.root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as app:
        assert app.stdout is not None
        assert app.stdout.readline() == b"held\n"
        assert is_app_running(workspace)
        app.kill()
    assert not is_app_running(workspace)


@pytest.mark.parametrize(("is_served", "steps"), [(True, STEPS), (False, [])])
def test_a_command_lowers_its_priority_only_while_the_app_is_served(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, *, is_served: bool, steps: list[int]
) -> None:
    lowered: list[int] = []
    monkeypatch.setattr(os, "nice", lowered.append)
    monkeypatch.setattr(os, "sched_setscheduler", lambda _process, policy, _parameters: lowered.append(policy))
    monkeypatch.setattr("curation_app.presence.is_app_running", lambda _workspace: is_served)
    assert step_back_for_reviewers(workspace) is is_served
    assert lowered == steps

"""The demo, gone through once, for every test that looks at runs."""

from pathlib import Path
from typing import NamedTuple

import pytest

from curation_app.service.demonstrating import DemoResult, run_demo
from curation_app.workspace import WORKSPACE_VARIABLE, Workspace, find_workspace


class Demo(NamedTuple):
    """A workspace after the demo, what the demo ended with, and what it said."""

    workspace: Workspace
    result: DemoResult
    told: list[str]


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    folder = tmp_path_factory.mktemp("demo")
    told: list[str] = []
    result = run_demo(folder, told.append)
    return Demo(find_workspace(folder), result, told)


@pytest.fixture
def in_demo(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Serve the demo's workspace to pages drawn without a browser; returns the folder of the pages."""
    monkeypatch.setenv(WORKSPACE_VARIABLE, str(demo.workspace.root))
    return Path("curation_app/pages").resolve()

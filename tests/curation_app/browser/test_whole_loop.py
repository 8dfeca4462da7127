"""The whole loop on the sample, as a person walks it: label, freeze, run, gate."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from curation_app.service.demonstrating import prepare_demo
from curation_app.workspace import Workspace

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return prepare_demo(tmp_path_factory.mktemp("loop") / "help-desk", lambda _words: None)


@pytest.fixture
def loop_server(workspace: Workspace, serve: Callable[[Path], Any]) -> Iterator[Any]:
    served = serve(workspace.root)
    served.start()
    yield served
    served.kill()


def errata(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from curation_app.cli import main; main()", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def label_with_the_mouse(reviewer: Any) -> None:
    page: Page = reviewer.page
    token = page.evaluate("document.documentElement.dataset.errataToken")
    gold = page.get_by_role("button", name="a ☆")
    mode = "grounding failure" if gold.count() else "out of scope"
    page.locator("[data-testid=stRadio]").get_by_text(mode).click()
    if gold.count():
        gold.first.click()
        expect(page.get_by_role("button", name="a ★")).to_be_visible(timeout=20_000)
        page.get_by_label("Expected answer").fill("What the handbook says.")
    page.get_by_label("Note").fill("read against the handbook")
    page.get_by_label("Note").press("Tab")
    reviewer.settle()
    page.get_by_role("button", name="Save, next").click()
    page.wait_for_function(
        "before => document.documentElement.dataset.errataToken !== before", arg=token, timeout=30_000
    )
    page.wait_for_timeout(300)


def test_label_freeze_run_and_gate_in_one_sitting(
    workspace: Workspace, loop_server: Any, reviewer: Callable[..., Any]
) -> None:
    ann = reviewer("Ann", url=loop_server.url)
    ann.open()
    ann.wait_for_item()
    for _ in range(3):
        label_with_the_mouse(ann)
    ann.settle()
    has_chunks = ann.page.get_by_role("button", name="a ☆").count() > 0
    ann.press("2" if has_chunks else "4")
    if has_chunks:
        ann.press("a")
        ann.write("Expected answer", "What the handbook says.")
    ann.write("Note", "read against the handbook")
    ann.advance("Control+Enter")

    ann.open("freeze")
    ann.page.get_by_label("Note").fill("the first four")
    ann.page.get_by_role("button", name="Freeze").last.click()
    set_file = workspace.sets_folder / "failures" / "failures.json"
    wait_until(ann.page, set_file.exists)
    assert len(json.loads(set_file.read_text())["items"]) == 4

    ann.open("scores")
    ann.page.get_by_role("button", name="Run", exact=True).click()
    wait_until(ann.page, lambda: bool(list(workspace.runs_folder.rglob("*.json"))), seconds=90)

    root = ["--workspace", str(workspace.root)]
    report = workspace.root / "report.json"
    assert errata("run", "failures", "--pipeline", "keyword", "--out", str(report), *root).returncode == 0
    passed = errata("gate", "--baseline", str(report), "--current", str(report), *root)
    assert passed.returncode == 0, passed.stderr


def wait_until(page: Page, holds: Callable[[], bool], seconds: int = 30) -> None:
    for _ in range(seconds * 5):
        if holds():
            return
        page.wait_for_timeout(200)
    raise AssertionError("it did not happen in time")

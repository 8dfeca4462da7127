"""The pages of scores in Chromium: run, stop, resume, read an item, compare, turn the knobs, grade ten."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from curation_app.workspace import Workspace
from tests.curation_app.served_app import Server

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

SLOW = """
import itertools
import pathlib
import time

calls = itertools.count()

class Slow:
    def retrieve(self, question, k):
        if next(calls) >= 3:
            for _ in range(500):
                if pathlib.Path("fast").exists():
                    break
                time.sleep(0.1)
        return ["kb-002#1"]

    def answer(self, question, chunks):
        return "I could not find that."

pipeline = Slow()
"""
PATIENCE_MS = 60_000


@pytest.fixture
def served(demo: Any, tmp_path: Path) -> Iterator[Server]:
    """The demo's workspace, with a pipeline slow enough to be stopped half-way."""
    workspace = Workspace(tmp_path / "workspace")
    # Without the grades that other tests may have given on the demo.
    shutil.copytree(demo.workspace.root, workspace.root, ignore=shutil.ignore_patterns("judges"))
    with workspace.config_path.open("a") as config:
        config.write('\n[pipelines.slow]\nkind = "python"\ntarget = "slow_rag:pipeline"\n')
    (workspace.root / "slow_rag.py").write_text(SLOW)
    server = Server(workspace.root)
    server.start()
    yield server
    server.kill()


@pytest.fixture
def page(served: Server, chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    context.add_cookies([{"name": "errata_reviewer", "value": "Ada", "url": served.url}])
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE_MS)
    expect.set_options(timeout=PATIENCE_MS)
    yield opened
    context.close()


def settle(page: Page) -> None:
    """Wait until the script has run to its end, so that no button of the run before is left."""
    page.wait_for_timeout(300)
    page.wait_for_selector("[data-test-script-state=notRunning]")


def choose(page: Page, label: str, option: str) -> None:
    page.get_by_role("combobox", name=re.compile(f"^{label}")).first.click()
    page.get_by_role("option", name=option, exact=True).click()


def test_a_run_goes_on_without_the_browser_is_stopped_resumed_and_its_item_read(served: Server, page: Page) -> None:
    page.goto(f"{served.url}/scores")
    choose(page, "Pipeline", "slow")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text(re.compile(r"slow-.*: [1-9]\d* of \d+ items"))).to_be_visible()
    # Leave the page and come back: the run is still at work.
    page.goto(f"{served.url}/trends")
    expect(page.get_by_role("heading", name="Trends")).to_be_visible()
    page.goto(f"{served.url}/scores")
    page.get_by_role("button", name="Stop this run", exact=True).click()
    expect(page.get_by_text(re.compile("^Stopping$|is interrupted after")).first).to_be_visible()
    (served.workspace / "fast").touch()
    expect(page.get_by_text(re.compile("is interrupted after"))).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_text(re.compile("is interrupted after"))).to_be_hidden()
    expect(page.get_by_role("combobox", name=re.compile("^Run")).first).to_have_value(re.compile("slow"))
    click_first_item(page)
    expect(page.get_by_text("Answered", exact=True)).to_be_visible()
    expect(page.get_by_text(re.compile("not retrieved")).last).to_be_visible()


def click_first_item(page: Page) -> None:
    settle(page)
    table = page.get_by_test_id("stDataFrame").last
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 20, box["y"] + 55)


def test_an_item_opens_on_its_own_page_leads_on_by_key_and_the_back_button_leads_home(
    served: Server, page: Page
) -> None:
    page.goto(f"{served.url}/scores")
    page.get_by_text("failed", exact=True).first.click()
    expect(page.get_by_text(re.compile(r"^[1-5]\d of 64 items\. Click a row"))).to_be_visible()
    narrowed = page.get_by_text(re.compile(r"^\d+ of 64 items\. Click a row")).inner_text()
    click_first_item(page)
    question = page.locator(".errata-question")
    expect(question).to_be_visible()
    first, address = question.inner_text(), page.url
    page.get_by_role("button", name=re.compile("^Next")).click()
    expect(question).not_to_have_text(first)
    second = question.inner_text()
    settle(page)
    page.keyboard.press("ArrowLeft")
    expect(question).to_have_text(first)
    settle(page)
    page.go_back()
    expect(question).to_have_text(second)
    settle(page)
    page.goto(address)
    expect(question).to_have_text(first)
    page.get_by_role("link", name=re.compile("^All items of")).click()
    expect(page.get_by_text(narrowed)).to_be_visible()
    click_first_item(page)
    expect(question).to_have_text(first)
    settle(page)
    page.go_back()
    expect(page.get_by_text(narrowed)).to_be_visible()


def test_two_runs_are_compared_knobs_flip_the_gate_and_ten_answers_are_graded(served: Server, page: Page) -> None:
    page.goto(f"{served.url}/compare")
    expect(page.get_by_text(re.compile("items broke and"))).to_be_visible()
    page.goto(f"{served.url}/playground")
    expect(page.get_by_text(re.compile("^Gate passes"))).to_be_visible()
    slider = page.get_by_role("slider", name=re.compile("Correctness"))
    slider.focus()
    for _ in range(10):
        slider.press("ArrowRight")
    expect(page.get_by_text(re.compile("^Gate fails"))).to_be_visible()
    page.goto(f"{served.url}/judge")
    for done in range(10):
        expect(page.get_by_text(f"{done} of 30 graded by you")).to_be_visible()
        settle(page)
        page.get_by_role("button", name="Passes" if done % 3 else "Fails").click()
    expect(page.get_by_text("10 of 30 graded by you")).to_be_visible()
    expect(page.get_by_text("Of 10 graded")).to_be_visible()

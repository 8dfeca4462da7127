"""How soon the pages stand on the screen, in Chromium: called by bench_pages.py on its workspace."""

import os
import re
import statistics
import sys
import time
from pathlib import Path
from typing import NamedTuple

import psutil
from playwright.sync_api import Page, sync_playwright

from tests.curation_app.served_app import Server, launch_chromium

PATIENCE_MS = 120_000
_SETTLED = "[data-testid=stApp][data-test-script-state=notRunning]"


class Opening(NamedTuple):
    """A page and what must stand on the screen before a person can read it."""

    page: str
    telling: str
    goal_s: float


OPENINGS = (
    Opening("scores", "[data-testid=stMetric]", 1.5),
    Opening("scores", "[data-testid=stDataFrame] canvas", 1.5),
    Opening("compare", ".stVegaLiteChart canvas, .stVegaLiteChart svg", 1.5),
    Opening("trends", ".stVegaLiteChart canvas, .stVegaLiteChart svg", 1.5),
    Opening("monitor", "[data-testid=stMetric]", 2.0),
    Opening("monitor", ".stVegaLiteChart canvas, .stVegaLiteChart svg", 2.0),
)


def bench_browser(workspace: Path, *, rounds: int = 5) -> None:
    """Time each page: opened by a click in the navigation, and the monitor under another filter."""
    server = Server(workspace)
    process = psutil.Process(server.start().pid)
    try:
        with sync_playwright() as playwright:
            browser = launch_chromium(playwright)
            context = browser.new_context(viewport={"width": 1440, "height": 900})
            context.add_cookies([{"name": "errata_reviewer", "value": "Ada", "url": server.url}])
            page = context.new_page()
            page.set_default_timeout(PATIENCE_MS)
            page.goto(f"{server.url}/queue")
            page.wait_for_selector(_SETTLED)
            page.wait_for_timeout(1000)
            for opening in OPENINGS:
                cpu = sum(process.cpu_times()[:2])
                seconds = [_open(page, opening) for _ in range(rounds)]
                spent = (sum(process.cpu_times()[:2]) - cpu) / rounds
                _say(f"browser {opening.page}: {opening.telling[:34]}", seconds, opening.goal_s, spent)
            _say("browser monitor: another model chosen", _filters(page, server.url), 1.0)
            browser.close()
    finally:
        server.stop()


def _open(page: Page, opening: Opening) -> float:
    """Click through to a page from another one; return seconds until the telling part is drawn."""
    page.get_by_role("link", name=re.compile("^Playground")).first.click()
    page.wait_for_selector("text=Turn the knobs")
    page.wait_for_selector(_SETTLED)
    page.wait_for_timeout(400)
    started = time.perf_counter()
    page.get_by_role("link", name=re.compile(f"^{opening.page.capitalize()}")).first.click()
    page.wait_for_selector(f"h1:has-text('{opening.page.capitalize()}')")
    page.wait_for_selector(opening.telling)
    return time.perf_counter() - started


def _filters(page: Page, url: str) -> list[float]:
    page.goto(f"{url}/monitor")
    page.wait_for_selector(".stVegaLiteChart canvas, .stVegaLiteChart svg")
    seconds = []
    for model in ("small", "large"):
        page.wait_for_selector(_SETTLED)
        page.get_by_role("combobox", name=re.compile("^Model")).first.click()
        before = page.inner_text("[data-testid=stMetricValue]")
        started = time.perf_counter()
        page.get_by_role("option", name=model, exact=True).click()
        page.wait_for_function(
            "before => document.querySelector('[data-testid=stMetricValue]').innerText !== before", arg=before
        )
        seconds.append(time.perf_counter() - started)
    return seconds


def _say(name: str, seconds: list[float], goal_s: float, cpu_s: float | None = None) -> None:
    worked = f", server worked {cpu_s:.2f} s" if cpu_s is not None else ""
    sys.stdout.write(
        f"{name:<58} first {seconds[0]:.2f} s, median {statistics.median(seconds):.2f}, worst {max(seconds):.2f} "
        f"(goal {goal_s}){worked}, load {os.getloadavg()[0]:.1f}\n"
    )

"""Photograph every page of the app on the demo, light and dark, into docs/images: `make images`."""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

from curation_app.labels import DecisionKind, LabelContent
from curation_app.review_items import Decision
from curation_app.service.labelling import Desk, open_desk
from curation_app.workspace import Workspace
from evalsets.items import GoldChunk, Mode
from tests.curation_app.served_app import Server, launch_chromium

ROOT = Path(__file__).parents[1]
REVIEWER = "Ada"
DOUBLE_LABELLED = 14
DISAGREE_EVERY = 5


def main() -> None:
    """Prepare a workspace with something on every page, and photograph each."""
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        workspace = _prepared(Path(folder) / "help-desk")
        server = Server(workspace.root)
        server.start()
        try:
            with sync_playwright() as playwright:
                browser = launch_chromium(playwright)
                for scheme in ("light", "dark"):
                    _photograph(browser, server.url, scheme, options)
                browser.close()
        finally:
            server.stop()


def _photograph(browser: Browser, url: str, scheme: Any, options: argparse.Namespace) -> None:
    options.out.mkdir(parents=True, exist_ok=True)
    context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme=scheme)
    context.add_cookies([{"name": "errata_reviewer", "value": REVIEWER, "url": url}])
    page = context.new_page()
    for name in options.pages or _page_names():
        page.goto(f"{url}/{name}")
        _settle(page)
        if name == "label":
            _fill_in(page)
        page.screenshot(path=options.out / f"{name}-{scheme}.png")
        sys.stdout.write(f"{name}-{scheme}.png\n")
    context.close()


def _page_names() -> list[str]:
    """Name the pages that show something without being told of what, as an item and a list behind a figure are."""
    names = {path.stem for path in (ROOT / "curation_app" / "pages").glob("*.py")}
    return sorted(names - {"__init__", "item", "interactions"})


def _settle(page: Page) -> None:
    page.wait_for_selector(".st-key-errata-who", timeout=60_000)
    page.wait_for_function("() => !document.querySelector('[data-testid=stStatusWidget]')", timeout=60_000)
    page.wait_for_timeout(1500)


def _fill_in(page: Page) -> None:
    """Pick a mode and a chunk, and search the corpus, so that the evidence shows."""
    page.wait_for_selector(".errata-question")
    page.keyboard.press("2")
    page.wait_for_timeout(900)
    if "gold: none yet" in page.inner_text(".errata-evidence"):
        page.keyboard.press("a")
    passages = " ".join(page.locator(".errata-chunk summary").all_inner_texts())
    fact = next(iter(re.findall(r"\d+ (?:days|months|minutes|hours|invoices|users)", passages)), "")
    page.get_by_label("Facts the answer must contain").focus()
    page.keyboard.press("Control+a")
    page.keyboard.type(fact)
    page.wait_for_timeout(1500)
    page.keyboard.press("Escape")
    expect(page.locator(".status")).to_contain_text("saved at", timeout=60_000)
    page.wait_for_timeout(1200)


def _prepared(folder: Path) -> Workspace:
    command = [sys.executable, "-c", "from curation_app.cli import main; main()", "demo", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    workspace = Workspace(folder)
    _label_twice(open_desk(workspace))
    return workspace


def _label_twice(desk: Desk) -> None:
    """Let two people read the same items, and differ on some, so that the Review page has something to show."""
    codes = {Mode.GROUNDING_FAILURE: "outdated figure", Mode.RETRIEVAL_MISS: "asked in other words"}
    for number in range(DOUBLE_LABELLED):
        item = desk.store.next_item("Ben")
        if item is None:
            return
        turn = item.candidate.flagged_turn
        mode = Mode.GROUNDING_FAILURE if turn.retrieved else Mode.OUT_OF_SCOPE
        gold = tuple(GoldChunk(chunk_id=chunk.chunk_id) for chunk in turn.retrieved[:1])
        for reader in ("Ben", "Cleo"):
            differs = reader == "Cleo" and number % DISAGREE_EVERY == 0 and turn.retrieved
            said = Mode.RETRIEVAL_MISS if differs else mode
            content = LabelContent(
                mode=said, gold_chunks=gold, sub_code=codes.get(said, ""), note="read against the handbook"
            )
            shown = desk.store.item(item.candidate.candidate_id, reader)
            desk.store.submit(Decision(item.candidate.candidate_id, reader, DecisionKind.LABEL, content, shown.token))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", help="Pages to photograph; default: all.")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images")
    return parser.parse_args()


if __name__ == "__main__":
    main()

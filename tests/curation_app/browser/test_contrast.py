from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

import curation_app
from curation_app.labels import DecisionKind, LabelContent
from curation_app.review_items import Decision
from curation_app.service.labelling import Desk
from evalsets.items import GoldChunk, Mode

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

FAINT_TEXT = (Path(__file__).parents[1] / "contrast.js").read_text(encoding="utf-8")
UNNAMED_FIELDS = """
() => [...document.querySelectorAll("input, textarea, select, button")].filter((each) => {
  const box = each.getBoundingClientRect();
  if (box.width < 2 || box.height < 2 || each.tabIndex < 0) return false;
  const labels = [...(each.labels ?? [])].map((label) => label.textContent).join("");
  const marks = ["aria-label", "aria-labelledby", "title", "placeholder"].map((mark) => each.getAttribute(mark) ?? "");
  return !(labels + marks.join("") + each.textContent).trim();
}).map((each) => each.outerHTML.slice(0, 200))
"""
PAGES = sorted(
    path.stem for path in (Path(curation_app.__file__).parent / "pages").glob("*.py") if path.stem != "__init__"
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_what_is_behind_it_and_every_field_has_a_name(
    desk: Desk, server: Any, chromium: Browser, add_candidates: Callable[[int], None], scheme: Any
) -> None:
    add_candidates(4)
    item = desk.store.item("c00003", "Ann")
    content = LabelContent(mode=Mode.REFUSAL, gold_chunks=(GoldChunk(chunk_id="kb-003#0"),), expected="30 days.")
    desk.store.submit(Decision("c00003", "Ann", DecisionKind.LABEL, content, item.token))
    server.start()
    context = chromium.new_context(viewport={"width": 1440, "height": 900}, color_scheme=scheme)
    context.add_cookies([{"name": "errata_reviewer", "value": "Ann", "url": server.url}])
    page = context.new_page()
    faults = {}
    for name in PAGES:
        page.goto(f"{server.url}/{name}")
        page.wait_for_selector(".st-key-errata-who", timeout=60_000)
        page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]", timeout=60_000)
        page.wait_for_timeout(400)
        faults[name] = [*page.evaluate(FAINT_TEXT), *page.evaluate(UNNAMED_FIELDS)]
    context.close()
    assert len(faults) > 10
    assert {name: found for name, found in faults.items() if found} == {}

"""One item of a run on a page of its own: what its address says, what stands on it, and the items beside it."""

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from curation_app.service.item_lists import ItemAddress, ItemFilter, address_of, chosen_items, neighbours
from curation_app.service.run_history import load_report, stored_runs

pytestmark = pytest.mark.xdist_group("scores")


def draw(pages: Path, address: ItemAddress) -> AppTest:
    app = AppTest.from_file(str(pages / "item.py"), default_timeout=60)
    app.session_state["reviewer"] = "Ada"
    for name, value in address.query().items():
        app.query_params[name] = value
    app.run()
    assert not app.exception, [exception.message for exception in app.exception]
    return app


def test_an_address_says_which_item_and_among_which_others_and_is_read_back() -> None:
    address = ItemAddress("a run", "an item", ItemFilter("failed", "refusal", "card"))
    assert address_of(address.query()) == address
    assert address_of({"of_run": "a run", "among_items": "no such choice"}) == ItemAddress("a run", "")


def test_the_items_beside_one_are_those_of_the_filter_in_the_order_of_the_set(demo: Any) -> None:
    items = load_report(stored_runs(demo.workspace)[0].path).items
    failed = chosen_items(items, ItemFilter("failed"))
    assert 0 < len(failed) < len(items)
    assert all(not item.passed for item in failed)
    second = neighbours(items, ItemAddress("", failed[1].id, ItemFilter("failed")))
    assert second == (failed[0].id, failed[2].id, 2, len(failed))
    passed = next(item for item in items if item.passed)
    assert neighbours(items, ItemAddress("", passed.id, ItemFilter("failed"))) == ("", failed[0].id, 0, len(failed))
    assert [item.id for item in chosen_items(items, ItemFilter(words=passed.question[:9].upper()))].count(passed.id)


def test_the_page_shows_verdict_evidence_history_and_figures(in_demo: Path, demo: Any) -> None:
    run = stored_runs(demo.workspace)[0]
    failed = next(item for item in load_report(run.path).items if item.cause == "in context, left out of the answer")
    app = draw(in_demo, ItemAddress(run.summary.run_id, failed.id, ItemFilter("failed")))
    written = [markdown.value for markdown in app.markdown]
    assert any("Failed" in text and "missing" in text for text in written)
    assert any("What went wrong first" in text and "left out of the answer" in text for text in written)
    captions = [caption.value for caption in app.caption]
    assert any("is missing" in caption for caption in captions)
    assert any("Passed in" in caption and "of 3 runs" in caption for caption in captions)
    assert any("calls, retries included" in caption for caption in captions)
    assert any(expander.label.startswith("Every figure") for expander in app.expander)


def test_an_address_without_a_run_or_item_says_what_to_do(in_demo: Path, demo: Any) -> None:
    assert "Choose one on the Scores page" in draw(in_demo, ItemAddress("none", "none")).info[0].value
    run_id = stored_runs(demo.workspace)[0].summary.run_id
    assert "holds no such item" in draw(in_demo, ItemAddress(run_id, "none")).info[0].value

"""A page that looks again every second is left for another, which stays."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.curation_app.served_app import Server

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

PAGES = """
import time
import streamlit as st

@st.fragment(run_every=0.2)
def look() -> None:
    st.write("looked")

def first() -> None:
    look()
    if st.button("Leave"):
        time.sleep(1)  # the timer goes on meanwhile
        st.switch_page(pages[1])

def second() -> None:
    st.write("arrived")

pages = [st.Page(first), st.Page(second)]
st.navigation(pages).run()
"""
SERVE = """
import sys
from streamlit.web.cli import main
from curation_app.left_pages import forget_timers_of_left_pages
forget_timers_of_left_pages()
main(args=["run", *sys.argv[1:], "--server.headless=true", "--browser.gatherUsageStats=false"])
"""


@pytest.fixture
def page(chromium: Browser, tmp_path: Path) -> Iterator[Page]:
    script = tmp_path / "pages.py"
    script.write_text(PAGES)
    server = Server(tmp_path, ["-c", SERVE, str(script)])
    server.start()
    opened = chromium.new_page()
    opened.goto(server.url)
    yield opened
    opened.close()
    server.kill()


def test_a_timer_that_went_off_while_its_page_was_left_does_not_clear_the_next(page: Page) -> None:
    expect(page.get_by_text("looked")).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="Leave").click()
    expect(page.get_by_text("arrived")).to_be_visible(timeout=60_000)
    page.wait_for_timeout(1000)
    expect(page.get_by_text("arrived")).to_be_visible(timeout=1000)

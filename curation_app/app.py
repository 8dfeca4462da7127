"""The Streamlit app: its pages in the order of the work, with what waits on each."""

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from curation_app.components.identity import ask_reviewer, current_reviewer, keep_in_browser
from curation_app.components.page_text import markdown_text
from curation_app.service.overview import overview
from curation_app.workspace import app_workspace
from evalsets.errors import ErrataError
from ingest.warm_files import keep_files_warm

FOLDER = Path(__file__).parent


class PageEntry(NamedTuple):
    """One page: its file under pages/, its title and the count that says what waits there."""

    file: str
    title: str
    waiting: str = ""
    is_listed: bool = True
    """Whether it stands in the navigation; others are opened from a page."""


PAGES = (
    PageEntry("ingest", "Ingest"),
    PageEntry("queue", "Queue", "candidates"),
    PageEntry("label", "Label", "to_label"),
    PageEntry("review", "Review", "disagreements"),
    PageEntry("codes", "Sub-codes"),
    PageEntry("cases", "Cases"),
    PageEntry("freeze", "Freeze", "ready"),
    PageEntry("scores", "Scores"),
    PageEntry("item", "Item", is_listed=False),
    PageEntry("compare", "Compare"),
    PageEntry("playground", "Playground"),
    PageEntry("judge", "Judge"),
    PageEntry("health", "Health"),
    PageEntry("trends", "Trends"),
    PageEntry("monitor", "Monitor"),
    PageEntry("interactions", "Interactions", is_listed=False),
)
FIRST_PAGE = "queue"


def main() -> None:
    """Draw the navigation, ask who is reviewing, and run the page."""
    keep_files_warm()
    st.set_page_config(page_title="Errata", layout="wide")
    st.html(FOLDER / "components" / "errata.css")
    try:
        workspace = app_workspace()
        settings = workspace.settings()
    except ErrataError as error:
        st.error(markdown_text(str(error), 1000))
        st.stop()
    reviewer = current_reviewer()
    counts = overview(workspace, reviewer, settings.review).counts
    pages = {entry.file: _page(entry, counts) for entry in PAGES if _path(entry).is_file()}
    start = st.Page(partial(st.switch_page, pages[FIRST_PAGE]), title="Errata", default=True, visibility="hidden")
    page = st.navigation([start, *pages.values()], position="top")
    if not reviewer:
        ask_reviewer()
        st.stop()
    with st.container(key="errata-who", gap=None):
        keep_in_browser(reviewer)
        st.caption(f"{markdown_text(reviewer)} · {markdown_text(workspace.root.name)}", text_alignment="right")
    page.run()


def _path(entry: PageEntry) -> Path:
    return FOLDER / "pages" / f"{entry.file}.py"


def _page(entry: PageEntry, counts: dict[str, int]) -> Any:
    waiting = counts.get(entry.waiting, 0)
    title = f"{entry.title} {waiting:,}" if waiting else entry.title
    visibility: Any = "visible" if entry.is_listed else "hidden"
    return st.Page(_path(entry), title=title, url_path=entry.file, visibility=visibility)


main()

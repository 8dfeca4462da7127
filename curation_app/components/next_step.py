"""Links between pages: the next step of the loop, and what stands behind a figure."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError

PAGES_FOLDER = Path(__file__).parents[1] / "pages"


def show_next_step(page: str, label: str) -> None:
    """Draw the link to the next step at the end of a page."""
    show_link(page, label, icon=":material/arrow_forward:")


def show_link(page: str, label: str, query: Mapping[str, str] | None = None, *, icon: str | None = None) -> None:
    """Draw a link to a page of the app, such as `compare`; nothing when the page runs without the navigation."""
    path = PAGES_FOLDER / f"{page}.py"
    if not path.is_file():
        return
    with suppress(StreamlitPageNotFoundError):
        st.page_link(path, label=label, icon=icon, query_params=dict(query or {}))


def go_to(page: str, query: Mapping[str, str]) -> None:
    """Go to a page of the app now, so that the browser's back button leads here again."""
    st.switch_page(f"pages/{page}.py", query_params=dict(query))

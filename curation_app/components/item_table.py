"""The table of a run's items with its filter; a click opens an item on a page of its own."""

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from curation_app import session_keys
from curation_app.components.page_text import plain_line
from curation_app.service.evidence import MODE_WORDS
from curation_app.service.item_lists import SHOWN_CHOICES, ItemFilter, chosen_items
from evalsets.report import ItemResult

ITEM_ROWS = 50
TABLE_HEIGHT = 390
_COLUMNS = {
    "outcome": st.column_config.TextColumn("Outcome", width=95),
    "question": st.column_config.TextColumn("Question", width="large"),
    "mode": st.column_config.TextColumn("Mode", width=130),
    "why": st.column_config.TextColumn("Why", width="medium"),
    "cause": st.column_config.TextColumn("Cause", width="medium"),
    "id": st.column_config.TextColumn("Item", width="medium"),
}


def choose_filter(items: Sequence[ItemResult]) -> ItemFilter:
    """Draw the filter, kept in the address."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        shown = st.segmented_control("Items", SHOWN_CHOICES, default="all", key="items", bind="query-params")
        words_of = {mode.value: MODE_WORDS[mode] for mode in sorted({item.mode for item in items})}
        session_keys.take_from_address("mode", {mode: (words, words) for mode, words in words_of.items()})
        mode = st.selectbox(
            "Mode", list(words_of), index=None, placeholder="any", key="mode",
            bind="query-params", width=190, format_func=words_of.__getitem__,
        )  # fmt: skip
        words = st.text_input("Words", key="words", bind="query-params", width=220, placeholder="in question or answer")
    return ItemFilter(str(shown or "all"), str(mode or ""), (words or "").strip())


def pick_item(items: Sequence[ItemResult], filters: ItemFilter) -> str:
    """Draw the table, fifty rows a page; return the id of the row that was clicked, or an empty string."""
    rows = chosen_items(items, filters)
    if not rows:
        st.info("No item fits this filter. Clear one of its parts.")
        return ""
    st.caption(f"{len(rows):,} of {len(items):,} items. Click a row to read the item.")
    pages = math.ceil(len(rows) / ITEM_ROWS)
    page = min(session_keys.items_page_number(), pages)
    shown = rows[(page - 1) * ITEM_ROWS : page * ITEM_ROWS]
    selected = st.dataframe(
        _table(shown),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        column_config=_COLUMNS,
        height=TABLE_HEIGHT if len(shown) > ITEM_ROWS // 5 else "content",
        key=session_keys.items_table_key(page),
    )
    if pages > 1:
        st.pagination(pages, key=session_keys.ITEMS_PAGE, bind="query-params")
    picked = selected["selection"]["rows"]
    return shown[picked[0]].id if picked and picked[0] < len(shown) else ""


def _table(items: Sequence[ItemResult]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "outcome": [_outcome(item) for item in items],
            "question": [plain_line(item.question, 140) for item in items],
            "mode": [MODE_WORDS[item.mode] for item in items],
            "why": [plain_line(item.reason, 140) for item in items],
            "cause": [plain_line(item.cause, 60) for item in items],
            "id": [plain_line(item.id, 60) for item in items],
        }
    )


def _outcome(item: ItemResult) -> str:
    known = " (known)" if item.is_known_failing else ""
    return f"{'✓ passed' if item.passed else '✗ failed' if item.is_scored else '○ not scored'}{known}"

"""The list of candidates with its filters, kept in the URL, fifty rows a page."""

import math
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from curation_app import session_keys
from curation_app.components.identity import change_reviewer, current_reviewer
from curation_app.components.item_extras import progress_html
from curation_app.components.page_text import plain_line
from curation_app.review_queue import CandidateState, QueueFilter, QueueRow, QueueSort
from curation_app.service.evidence import MODE_WORDS
from curation_app.service.labelling import Desk
from curation_app.service.overview import overview
from evalsets.items import Mode
from ingest.settings import DEFAULT_WEIGHTS, QueueSettings

PAGE_SIZE = 50
_TENS_SHOWN = 8
_CHOICES = {
    "signal": "Signal",
    "mode": "Suggested mode",
    "model": "Model",
    "prompt_version": "Prompt",
    "language": "Language",
    "reviewer": "Reviewer",
    "batch": "Batch",
}

_TELLS_FROM = {"batch": 1}
"""Values from which on a filter tells candidates apart, where that is not two: most are in no batch."""
_KEYS = {"reviewer": "by"}
"""Names in the URL where the filter's own name is taken: the session keeps who is reviewing under `reviewer`."""


def show(desk: Desk) -> None:
    """Draw the filters, the counts and one page of rows; a click opens the item on the Label page."""
    st.write("What the log surfaced, most telling first. Open one, or start at the top of what the filters leave.")
    if not desk.workspace.review_path.exists():
        st.info("Nothing is here yet. `errata mine` surfaces candidates from the log; `errata ingest` loads one.")
        return
    filters = _filters(desk)
    page_number = session_keys.queue_page_number()
    page = desk.store.queue_page(filters, page=page_number, page_size=PAGE_SIZE)
    if page.total and not page.rows:
        # A narrower filter has fewer pages than the one that was open.
        page_number = session_keys.back_to_first_page()
        page = desk.store.queue_page(filters, page=page_number, page_size=PAGE_SIZE)
    _start(desk, filters, page.total)
    if not page.rows:
        st.info("No candidate fits these filters. Clear one of them, or mine more: `errata mine`.")
        return
    selected = st.dataframe(
        _table(page.rows),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        column_config=_COLUMNS,
        height="content",
        key=f"queue-rows-{page_number}",
    )
    _members(desk, page.rows)
    pages = math.ceil(page.total / PAGE_SIZE)
    if pages > 1:
        st.pagination(pages, key=session_keys.QUEUE_PAGE, bind="query-params")
    change_reviewer()
    rows = selected["selection"]["rows"]
    if rows:
        _open(desk, page.rows[rows[0]].candidate_id, filters)


def _filters(desk: Desk) -> QueueFilter:
    facets = desk.store.facets()
    values: dict[str, Any] = {}
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        values["text"] = st.text_input("Words in the question", key="text", bind="query-params", width=170)
        states = [state.value for state in CandidateState]
        values["state"] = _choice("state", "State", [(state, 0) for state in states])
        for name, label in _CHOICES.items():
            if len(facets.get(name, [])) >= _TELLS_FROM.get(name, 2):
                values[name] = _choice(name, label, facets[name])
        values["since"] = st.date_input("From", None, key="since", bind="query-params", width=124)
        values["until"] = st.date_input("To", None, key="until", bind="query-params", width=124)
        sorts = [sort.value for sort in QueueSort]
        values["sort"] = st.selectbox("Sort", sorts, key="sort", bind="query-params", width=124)
    return QueueFilter(**{name: value for name, value in values.items() if value})


def _choice(name: str, label: str, options: list[tuple[str, int]]) -> str:
    counts = dict(options)

    def plain(value: str) -> str:
        return MODE_WORDS[Mode(value)] if name == "mode" and value in list(Mode) else value.replace("_", " ")

    def words(value: str) -> str:
        return f"{plain(value)} {counts[value]:,}" if counts.get(value) else plain(value)

    session_keys.take_from_address(_KEYS.get(name, name), {value: (plain(value), words(value)) for value in counts})
    picked = st.selectbox(
        label,
        list(counts),
        index=None,
        format_func=words,
        key=_KEYS.get(name, name),
        bind="query-params",
        width=132,
        placeholder="any",
    )
    return str(picked or "")


def _start(desk: Desk, filters: QueueFilter, total: int) -> None:
    left = desk.store.remaining(current_reviewer(), filters)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{total:,}** candidates, **{left:,}** for you to label")
        begin = partial(session_keys.start_labelling, filters)
        st.button("Label these", type="primary", disabled=not left, on_click=begin)
        with st.popover("How priority is reckoned"):
            _explain_priority(desk)
    progress = overview(desk.workspace, current_reviewer(), desk.settings.review).progress
    if progress.labels:
        news = ", ".join(map(str, progress.new_kinds[-_TENS_SHOWN:]))
        st.html(progress_html(progress))
        st.caption(
            f"New kinds of failure in each ten labels, latest last: {news}. When twenty in a row show none, stop."
        )
    if session_keys.wants_label_page():
        st.switch_page("pages/label.py")


def _explain_priority(desk: Desk) -> None:
    st.write(
        "Each signal raises an item by its weight times how sure it is; several signals add up, and what many people "
        "asked comes earlier. Change a weight under [queue] in errata.toml."
    )
    st.write(_places(desk.settings.queue))
    weights = {signal: desk.settings.queue.weight(signal) for signal in DEFAULT_WEIGHTS}
    st.dataframe(
        [
            {"signal": signal.replace("_", " "), "weight": weight}
            for signal, weight in sorted(weights.items(), key=lambda each: -each[1])
        ],
        hide_index=True,
    )


def _places(queue: QueueSettings) -> str:
    """Say which of the flagged interactions come here when there are more than places."""
    return (
        f"When a log holds more flagged turns than the {queue.limit:,} places of queue.limit, "
        f"{1 - queue.signal_share:.0%} of these go to the highest priorities and {queue.signal_share:.0%} "
        "(queue.signal_share) are spread evenly over the signals and drawn by lot from queue.seed, so that weak ones "
        "are seen too; what a signal cannot fill goes to the others. Each candidate keeps the chance that it had among "
        "all that its signal flagged, from which rates of the whole log can be estimated."
    )


def _members(desk: Desk, rows: tuple[QueueRow, ...]) -> None:
    """Offer the members of the groups on this page, read only when asked for."""
    groups = {row.group_id: row.question for row in rows if row.group_size > 1}
    if not groups:
        return
    words = f"Members of the {len(groups)} groups on this page" if len(groups) > 1 else "Members of the group"
    with st.expander(words, key="queue-members", on_change="rerun") as members:
        if not members.open:
            return
        found = desk.store.group_members(list(groups))
        table = {
            "group": [plain_line(groups[row.group_id], 80) for row in found],
            "question": [plain_line(row.question, 160) for row in found],
            "asked": [row.asked_at for row in found],
            "state": [row.state.value for row in found],
            "by": [row.reviewer for row in found],
        }
        asked = st.column_config.DatetimeColumn("asked", format="YYYY-MM-DD HH:mm")
        st.dataframe(pd.DataFrame(table), hide_index=True, column_config={"asked": asked})


def _open(desk: Desk, candidate_id: str, filters: QueueFilter) -> None:
    session_keys.label_screen().filters = filters
    session_keys.label_screen().show(desk.store.item(candidate_id, current_reviewer()))
    st.switch_page("pages/label.py")


def _table(rows: tuple[QueueRow, ...]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "question": [plain_line(row.question, 160) for row in rows],
            "signals": [", ".join(signal.replace("_", " ") for signal in row.signals) for row in rows],
            "suggested": [_mode_words(row.suggested_mode) for row in rows],
            "state": [row.state.value for row in rows],
            "by": [row.reviewer for row in rows],
            "alike": [row.group_size for row in rows],
            "asked": [row.first_asked_at for row in rows],
            "last": [row.last_asked_at for row in rows],
            "model": [plain_line(row.model, 40) for row in rows],
            "prompt": [plain_line(row.prompt_version, 20) for row in rows],
            "priority": [row.priority for row in rows],
        }
    )


def _mode_words(mode: str) -> str:
    return MODE_WORDS[Mode(mode)] if mode in list(Mode) else ""


_COLUMNS = {
    "question": st.column_config.TextColumn("Question", width=380),
    "signals": st.column_config.TextColumn("Why it is here", width=210),
    "suggested": st.column_config.TextColumn("First guess", help="A suggestion with its evidence; never a label."),
    "state": st.column_config.TextColumn("State"),
    "by": st.column_config.TextColumn("By", width=100),
    "alike": st.column_config.NumberColumn(
        "Alike", help="How many candidates ask nearly the same; one of them stands here for all."
    ),
    "asked": st.column_config.DatetimeColumn("First asked", format="YYYY-MM-DD"),
    "last": st.column_config.DatetimeColumn("Last asked", format="YYYY-MM-DD"),
    "model": st.column_config.TextColumn("Model"),
    "prompt": st.column_config.TextColumn("Prompt"),
    "priority": st.column_config.NumberColumn("Priority", format="%.2f", width=60),
}

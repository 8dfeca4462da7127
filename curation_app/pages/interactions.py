"""The interactions behind a figure of the Monitor page, fifty at a time, and one of them to read or to queue."""

import math
from datetime import date

import streamlit as st

from curation_app import session_keys
from curation_app.components import interactions_view
from curation_app.components.identity import current_reviewer
from curation_app.components.next_step import show_link, show_next_step
from curation_app.components.page_text import markdown_text
from curation_app.service.surfacing import PAGE_SIZE, list_behind, put_in_queue, read_turn
from curation_app.workspace import Workspace, app_workspace
from evalsets.errors import ErrataError
from ingest.daily_reading import DailyFilter
from ingest.interaction_reading import ORDERS, Behind


def _asked_for(query: dict[str, str]) -> Behind:
    """Read the address; what it does not say does not narrow."""
    first, last = (date.fromisoformat(query[name]) if query.get(name) else None for name in ("since", "until"))
    filters = DailyFilter(first, last, query.get("source"), query.get("model"), query.get("prompt_version"))
    order = query.get("order", "")
    return Behind(filters, query.get("vote", ""), query.get("text", ""), order if order in ORDERS else "newest")


def _queue(workspace: Workspace, interaction_id: str) -> None:
    try:
        is_new = put_in_queue(workspace, interaction_id, by=current_reviewer())
    except ErrataError as error:
        session_keys.keep_problem(str(error))
        return
    session_keys.keep_notice("It is in the queue now." if is_new else "It stood in the queue already.")


def _show(workspace: Workspace) -> None:
    if not workspace.logs_path.exists():
        st.info("No log is loaded yet. Load one on the Ingest page, or with `errata ingest LOG --mapping NAME`.")
        return
    behind = _asked_for(st.query_params.to_dict())
    show_link("monitor", "Back to the Monitor", interactions_view.monitor_query(behind), icon=":material/arrow_back:")
    page = session_keys.interactions_page_number()
    listed = list_behind(workspace, behind, page=page)
    st.markdown(f"**{listed.total:,}** interactions: {markdown_text(interactions_view.in_words(behind), 300)}")
    if not listed.rows:
        st.info("No interaction is left. Go back and choose other days.")
        return
    picked = interactions_view.pick_row(listed.rows, page)
    pages = math.ceil(listed.total / PAGE_SIZE)
    if pages > 1:
        st.pagination(pages, key=session_keys.INTERACTIONS_PAGE)
    session_keys.show_problem()
    session_keys.show_notice()
    if picked:
        interactions_view.show_turn(read_turn(workspace, picked))
        st.button("Put it in the queue", type="primary", on_click=_queue, args=(workspace, picked))


def main() -> None:
    """Draw the page."""
    st.title("Interactions")
    st.caption("See the interactions behind a figure, whether or not a signal found them, and put one in the queue.")
    try:
        _show(app_workspace())
    except (ErrataError, ValueError) as error:
        st.error(markdown_text(str(error), 1000))
        return
    show_next_step("queue", "Next: label what went wrong")


main()

"""What stands around an item on its page: the way back, the items beside it, its history and what to do about it."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from curation_app import session_keys
from curation_app.components.next_step import go_to, show_link
from curation_app.components.page_text import markdown_text, plain_line
from curation_app.service.item_lists import ItemAddress, ItemFilter, Neighbours
from curation_app.service.item_reading import PastOutcome
from curation_app.service.run_history import StoredRun
from curation_app.service.set_health import Review, record_review
from curation_app.workspace import Workspace
from evalsets.errors import ErrataError

_OUTCOMES = {1: "✓ passed", 0: "✗ failed", -1: "○ not scored"}
_STRIP_RUNS = 30


def show_way(run: StoredRun, address: ItemAddress, beside: Neighbours) -> None:
    """Draw the link back to the table as it was left, and the buttons to the items before and after."""
    query = {"run": run.label, **address.filters.query()}
    with st.container(horizontal=True, vertical_alignment="center"):
        show_link("scores", f"All items of {markdown_text(run.label)}", query, icon=":material/arrow_back:")
        st.space("stretch")
        st.caption(_place(beside, address.filters), width="content")
        for label, key, item_id in (("Previous", "Left", beside.before), ("Next", "Right", beside.after)):
            if st.button(label, shortcut=key, disabled=not item_id, key=f"item-{label.lower()}"):
                go_to("item", address._replace(item_id=item_id).query())


def show_history(history: Sequence[PastOutcome], address: ItemAddress) -> None:
    """Draw what became of the item in the runs of its set; a click opens it in that run."""
    passed = sum(past.outcome == 1 for past in history)
    st.markdown("**History**")
    if len(history) <= 1:
        st.caption("This is the only run of the item so far.")
        return
    strip = " ".join(_OUTCOMES[past.outcome][0] for past in history[:_STRIP_RUNS][::-1])
    st.caption(f"Passed in {passed} of {len(history)} runs. The latest {min(len(history), _STRIP_RUNS)}: {strip}")
    table = pd.DataFrame(
        {
            "run": [plain_line(past.run.label, 120) for past in history],
            "outcome": [_OUTCOMES[past.outcome] for past in history],
        }
    )
    picked = st.dataframe(
        table, hide_index=True, on_select="rerun", selection_mode="single-row", key=f"history-{address.item_id}",
        height="content" if len(history) <= 6 else 245,  # noqa: PLR2004 - as many rows as stand without scrolling
    )["selection"]["rows"]  # fmt: skip
    if picked and picked[0] < len(history):
        chosen = history[picked[0]].run.summary.run_id
        if chosen != address.run_id:
            go_to("item", address._replace(run_id=chosen).query())
        st.caption("This is the run you are looking at.")


def show_correction(workspace: Workspace, set_name: str, item_id: str) -> None:
    """Draw the button that sends an item whose expectation is wrong back to the Label page."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "The expectation is wrong: label it again",
            on_click=_send_to_label,
            args=(workspace, set_name, item_id),
            help="The item waits on the Label page; the set changes only when the new label is frozen.",
        )
    session_keys.show_problem()
    session_keys.show_notice()


def _send_to_label(workspace: Workspace, set_name: str, item_id: str) -> None:
    try:
        done = record_review(workspace, set_name, Review(to_correct=(item_id,)), by=session_keys.reviewer_name())
    except ErrataError as error:
        session_keys.keep_problem(str(error))
        return
    sent = "It waits on the Label page now." if done.sent else "It waits on the Label page already."
    session_keys.keep_notice(sent)


def _place(beside: Neighbours, filters: ItemFilter) -> str:
    kind = "items" if filters == ItemFilter() else "items of the filter"
    return f"{beside.place} of {beside.total} {kind}" if beside.place else f"outside the {beside.total} {kind}"

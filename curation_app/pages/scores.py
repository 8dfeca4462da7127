"""The Scores page: run a pipeline over a set, read its scorecard, open any item."""

from functools import partial

import streamlit as st

from curation_app import session_keys
from curation_app.components import scorecard_view
from curation_app.components.item_table import choose_filter, pick_item
from curation_app.components.next_step import go_to, show_next_step
from curation_app.components.page_text import markdown_text
from curation_app.components.run_panel import show_looks, show_opening, show_run_form, show_running
from curation_app.service.item_lists import ItemAddress, address_of
from curation_app.service.run_history import StoredRun, baseline_summary, load_report, stored_runs
from curation_app.workspace import Workspace, app_workspace
from evalsets.errors import ErrataError
from evalsets.report import Report
from evalsets.report_formats import render
from evalsets.running.clock import load_clock

_SUFFIXES = {"text": "txt", "markdown": "md", "html": "html", "junit": "xml", "json": "json"}


def _choose_run(runs: list[StoredRun]) -> StoredRun:
    by_id = {run.summary.run_id: run for run in runs}
    session_keys.take_from_address(
        session_keys.SCORES_RUN, {run_id: (run.label, run.label) for run_id, run in by_id.items()}
    )
    picked = st.selectbox(
        "Run",
        list(by_id),
        format_func=lambda run_id: by_id[run_id].label,
        key=session_keys.SCORES_RUN,
        bind="query-params",
    )
    return by_id[str(picked)]


def _come_back() -> None:
    """Show what was shown before an item was opened: the browser's back button brings only the item's address."""
    address = address_of(st.query_params.to_dict())
    if address.run_id:
        session_keys.show_items_again(address)
        for name in address.query():
            del st.query_params[name]
        # In the run that the back button starts, fields listen to the address alone; the next one keeps their values.
        st.rerun()


def _show_run(workspace: Workspace, run: StoredRun) -> None:
    scorecard_view.show_headline(run.summary, baseline_summary(workspace, run.summary.set_name))
    show_looks(workspace, run.summary.set_name)
    scorecard_view.show_modes_and_causes(run.summary)
    scorecard_view.show_bars(run.summary)
    scorecard_view.show_halves(run.summary)
    scorecard_view.show_tags(run.summary)
    st.subheader("Items")
    report = load_report(run.path)
    filters = choose_filter(report.items)
    if item_id := pick_item(report.items, filters):
        session_keys.note_opened_item()
        go_to("item", ItemAddress(run.summary.run_id, item_id, filters).query())
    _show_downloads(run, report)


def _show_downloads(run: StoredRun, report: Report) -> None:
    clock = load_clock(run.path)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Download the report as")
        for form, suffix in _SUFFIXES.items():
            st.download_button(form, partial(render, report, form, clock), f"{run.summary.run_id}.{suffix}")


def main() -> None:
    """Draw the page."""
    st.title("Scores")
    st.caption("See what a pipeline gets right on your set, and which half of it to mend.")
    workspace = app_workspace()
    try:
        show_run_form(workspace)
        show_running(workspace)
        show_opening(workspace)
        runs = stored_runs(workspace)
        _come_back()
        if not runs:
            st.info("No run is stored yet. Start one above, or with `errata run`.")
            return
        _show_run(workspace, _choose_run(runs))
    except ErrataError as error:
        st.error(markdown_text(str(error), 1000))
        return
    show_next_step("compare", "Next: compare two runs")


main()

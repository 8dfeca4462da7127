"""The Scores page: run a pipeline over a set, read its scorecard, open any item."""

from functools import partial

import streamlit as st

from curation_app import session_keys
from curation_app.components import scorecard_view
from curation_app.components.item_view import show_item
from curation_app.components.next_step import show_next_step
from curation_app.components.page_text import markdown_text
from curation_app.components.run_panel import show_opening, show_run_form, show_running
from curation_app.service.item_reading import read_item
from curation_app.service.run_history import StoredRun, baseline_summary, load_report, stored_runs
from curation_app.workspace import Workspace, app_workspace
from evalsets.errors import ErrataError
from evalsets.report import Report, load_clock
from evalsets.report_formats import render

_SUFFIXES = {"text": "txt", "markdown": "md", "html": "html", "junit": "xml", "json": "json"}


def _choose_run(runs: list[StoredRun]) -> StoredRun:
    by_id = {run.summary.run_id: run for run in runs}
    picked = st.selectbox(
        "Run",
        list(by_id),
        format_func=lambda run_id: by_id[run_id].label,
        key=session_keys.SCORES_RUN,
        bind="query-params",
    )
    return by_id[str(picked)]


def _show_run(workspace: Workspace, run: StoredRun, runs: list[StoredRun]) -> None:
    scorecard_view.show_headline(run.summary, baseline_summary(workspace, run.summary.set_name))
    scorecard_view.show_modes_and_causes(run.summary)
    scorecard_view.show_bars(run.summary)
    scorecard_view.show_halves(run.summary)
    scorecard_view.show_tags(run.summary)
    st.subheader("Items")
    report = load_report(run.path)
    item_id = scorecard_view.choose_item(report.items)
    if item_id:
        reading = read_item(workspace, report, item_id, runs)
        if reading is not None:
            show_item(reading)
    else:
        st.caption("Click a row to read the item.")
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
        if not runs:
            st.info("No run is stored yet. Start one above, or with `errata run`.")
            return
        _show_run(workspace, _choose_run(runs), runs)
    except ErrataError as error:
        st.error(markdown_text(str(error), 1000))
        return
    show_next_step("compare", "Next: compare two runs")


main()

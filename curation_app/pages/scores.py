"""The Scores page: run a pipeline over a set, read its scorecard, open any item."""

import streamlit as st

from curation_app.components.item_view import show_item
from curation_app.components.next_step import show_next_step
from curation_app.components.page_text import markdown_text
from curation_app.components.run_panel import show_run_form, show_running
from curation_app.components.scorecard_view import choose_item, show_halves, show_headline, show_modes_and_causes
from curation_app.service.item_reading import read_item
from curation_app.service.run_history import StoredRun, baseline_summary, load_report, stored_runs
from curation_app.workspace import Workspace, app_workspace
from evalsets.errors import ErrataError


def _choose_run(runs: list[StoredRun]) -> StoredRun:
    by_id = {run.summary.run_id: run for run in runs}
    picked = st.selectbox(
        "Run", list(by_id), format_func=lambda run_id: by_id[run_id].label, key="run", bind="query-params"
    )
    return by_id[str(picked)]


def _show_run(workspace: Workspace, run: StoredRun, runs: list[StoredRun]) -> None:
    show_headline(run.summary, baseline_summary(workspace, run.summary.set_name))
    show_modes_and_causes(run.summary)
    show_halves(run.summary)
    st.subheader("Items")
    report = load_report(run.path)
    item_id = choose_item(report.items)
    if item_id:
        reading = read_item(workspace, report, item_id, runs)
        if reading is not None:
            show_item(reading)
    else:
        st.caption("Click a row to read the item.")
    st.download_button("Download the report (JSON)", report.to_bytes, f"{run.summary.run_id}.json", "application/json")


def main() -> None:
    """Draw the page."""
    st.title("Scores")
    st.caption("See what a pipeline gets right on your set, and which half of it to mend.")
    workspace = app_workspace()
    try:
        show_run_form(workspace)
        show_running(workspace)
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

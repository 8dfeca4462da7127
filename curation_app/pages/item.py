"""The page of one item of a run: why its answer passed or failed, beside the evidence and its history."""

import streamlit as st

from curation_app.components.item_frame import show_correction, show_history, show_way
from curation_app.components.item_view import show_figures, show_item
from curation_app.components.next_step import show_next_step
from curation_app.components.page_text import markdown_text
from curation_app.service.item_lists import address_of, neighbours
from curation_app.service.item_reading import read_item
from curation_app.service.run_history import load_report, stored_runs
from curation_app.workspace import Workspace, app_workspace
from evalsets.errors import ErrataError


def _show(workspace: Workspace) -> None:
    address = address_of(st.query_params.to_dict())
    runs = stored_runs(workspace)
    run = next((run for run in runs if run.summary.run_id == address.run_id), None)
    if run is None:
        st.info("No stored run is named here. Choose one on the Scores page and click one of its items.")
        return
    show_way(run, address, neighbours(load_report(run.path).items, address))
    reading = read_item(workspace, run, address.item_id, runs)
    if reading is None:
        st.info("The run holds no such item. Go back to its items and click one.")
        return
    show_item(reading)
    show_history(reading.history, address)
    show_figures(reading.result)
    show_correction(workspace, run.summary.set_name, address.item_id)


def main() -> None:
    """Draw the page."""
    st.title("Item")
    st.caption("See why this answer passed or failed, with the evidence beside it.")
    try:
        _show(app_workspace())
    except ErrataError as error:
        st.error(markdown_text(str(error), 1000))
        return
    show_next_step("compare", "Next: see whether a change breaks or mends it")


main()

"""The Compare page: two or more runs, what moved, and the items that broke or were fixed."""

import streamlit as st

from curation_app.components import compare_view
from curation_app.components.next_step import show_next_step
from curation_app.components.page_text import markdown_text
from curation_app.components.sweep_view import show_sweep
from curation_app.service.comparing import compare_runs, earlier_runs, stored_sweeps
from curation_app.service.run_history import StoredRun, stored_runs
from curation_app.service.set_places import set_names
from curation_app.workspace import Workspace, app_workspace
from evalsets.errors import ErrataError

MOST_RUNS = 4


def _choose_set(runs: list[StoredRun], workspace: Workspace) -> str:
    run_sets = {run.summary.set_name for run in runs}
    names = [name for name in set_names(workspace) if name in run_sets]
    names += sorted(run_sets - set(names))
    return names[0] if len(names) == 1 else str(st.selectbox("Set", names, key="set", bind="query-params"))


def _show(workspace: Workspace) -> None:
    runs = stored_runs(workspace)
    if not runs:
        st.info("No run is stored yet. Start one on the Scores page, or with `errata run`.")
        return
    chosen_set = _choose_set(runs, workspace)
    of_set = [run for run in runs if run.summary.set_name == chosen_set]
    later = {run.label: run.path for run in of_set}
    earlier = earlier_runs(of_set, workspace.sets_folder, chosen_set)
    if len(earlier) < 2:  # noqa: PLR2004 - a run and something to compare it with
        st.info("There is only one run of this set. Run it again after a change, then come back.")
        return
    left, right = st.columns(2)
    before = left.selectbox("Before", list(earlier), index=0 if len(earlier) > len(later) else 1)
    after = right.multiselect("After", list(later), default=list(later)[:1], max_selections=MOST_RUNS)
    if not after:
        st.info("Pick a run under After.")
        return
    comparisons = {label: compare_runs(earlier[str(before)], later[label]) for label in after}
    if len(comparisons) > 1:
        compare_view.show_several(comparisons)
    focus = after[0] if len(after) == 1 else st.segmented_control("Look at", after, default=after[0], required=True)
    comparison = comparisons[str(focus)]
    compare_view.show_finding(comparison)
    compare_view.show_deltas(comparison)
    compare_view.show_turned(comparison)
    compare_view.show_causes(comparison)


def _show_sweeps(workspace: Workspace) -> None:
    st.subheader("Sweeps")
    sweeps = stored_sweeps(workspace.runs_folder)
    if not sweeps:
        st.caption('A grid of settings at once: `errata sweep --grid top_k=1,3,5 --expect "recall rises with top_k"`')
        return
    chosen = st.selectbox("Sweep", list(sweeps), key="sweep", bind="query-params")
    show_sweep(sweeps[str(chosen)])


def main() -> None:
    """Draw the page."""
    st.title("Compare")
    st.caption("See what a change did: which figures moved by more than chance, and which items broke or were fixed.")
    try:
        _show(app_workspace())
        _show_sweeps(app_workspace())
    except ErrataError as error:
        st.error(markdown_text(str(error), 1000))
        return
    show_next_step("trends", "Next: see how the set has gone over time")


main()

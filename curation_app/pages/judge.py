"""The Judge page: grade thirty answers blind, and see how far the judge can be trusted."""

from functools import partial

import streamlit as st

from curation_app import session_keys
from curation_app.components import judge_view
from curation_app.components.identity import current_reviewer
from curation_app.components.next_step import show_next_step
from curation_app.components.page_text import markdown_text
from curation_app.service.judging import Grading, graded_judges, open_grading
from curation_app.service.run_history import StoredRun, stored_runs
from curation_app.workspace import Workspace, app_workspace
from evalsets.errors import ErrataError
from evalsets.judges.gate_right import may_gate


def _enter(workspace: Workspace, run: StoredRun, item_id: str, human: bool | None, note_key: str) -> None:  # noqa: FBT001 - a verdict
    grading = open_grading(run.path, workspace, by=current_reviewer())
    answer = next((waiting for waiting in grading.waiting if waiting.item_id == item_id), None)
    if answer is not None:
        grading.graded(answer, human=human, note=str(session_keys.widget_value(note_key) or ""))


def _choose_run(runs: list[StoredRun]) -> StoredRun:
    by_id = {run.summary.run_id: run for run in runs}
    picked = st.selectbox(
        "Run whose judge to check",
        list(by_id),
        format_func=lambda run_id: f"{by_id[run_id].label} · judge {by_id[run_id].summary.judge}",
        key="run",
        bind="query-params",
    )
    return by_id[str(picked)]


def _show(workspace: Workspace) -> None:
    runs = stored_runs(workspace)
    if not runs:
        st.info("No run is stored yet, so no answer was judged. Start one on the Scores page.")
        return
    run = _choose_run(runs)
    grading: Grading = open_grading(run.path, workspace, by=current_reviewer())
    waiting = grading.waiting
    if waiting:
        judge_view.show_answer_to_grade(waiting[0], grading, partial(_enter, workspace, run))
        st.divider()
    else:
        st.success(f"You have graded all {len(grading.book.drawn)} answers that were drawn.")
    st.subheader("How far the judge agrees with people")
    reference = grading.report.judge
    is_model = not reference.may_gate
    judge_view.show_agreement(grading.book, may_gate(reference.fingerprint, grading.folder, is_model=is_model))
    judge_view.show_over_time(graded_judges(workspace, run.summary.set_name))


def main() -> None:
    """Draw the page."""
    st.title("Judge")
    st.caption(
        "Grade thirty answers without seeing the judge's verdict: only a judge that agrees with people may gate."
    )
    try:
        _show(app_workspace())
    except ErrataError as error:
        st.error(markdown_text(str(error), 1000))
        return
    show_next_step("compare", "Next: compare two runs")


main()

"""The Health page: whether a set is still true, balanced, and fits its corpus."""

import streamlit as st

from curation_app import session_keys
from curation_app.components import health_actions, health_view
from curation_app.components.next_step import show_next_step
from curation_app.components.page_text import markdown_text
from curation_app.service.set_coverage import coverage_of
from curation_app.service.set_health import SetHealth, health_of
from curation_app.service.set_places import set_name, set_names
from curation_app.workspace import Workspace, app_workspace
from evalsets.errors import ErrataError


def _chosen_set(workspace: Workspace) -> str:
    names = set_names(workspace) or [set_name(workspace)]
    return names[0] if len(names) == 1 else str(st.selectbox("Set", names, key=session_keys.HEALTH_SET, width=220))


def _tell_outcome() -> None:
    kind, words = session_keys.widget_value(session_keys.HEALTH_OUTCOME) or ("", "")
    if words:
        (st.success if kind == "success" else st.error)(markdown_text(words, 3000))


def _show_traffic(workspace: Workspace, name: str) -> None:
    st.subheader("Against traffic")
    try:
        health_view.show_coverage(coverage_of(workspace, name))
    except ErrataError as error:
        st.info(markdown_text(str(error), 1000))


def _show_drift(workspace: Workspace, name: str) -> None:
    st.subheader("Does gold still stand in the corpus")
    asked_for, drifted = session_keys.widget_value(session_keys.HEALTH_DRIFT) or ("", None)
    if asked_for == name:
        health_view.show_drift(drifted)
    check, mend = st.columns([1, 3])
    check.button("Check now", on_click=health_actions.look_for_drift, args=(workspace, name))
    if asked_for == name and drifted is not None and not drifted.report.fits:
        mend.button(
            "Repair what moved, send the rest to Label", on_click=health_actions.mend_drift, args=(workspace, name)
        )


def _show_review(workspace: Workspace, health: SetHealth) -> None:
    st.subheader("Still right?")
    st.caption("The items confirmed longest ago. What you confirm or retire becomes one new version.")
    with st.form("health_review"):
        health_view.show_due(health.due)
        if workspace.settings().review.reviewers > 1:
            st.text_input("Signed off by a second person", key=session_keys.HEALTH_SIGNATURE)
        ids = [each.item.id for each in health.due]
        st.form_submit_button(
            "Record the review",
            type="primary",
            on_click=health_actions.record,
            args=(workspace, health.eval_set.name, ids),
        )


def main() -> None:
    """Draw the page."""
    st.title("Health")
    st.caption("Whether the set is still true, balanced like traffic, and fits its corpus.")
    _tell_outcome()
    try:
        workspace = app_workspace()
        name = _chosen_set(workspace)
        health = health_of(workspace, name)
    except ErrataError as error:
        st.info(markdown_text(str(error), 1000))
        return
    health_view.show_headline(health)
    mix, growth = st.columns(2)
    with mix:
        health_view.show_mix(health)
    with growth:
        health_view.show_growth(health)
    _show_drift(workspace, name)
    _show_review(workspace, health)
    st.subheader("Known failing")
    health_view.show_known_failing(health)
    st.subheader("Items to question")
    health_view.show_questionable(health)
    _show_traffic(workspace, name)
    st.subheader("Held-out items")
    health_view.show_ledger(health)
    show_next_step("freeze", "Freeze what was relabelled")


main()

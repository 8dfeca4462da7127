"""The Freeze page: what is ready, what waits and why, what would change, the checks, and the freeze itself."""

import streamlit as st

from curation_app import session_keys
from curation_app.components.diff_view import show_list, show_outline
from curation_app.components.freeze_actions import freeze_or_propose
from curation_app.components.next_step import show_next_step
from curation_app.components.page_text import markdown_text
from curation_app.service.freezing import FreezeDesk, open_freeze_desk
from curation_app.service.set_places import set_name, set_names
from curation_app.workspace import Workspace, app_workspace
from evalsets.errors import ErrataError


def _chosen_set(workspace: Workspace) -> str:
    names = list(dict.fromkeys([set_name(workspace), *set_names(workspace)]))
    if len(names) == 1:
        return names[0]
    return st.selectbox("Set", names, key=session_keys.FREEZE_SET)


def _show_counts(desk: FreezeDesk) -> None:
    plan = desk.plan
    ready, waiting, errors, warnings = st.columns(4)
    ready.metric("Ready", len(desk.ready))
    waiting.metric("Waiting", len(desk.blocked))
    errors.metric("Failing checks", len(plan.report.errors))
    warnings.metric("Warnings", len(plan.report.warnings))
    held = len(plan.held_out_ids)
    st.caption(
        f"{desk.name}: version {plan.before.version or 'none yet'} now; version {plan.after.version} would hold "
        f"{len(plan.after.items)} items" + (f", {held} of them held out and not shown here" if held else "")
    )


def _show_changes(desk: FreezeDesk) -> None:
    st.subheader("What would change")
    if not desk.plan.is_new:
        st.info("Nothing differs from the newest version. Label more, then come back.")
        return
    st.markdown(desk.shown_outline().summary)
    show_outline(desk.shown_outline())


def _show_waiting(desk: FreezeDesk) -> None:
    if desk.blocked:
        st.subheader("What waits")
        show_list([(each.item.id, each.item.question, "; ".join(each.blockers)) for each in desk.blocked])


def _show_checks(desk: FreezeDesk) -> None:
    st.subheader("Checks")
    findings = desk.shown_findings()
    if not findings:
        st.success("Every check passes.")
        return
    show_list([(each.code, each.severity.value, each.text) for each in findings])


def _show_form(workspace: Workspace, desk: FreezeDesk) -> None:
    waiting = desk.proposal
    if waiting is not None:
        st.info(markdown_text(f"{waiting.proposed_by} proposes this version: {waiting.note}", 500))
    with st.form("freeze_form"):
        st.text_input("Your name", value=session_keys.reviewer_name(), key=session_keys.FREEZE_PERSON)
        st.text_input("Note: what this version adds, and why", key=session_keys.FREEZE_NOTE)
        if desk.error_codes:
            st.multiselect("Let these checks fail", desk.error_codes, key=session_keys.FREEZE_ALLOW)
            st.text_input("Why they may fail", key=session_keys.FREEZE_REASON)
        label = (
            "Freeze" if not desk.needs_sign_off else "Sign and freeze" if waiting else "Propose for a second signature"
        )
        st.form_submit_button(label, type="primary", on_click=freeze_or_propose, args=(workspace, desk.name))


def main() -> None:
    """Draw the page."""
    st.title("Freeze")
    st.caption("Turn accepted labels into the next version of the eval set, for review as a pull request.")
    kind, words = session_keys.widget_value(session_keys.FREEZE_OUTCOME) or ("", "")
    if words:
        (st.success if kind == "success" else st.error)(markdown_text(words, 3000))
    try:
        workspace = app_workspace()
        desk = open_freeze_desk(workspace, _chosen_set(workspace))
    except ErrataError as error:
        st.error(markdown_text(str(error), 3000))
        return
    if not desk.ready and not desk.plan.before.version:
        st.info("No label is accepted yet. Label some candidates on the Label page; they appear here.")
    _show_counts(desk)
    _show_changes(desk)
    _show_checks(desk)
    _show_waiting(desk)
    if desk.plan.is_new and desk.plan.after.items:
        _show_form(workspace, desk)
    if desk.plan.before.version:
        show_next_step("scores", "Run a pipeline on the set")


main()

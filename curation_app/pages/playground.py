"""The Playground page: turn the knobs of the built-in pipeline and see figures and gate move."""

import streamlit as st

from curation_app.components import playground_view
from curation_app.components.next_step import show_next_step
from curation_app.components.page_text import markdown_text
from curation_app.service.playing import play_question, play_set
from curation_app.service.set_places import set_names
from curation_app.workspace import Workspace, app_workspace
from evalsets.errors import ErrataError


def _show(workspace: Workspace) -> None:
    sets = set_names(workspace)
    question = st.text_input("Question", placeholder="leave empty to run the whole set", key="question")
    knobs = playground_view.turn_knobs()
    if question and question.strip():
        playground_view.show_answer(play_question(workspace, question, knobs))
        return
    if not sets:
        st.info("No set is frozen yet: type a question, or freeze a set on the Freeze page.")
        return
    chosen = sets[0] if len(sets) == 1 else str(st.selectbox("Set", sets, key="set", bind="query-params"))
    playground_view.show_score(play_set(workspace, chosen, knobs))


def main() -> None:
    """Draw the page."""
    st.title("Playground")
    st.caption("Turn the knobs of the built-in keyword pipeline and see what moves, with the runner's own metrics.")
    try:
        _show(app_workspace())
    except ErrataError as error:
        st.error(markdown_text(str(error), 1000))
        return
    show_next_step("scores", "Next: run it and keep the report")


main()

"""The Sub-codes page: the kinds of failure that emerged under each mode, to merge and to split."""

from functools import partial

import streamlit as st

from curation_app import session_keys
from curation_app.components.identity import current_reviewer
from curation_app.components.modes import MODE_SHAPES
from curation_app.components.page_text import markdown_text, plain_line
from curation_app.service.coding import CodeUse, code_uses, merge_codes, split_code
from curation_app.service.evidence import MODE_WORDS
from curation_app.service.labelling import Desk, open_desk
from curation_app.workspace import app_workspace
from evalsets.errors import ErrataError

EXAMPLES = 30


def main() -> None:
    """Draw each sub-code with its count, its examples and the two ways to change it."""
    desk = open_desk(app_workspace())
    st.write("Kinds of failure in your own words. Merge what means the same, split what means two things.")
    uses = code_uses(desk.store) if desk.workspace.review_path.exists() else []
    if not uses:
        st.info("No label has a sub-code yet. Write one on the Label page, under the expected answer.")
        return
    session_keys.show_problem()
    for number, use in enumerate(uses):
        code = markdown_text(use.code) if use.code else "no sub-code"
        with st.expander(f"{MODE_SHAPES[use.mode]} {MODE_WORDS[use.mode]} · **{code}** · {len(use.examples)}"):
            show_code(desk, use, number)
    st.write("Next: the Freeze page writes each item with its sub-code as it is called now.")


def show_code(desk: Desk, use: CodeUse, number: int) -> None:
    """Draw the examples of one sub-code, and the form that renames all or some of them."""
    rows = [{"question": plain_line(each.question), "note": plain_line(each.note)} for each in use.examples[:EXAMPLES]]
    chosen = st.dataframe(
        rows, on_select="rerun", selection_mode="multi-row", hide_index=True, key=f"code-rows-{number}"
    )["selection"]["rows"]
    if len(use.examples) > EXAMPLES:
        st.caption(f"{EXAMPLES} of {len(use.examples)} shown")
    name_key = f"code-name-{number}"
    st.text_input("New name, or the name of the code to merge into", key=name_key, max_chars=60)
    moved = [use.examples[row].candidate_id for row in chosen]
    words = f"Move {len(moved)} picked" if moved else "Rename or merge all"
    st.button(words, key=f"code-save-{number}", on_click=partial(change, desk, use, name_key, moved))


def change(desk: Desk, use: CodeUse, name_key: str, moved: list[str]) -> None:
    """Merge all labels of a code, or split off the picked ones."""
    name, reviewer = str(session_keys.widget_value(name_key) or ""), current_reviewer()
    try:
        if moved:
            split_code(desk.store, use.mode, use.code, name, moved, reviewer=reviewer)
        else:
            merge_codes(desk.store, use.mode, use.code, name, reviewer=reviewer)
    except ErrataError as error:
        session_keys.keep_problem(str(error))


main()

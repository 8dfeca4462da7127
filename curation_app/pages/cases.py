"""The Cases page: write a case from a support ticket or an interview, or bring in a file of them."""

import tempfile
from functools import partial
from pathlib import Path

import streamlit as st

from curation_app import session_keys
from curation_app.components.identity import current_reviewer
from curation_app.service.cases import Case, CasesReport, add_cases, read_cases
from curation_app.service.evidence import MODE_WORDS
from curation_app.service.labelling import Desk, facts_from_text, open_desk
from curation_app.workspace import app_workspace
from evalsets.errors import ErrataError
from evalsets.items import FAILURE_MODES, Source

FIELDS = ("question", "expected", "gold", "facts", "note")


def main() -> None:
    """Draw the form of one case and the upload of a file."""
    desk = open_desk(app_workspace())
    st.write("Cases that the log does not hold: from support tickets, interviews, or a colleague's list.")
    session_keys.show_problem()
    session_keys.show_notice()
    by_hand, from_file = st.columns([0.55, 0.45], gap="large")
    with by_hand:
        show_form(desk)
    with from_file:
        show_upload(desk)
    st.write("Next: cases without a label wait at the top of the Queue; labelled ones are on the Freeze page.")


def show_form(desk: Desk) -> None:
    """Draw the form of one case."""
    st.subheader("Write a case")
    with st.form("case", border=False):
        st.text_area("Question, in the user's own words", key=session_keys.case_key("question"), height=68)
        modes = [mode.value for mode in FAILURE_MODES]
        st.selectbox(
            "What goes wrong with it today",
            modes,
            index=None,
            placeholder="not known yet: it waits in the queue",
            format_func=lambda mode: MODE_WORDS[FAILURE_MODES[modes.index(mode)]],
            key=session_keys.case_key("mode"),
        )
        st.text_area("Expected answer", key=session_keys.case_key("expected"), height=68)
        st.text_area("Facts the answer must contain, one a line", key=session_keys.case_key("facts"), height=68)
        st.text_area("Gold chunk ids, one a line", key=session_keys.case_key("gold"), height=68)
        st.text_area("Note: where it comes from", key=session_keys.case_key("note"), height=68)
        st.form_submit_button("Add the case", type="primary", on_click=partial(add_one, desk))


def show_upload(desk: Desk) -> None:
    """Draw the upload of a CSV or JSONL file."""
    st.subheader("Bring in a file")
    st.write(
        "CSV or JSONL with `question` and, where known, `expected`, `gold_chunk_ids`, `mode`, `answer_facts`, `note`, "
        "`tags`, `sub_code`, `source` (support, production or synthetic). In CSV, set lists apart by semicolons."
    )
    st.file_uploader("File of cases", type=["csv", "jsonl"], key=session_keys.case_key("file"))
    st.button("Import", on_click=partial(import_file, desk))


def add_one(desk: Desk) -> None:
    """Add what the form holds; a refused case stays in the form."""
    values = {name: str(session_keys.widget_value(session_keys.case_key(name)) or "") for name in FIELDS}
    if not values["question"].strip():
        session_keys.keep_problem("not added: the question is empty")
        return
    case = Case(
        question=values["question"],
        expected=values["expected"],
        gold_chunk_ids=tuple(line.strip() for line in values["gold"].splitlines() if line.strip()),
        answer_facts=facts_from_text(values["facts"]),
        mode=session_keys.widget_value(session_keys.case_key("mode")),
        note=values["note"],
        source=Source.SUPPORT,
    )
    if add(desk, [case]):
        for name in FIELDS:
            session_keys.set_widget(session_keys.case_key(name), "")


def import_file(desk: Desk) -> None:
    """Read the uploaded file and add its cases."""
    uploaded = session_keys.widget_value(session_keys.case_key("file"))
    if uploaded is None:
        session_keys.keep_problem("choose a file first")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"cases{Path(uploaded.name).suffix.lower()}"
        path.write_bytes(uploaded.getvalue())
        try:
            cases = read_cases(path)
        except (ErrataError, UnicodeDecodeError) as error:
            session_keys.keep_problem(str(error).replace(str(path), uploaded.name))
            return
    add(desk, cases)


def add(desk: Desk, cases: list[Case]) -> bool:
    """Add cases and say what became of them."""
    try:
        report: CasesReport = add_cases(desk, cases, reviewer=current_reviewer())
    except ErrataError as error:
        session_keys.keep_problem(str(error))
        return False
    session_keys.keep_notice(
        f"{report.labelled} labelled, {report.to_label} to label, {report.already_there} there already"
    )
    return True


main()

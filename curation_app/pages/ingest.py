"""The Ingest page: bring in a log, look at how it is read, and see what became of every record."""

import streamlit as st

from curation_app import session_keys
from curation_app.components import ingest_actions
from curation_app.components.ingest_tables import show_previews, show_rejects, show_report
from curation_app.components.page_text import markdown_text
from curation_app.service.ingest_desk import REJECTS_A_PAGE, WRITTEN_BELOW, rejects_page, stored, ways_to_read
from curation_app.workspace import Workspace, app_workspace
from evalsets.errors import ErrataError

UPLOAD, ON_SERVER = "Upload", "Path on the server"


def _show_choice(workspace: Workspace) -> None:
    left, right = st.columns(2)
    with left:
        st.segmented_control("The log", [UPLOAD, ON_SERVER], default=UPLOAD, key=session_keys.INGEST_FROM)
        if session_keys.widget_value(session_keys.INGEST_FROM) == ON_SERVER:
            st.text_input(
                "File, folder or glob", key=session_keys.INGEST_PATH, placeholder="/var/log/assistant/*.jsonl"
            )
        else:
            st.file_uploader(
                "Log files, up to 200 MB each",
                accept_multiple_files=True,
                max_upload_size=200,
                key=session_keys.INGEST_UPLOADS,
            )
    with right:
        st.selectbox("Read as", ways_to_read(workspace), key=session_keys.INGEST_READ_AS)
        if session_keys.widget_value(session_keys.INGEST_READ_AS) == WRITTEN_BELOW:
            st.text_area("Mapping", key=session_keys.INGEST_MAPPING, height=260)
        st.checkbox(
            "Stop when a mapped path leads nowhere",
            key=session_keys.INGEST_STRICT,
            help="A misspelt path gives empty fields, silently; this makes it an error.",
        )
    with st.container(horizontal=True):
        st.button("Preview", on_click=ingest_actions.preview, args=(workspace,))
        st.button("Propose a mapping", on_click=ingest_actions.propose, args=(workspace,))
        st.button("Ingest", type="primary", on_click=ingest_actions.ingest, args=(workspace,))


def _show_outcome() -> None:
    if problem := session_keys.widget_value(session_keys.INGEST_PROBLEM):
        st.error(markdown_text(problem, 2000))
    if shown := session_keys.widget_value(session_keys.INGEST_PREVIEW):
        show_previews(shown)
    if report := session_keys.widget_value(session_keys.INGEST_REPORT):
        show_report(report)


def _show_quarantine(workspace: Workspace, count: int) -> None:
    if not count:
        return
    st.subheader(f"In quarantine: {count:,}")
    st.caption("Mend the mapping, then run `errata ingest --retry-rejects --mapping FILE`: what fits now is taken.")
    pages = -(-count // REJECTS_A_PAGE)
    page = st.pagination(pages, key=session_keys.INGEST_REJECTS_PAGE) if pages > 1 else 1
    show_rejects(rejects_page(workspace, page))


def _show_corpus(workspace: Workspace, chunks: int) -> None:
    st.subheader("Corpus")
    st.caption(f"Gold chunks are picked from the corpus. It holds {chunks:,} chunks.")
    with st.expander("Add to the corpus", expanded=not chunks):
        st.file_uploader(
            "JSONL, CSV, Parquet, Markdown or text; text is split into one chunk a heading",
            accept_multiple_files=True,
            key=session_keys.INGEST_CORPUS_UPLOADS,
        )
        st.text_input("Or a file or folder on the server", key=session_keys.INGEST_CORPUS_PATH)
        st.button("Add", on_click=ingest_actions.add_corpus, args=(workspace,))
    if report := session_keys.widget_value(session_keys.INGEST_CORPUS_REPORT):
        st.success(report.summary())


def main() -> None:
    """Draw the page."""
    st.title("Ingest")
    st.caption("Bring in production logs, and see what became of every record. Personal data is replaced first.")
    try:
        workspace = app_workspace()
        _show_choice(workspace)
        _show_outcome()
        held = stored(workspace)
        _show_quarantine(workspace, held.rejects)
        _show_corpus(workspace, held.corpus_chunks)
    except ErrataError as error:
        st.error(markdown_text(str(error), 2000))
        return
    if held.interactions:
        st.info(f"{held.interactions:,} interactions are stored. Next: run `errata mine`, then open the Queue page.")
    else:
        st.info("Nothing is stored yet. Choose a log above; the Preview stores nothing.")


main()

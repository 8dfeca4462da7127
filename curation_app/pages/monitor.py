"""The Monitor page: what production does after launch, by day, model and prompt version."""

import streamlit as st

from curation_app.components import monitor_view
from curation_app.components.next_step import show_next_step
from curation_app.components.page_text import markdown_text
from curation_app.service.freshness import freshness_sentences, stale_before_by_default
from curation_app.service.growing_topics import growing_topics
from curation_app.service.monitoring import choices, look
from curation_app.workspace import Workspace, app_workspace
from evalsets.errors import ErrataError


def _show(workspace: Workspace) -> None:
    found = choices(workspace)
    if found is None:
        st.info("No log is loaded yet. Load one on the Ingest page, or with `errata ingest LOG --mapping NAME`.")
        return
    view = look(workspace, monitor_view.choose_filter(found))
    if view is None:
        st.info("No interaction is left under these filters. Clear one of them.")
        return
    if found.undated:
        st.caption(f"{found.undated:,} interactions have no time and stand on no day.")
    findings = st.container()
    monitor_view.show_gauges(view)
    monitor_view.show_days(view)
    monitor_view.show_versions(view.versions, "prompt_version", "Prompt versions", view)
    if len(view.models) > 1:
        monitor_view.show_versions(view.models, "model", "Models", view)
    left, right = st.columns(2, gap="medium")
    with right:
        _show_freshness(workspace)
    topics = growing_topics(workspace, view.compared)
    with left:
        monitor_view.show_topics(topics, view.compared)
    with findings:
        monitor_view.show_findings(view, topics)


def _show_freshness(workspace: Workspace) -> None:
    st.markdown("**How fresh it is**")
    since = st.date_input("Documents not written to since", stale_before_by_default(), key="stale", width=220)
    for sentence in freshness_sentences(workspace, since or stale_before_by_default()):
        st.caption(markdown_text(sentence, 400))


def main() -> None:
    """Draw the page."""
    st.title("Monitor")
    st.caption(
        "See what production does, and what changed by more than noise. Every figure opens what stands behind it."
    )
    try:
        _show(app_workspace())
    except ErrataError as error:
        st.error(markdown_text(str(error), 1000))
        return
    show_next_step("queue", "Next: label what went wrong")


main()

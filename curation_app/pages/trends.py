"""The Trends page: every stored run of a set as a point, so that a slow slide is seen."""

from collections import Counter

import streamlit as st

from curation_app.components import trend_view
from curation_app.components.next_step import go_to, show_next_step
from curation_app.components.page_text import markdown_text
from curation_app.service.run_history import stored_runs
from curation_app.service.trending import Trends, read_trends
from curation_app.workspace import Workspace, app_workspace
from evalsets.errors import ErrataError


def _choose(workspace: Workspace) -> Trends | None:
    runs = stored_runs(workspace)
    if not runs:
        st.info("No run is stored yet. Start one on the Scores page, or with `errata run`.")
        return None
    sets = list(dict.fromkeys(run.summary.set_name for run in runs))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = str(st.selectbox("Set", sets, key="set", bind="query-params", width=220))
        counted = Counter(run.summary.pipeline for run in runs if run.summary.set_name == chosen)
        pipelines = [name for name, _ in counted.most_common()]
        pipeline = st.selectbox("Pipeline", pipelines, key="pipeline", bind="query-params", width=220)
    return read_trends(workspace, chosen, pipeline=str(pipeline or ""))


def _show(workspace: Workspace) -> None:
    trends = _choose(workspace)
    if trends is None:
        return
    if not trends.runs:
        st.info("No complete run of this pipeline is stored. Resume or start one on the Scores page.")
        return
    figure = st.selectbox(
        "Figure",
        trends.figures,
        format_func=trend_view.figure_title,
        index=1,
        key="figure",
        bind="query-params",
        width=280,
    )
    trend_view.show_figure(trends, str(figure))
    trend_view.show_known_failures(trends)
    if run_id := trend_view.pick_run(trends):
        go_to("scores", {"run": run_id})


def main() -> None:
    """Draw the page."""
    st.title("Trends")
    st.caption("See how a pipeline has done on a set over time, run by run, so that a slow slide does not go unseen.")
    try:
        _show(app_workspace())
    except ErrataError as error:
        st.error(markdown_text(str(error), 1000))
        return
    show_next_step("monitor", "Next: see what production does")


main()

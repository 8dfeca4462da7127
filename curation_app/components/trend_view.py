"""Runs over time on the screen."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from curation_app.components.figures import rate_words, title_of
from curation_app.components.ink import ACCENT, GREY
from curation_app.components.page_text import plain_line
from curation_app.service.evidence import MODE_WORDS
from curation_app.service.trending import Slide, TrendMark, TrendPoint, Trends, points, slide_of
from evalsets.items import Mode

TABLE_RUNS = 50
TABLE_HEIGHT = 390


def figure_title(name: str) -> str:
    """Return a figure's or a mode's name."""
    return f"passes: {MODE_WORDS[Mode(name)]}" if name in list(Mode) else title_of(name)


def show_figure(trends: Trends, figure: str) -> None:
    """Draw one figure over the runs, with versions and baselines marked."""
    shown = points(trends, figure)
    slide = slide_of(shown)
    st.altair_chart(_figure_chart(shown, trends.marks, figure, slide), alt=f"{figure_title(figure)} by run")
    st.caption(
        "Bars: each run's own 95% interval. Whether the runs drift is told by the Mann-Kendall test, by how much by "
        "Sen's slope."
    )


def show_known_failures(trends: Trends) -> None:
    """Draw how many items are known to fail, when any ever was."""
    if not any(trends.known_failures):
        st.caption("No item is marked as known to fail.")
        return
    rows = [{"run": place, "known": count} for place, count in enumerate(trends.known_failures, 1)]
    first, last = trends.known_failures[0], trends.known_failures[-1]
    title = f"Known failures: {first} in the first run shown, {last} in the last"
    chart = alt.Chart(pd.DataFrame(rows)).mark_line(interpolate="step-after", color=GREY)
    st.altair_chart(
        chart.encode(
            x=alt.X("run:Q", title="run, oldest first", axis=alt.Axis(tickMinStep=1, format="d")),
            y=alt.Y("known:Q", title="items", axis=alt.Axis(tickMinStep=1)),
        ).properties(height=120, title=title),
        alt="Items known to fail, by run",
    )


def pick_run(trends: Trends) -> str:
    """Draw the runs as a table, newest first; return the id of the run that was clicked, or an empty string."""
    runs = trends.runs[-TABLE_RUNS:][::-1]
    rows = [
        {
            "started": run.started_at[:16].replace("T", " "),
            "pipeline": plain_line(run.pipeline, 40),
            "set": f"v{run.set_version}",
            "passed": f"{run.passed} of {run.items}",
            "recall": rate_words(run.figures["retrieval_recall"]),
            "refusals": rate_words(run.figures["refusal_rate"]),
        }
        for run in runs
    ]
    st.caption("Click a run to read its scorecard.")
    picked = st.dataframe(
        pd.DataFrame(rows), hide_index=True, on_select="rerun", selection_mode="single-row", key="trend-runs",
        height=TABLE_HEIGHT if len(rows) > 10 else "content",  # noqa: PLR2004 - more scroll
    )["selection"]["rows"]  # fmt: skip
    return runs[picked[0]].run_id if picked and picked[0] < len(runs) else ""


def _figure_chart(shown: Sequence[TrendPoint], marks: Sequence[TrendMark], figure: str, slide: Slide) -> Any:
    rows = [_row(point) for point in shown if point.measured is not None and point.measured.value is not None]
    is_share = all(row["value"] <= 1 for row in rows)
    base = alt.Chart(pd.DataFrame(rows)).encode(
        x=alt.X(
            "run:Q", title="run, oldest first", axis=alt.Axis(tickMinStep=1, format="d"), scale=alt.Scale(zero=False)
        ),
        tooltip=[alt.Tooltip("words:N", title=figure_title(figure)), alt.Tooltip("label:N", title="Run")],
    )
    y = alt.Y("value:Q", title=figure_title(figure), axis=alt.Axis(format="%") if is_share else alt.Axis())
    ranges = base.mark_rule(color=GREY, opacity=0.6).encode(y="low:Q", y2="high:Q")
    line = base.mark_line(color=ACCENT, point=alt.OverlayMarkDef(filled=True, size=30, color=ACCENT)).encode(y=y)
    layers = ranges + line + _marks(marks)
    if slide.ends:
        ends = pd.DataFrame([{"run": place, "value": value} for place, value in slide.ends])
        layers += alt.Chart(ends).mark_line(color=GREY, strokeDash=[6, 3]).encode(x="run:Q", y="value:Q")
    return layers.properties(height=260, title=f"{figure_title(figure)}: {slide.words}")


def _row(point: TrendPoint) -> dict[str, Any]:
    measured = point.measured
    value = measured.value if measured and measured.value is not None else 0.0
    return {
        "run": point.place,
        "value": value,
        "low": measured.low if measured and measured.low is not None else value,
        "high": measured.high if measured and measured.high is not None else value,
        "words": rate_words(measured) if measured and value <= 1 else f"{value:.4g}",
        "label": f"{point.started_at[:16].replace('T', ' ')} {point.pipeline} v{point.set_version}",
    }


def _marks(marks: Sequence[TrendMark]) -> Any:
    rows = [{"run": mark.place, "words": f" {mark.words}"} for mark in marks]
    base = alt.Chart(pd.DataFrame(rows, columns=["run", "words"])).encode(x="run:Q")
    rules = base.mark_rule(strokeDash=[4, 3], color=GREY)
    return rules + base.mark_text(align="left", baseline="top", dy=2, color=GREY).encode(y=alt.value(0), text="words:N")

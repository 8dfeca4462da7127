"""A run on the screen: headline, intervals, modes, both halves and cost."""

from typing import Any

import pandas as pd
import streamlit as st

from curation_app.components.figures import (
    MEANINGS,
    NONE,
    TITLES,
    amount,
    percent,
    points,
    rate_words,
    seconds,
    title_of,
)
from curation_app.components.page_text import markdown_text, plain_line
from curation_app.components.score_charts import cause_chart, mode_chart
from curation_app.service.run_summaries import HEADLINE_FIGURES, Measured, RunSummary

METRICS_HEIGHT = 300


def show_headline(summary: RunSummary, baseline: RunSummary | None) -> None:
    """Draw the three headline figures, each against the baseline when there is one."""
    st.markdown(f"**{markdown_text(summary.headline, 600)}**")
    st.caption(
        f"{markdown_text(summary.pipeline)} ({summary.pipeline_fingerprint}) on {markdown_text(summary.set_name)} "
        f"version {summary.set_version}, {summary.items} items, k = {summary.k}, judge {markdown_text(summary.judge)}"
    )
    for column, name in zip(st.columns(3), HEADLINE_FIGURES, strict=True):
        measured = summary.figures[name]
        before = baseline.figures[name].value if baseline else None
        delta = measured.value - before if measured.value is not None and before is not None else None
        column.metric(
            TITLES[name],
            percent(measured.value),
            delta=f"{points(delta)} to baseline" if delta is not None else None,
            delta_color=_delta_colour(measured, before),
            help=f"{MEANINGS[name]}, with the 95% interval. Red or green: the baseline lies outside it.",
            border=True,
        )
        column.caption(f"{rate_words(measured)}: {MEANINGS[name]}")


def _delta_colour(measured: Measured, before: float | None) -> Any:
    """Return a colour only where the interval leaves the baseline out."""
    if before is None or measured.low is None or measured.high is None or measured.low <= before <= measured.high:
        return "off"
    return "normal" if measured.higher_is_better else "inverse"


def show_modes_and_causes(summary: RunSummary) -> None:
    """Draw passes by mode, and the causes of failures when they were diagnosed."""
    left, right = st.columns(2, gap="medium")
    left.altair_chart(mode_chart(summary.modes), alt="Share of items that pass, by mode, with 95% intervals")
    if summary.causes:
        right.altair_chart(cause_chart(summary.causes), alt="Failed items by first cause")
    else:
        right.success("Nothing failed.") if not summary.failed else right.caption("The failures were not diagnosed.")


def show_bars(summary: RunSummary) -> None:
    """Draw the scorecard: each of its metrics against its bar."""
    if not summary.scorecard:
        return
    st.markdown("**Scorecard**")
    for column, line in zip(st.columns(len(summary.scorecard)), summary.scorecard, strict=True):
        shown = NONE if line.value is None else f"{line.value:.2f}"
        mark = "✓" if line.passes else "✗"
        proxy = f" by {line.measured_by}, a proxy" if line.is_proxy else ""
        measured = (
            f"needs {line.bar:.2f}{proxy}" if line.value is not None else f"nothing measured it, needs {line.bar:.2f}"
        )
        column.metric(title_of(line.name).capitalize(), f"{mark} {shown}", border=True)
        column.caption(measured)


def show_tags(summary: RunSummary) -> None:
    """Draw passes by tag, when there are tags."""
    if not summary.tags:
        return
    with st.expander(f"By tag ({len(summary.tags)})"):
        rows = [{"tag": plain_line(tag, 60), "passed": rate_words(one)} for tag, one in summary.tags.items()]
        st.dataframe(pd.DataFrame(rows), hide_index=True, height="content")


def show_halves(summary: RunSummary) -> None:
    """Draw the metrics of retrieval and generation side by side, then latency and cost."""
    for column, half, title in zip(
        st.columns(2), ("retrieval", "generation"), ("Retrieval", "Generation"), strict=True
    ):
        column.markdown(f"**{title}**")
        column.dataframe(
            _metrics_table(summary, half), hide_index=True, column_config=_METRIC_COLUMNS, height=METRICS_HEIGHT
        )
    latencies = ", ".join(f"{step} {seconds(median)}" for step, median in summary.latency_s.items())
    cost = f"cost {summary.cost:,.4g} in all" if summary.cost is not None else "no cost was reported"
    st.caption(f"Latency (median): {latencies or 'not measured'} · {cost}")


def _metrics_table(summary: RunSummary, half: str) -> pd.DataFrame:
    chosen = {
        name: one
        for name, one in summary.figures.items()
        if one.half == half and one.eligible and name not in HEADLINE_FIGURES
    }
    return pd.DataFrame(
        {
            "metric": [f"{name} (proxy)" if one.is_proxy else name for name, one in chosen.items()],
            "value": [amount(one.value, one.scale) for one in chosen.values()],
            "interval": [_bounds(one) for one in chosen.values()],
            "of": [f"{one.scored} / {one.eligible}" for one in chosen.values()],
        }
    )


def _bounds(measured: Measured) -> str:
    if measured.low is None or measured.high is None:
        return ""
    return f"{amount(measured.low, measured.scale)} \N{EN DASH} {amount(measured.high, measured.scale)}"


_METRIC_COLUMNS = {
    "metric": st.column_config.TextColumn("Metric"),
    "value": st.column_config.TextColumn("Value", alignment="right"),
    "interval": st.column_config.TextColumn("95% interval", alignment="right"),
    "of": st.column_config.TextColumn("Scored / eligible", alignment="right"),
}

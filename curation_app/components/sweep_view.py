"""A sweep on the screen: what was expected beside what came of it, one chart and one table."""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from curation_app.components.figures import TITLES, percent
from curation_app.components.ink import ACCENT, ink
from curation_app.components.page_text import markdown_text
from curation_app.service.comparing import verdict
from evalsets.sweep import Sweep, SweepRow, settings_words

_FIGURES = tuple(TITLES)
_NEAR = 0.12
"""Shares closer than this would have their numbers printed over one another."""
_SIDES: dict[str, Any] = {"above": {"dy": -11}, "below": {"dy": 14}, "beside": {"dx": 10, "align": "left"}}
_SHADES = [ACCENT, "#c2620c", "#8a9199"]


def show_sweep(sweep: Sweep) -> None:
    """Draw a sweep."""
    expected, found = st.columns(2, gap="medium")
    expected.markdown(f"**Expected, written down {sweep.written_at[:16].replace('T', ' ')}**")
    expected.markdown(markdown_text(sweep.expectation, 1000))
    found.markdown("**Found**")
    found.markdown(markdown_text(sweep.finding or "nothing was run yet", 1000))
    if not sweep.rows:
        return
    st.altair_chart(_chart(sweep), alt="Recall, accuracy and refusal rate at each point of the sweep")
    st.dataframe(pd.DataFrame([_row(row) for row in sweep.rows]), hide_index=True, height="content")
    st.caption("Verdicts are against the first row, by paired tests.")


def _chart(sweep: Sweep) -> Any:
    rows = [point for row in sweep.rows for point in _points(row)]
    base = alt.Chart(pd.DataFrame(rows)).encode(
        x=alt.X("point:N", title="settings", sort=None, axis=alt.Axis(labelLimit=240, labelAngle=0)),
        y=alt.Y("value:Q", title="share of items", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
        detail="figure:N",
    )
    style: dict[str, Any] = {
        "color": alt.Color("figure:N", title=None, sort=list(TITLES.values()), scale=alt.Scale(range=_SHADES)),
        "strokeDash": alt.StrokeDash("figure:N", title=None, sort=list(TITLES.values())),
    }
    lines = base.mark_line(point=alt.OverlayMarkDef(filled=True, size=45)).encode(**style)
    words = [
        base.mark_text(**place, color=ink()).encode(text="words:N").transform_filter(alt.datum.side == side)
        for side, place in _SIDES.items()
    ]
    best = max(sweep.rows, key=lambda row: (row.answer_accuracy, row.retrieval_recall or 0.0))
    title = f"Highest accuracy at {settings_words(best.settings)}: {percent(best.answer_accuracy)}"
    return alt.layer(lines, *words).properties(height=290, title=title)


def _points(row: SweepRow) -> list[dict[str, Any]]:
    """Return the figures of one point, each with the side on which its number stands clear of the others'."""
    values = {name: value for name in _FIGURES if (value := getattr(row, name)) is not None}
    points = []
    for name, value in values.items():
        others = [other - value for named, other in values.items() if named != name]
        is_below_one = any(0 <= gap < _NEAR for gap in others)
        is_above_one = any(-_NEAR < gap < 0 for gap in others)
        side = "beside" if is_below_one and is_above_one else "below" if is_below_one else "above"
        point = {"point": settings_words(row.settings), "figure": TITLES[name], "value": value}
        points.append({**point, "words": percent(value), "side": side})
    return points


def _row(row: SweepRow) -> dict[str, str]:
    verdicts = {change.name: verdict(change) for change in row.changes}
    cells = {"settings": settings_words(row.settings)}
    for name in _FIGURES:
        told = f" ({verdicts[name]})" if name in verdicts else ""
        cells[TITLES[name]] = percent(getattr(row, name)) + told
    return cells | {"run": row.status}

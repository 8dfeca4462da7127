"""Charts of scores: titled with the finding, intervals drawn, readable in grey."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from curation_app.components.ink import GREY, ink
from curation_app.components.modes import MODE_COLOURS, MODE_SHAPES
from curation_app.service.evidence import MODE_WORDS
from curation_app.service.run_summaries import Measured
from evalsets.items import Mode

ROW_HEIGHT = 34
AXES_HEIGHT = 95
"""Title and axes stand within the height of a chart."""


def mode_chart(modes: Mapping[str, Measured]) -> Any:
    """Draw passes by mode with their intervals."""
    rows = [_mode_row(mode, measured) for mode, measured in modes.items()]
    base = alt.Chart(pd.DataFrame(rows)).encode(
        y=alt.Y("label:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)),
        tooltip=[
            alt.Tooltip("label:N", title="Mode"),
            alt.Tooltip("words:N", title="Passed"),
        ],
    )
    bars = base.mark_bar(height=14).encode(
        x=_share_axis("rate", "share of items that pass"),
        color=alt.Color("colour:N", scale=None),
    )
    ranges = base.mark_rule(strokeWidth=1.5, color=GREY).encode(x="low:Q", x2="high:Q")
    numbers = base.mark_text(align="left", dx=6, color=ink()).encode(x="high:Q", text="words:N")
    return (bars + ranges + numbers).properties(
        height=AXES_HEIGHT + ROW_HEIGHT * max(len(rows), 1), title=mode_finding(modes)
    )


def mode_finding(modes: Mapping[str, Measured]) -> str:
    """Return what the chart of modes shows, as a sentence."""
    rated = {mode: measured.value for mode, measured in modes.items() if measured.value is not None}
    if not rated:
        return "No item was scored"
    worst = min(rated, key=lambda mode: rated[mode])
    if rated[worst] == 1:
        return "Every mode passes in full"
    if len(rated) == 1:
        return f"{rated[worst]:.0%} of the items pass"
    return f"Weakest: {_mode_words(worst)} ({rated[worst]:.0%} pass)"


def cause_chart(causes: Mapping[str, int]) -> Any:
    """Draw failed items by their first cause."""
    rows = [{"cause": cause, "items": number} for cause, number in sorted(causes.items(), key=lambda pair: -pair[1])]
    base = alt.Chart(pd.DataFrame(rows)).encode(
        y=alt.Y("cause:N", title=None, sort=None, axis=alt.Axis(labelLimit=260))
    )
    bars = base.mark_bar(height=14).encode(x=alt.X("items:Q", title="failed items", axis=alt.Axis(tickMinStep=1)))
    numbers = base.mark_text(align="left", dx=4, color=ink()).encode(x="items:Q", text="items:Q")
    most = rows[0]
    total = sum(causes.values())
    title = f"Most failures: {most['cause']} ({most['items']} of {total})"
    return (bars + numbers).properties(height=AXES_HEIGHT + ROW_HEIGHT * len(rows), title=title)


def line_chart(rows: Sequence[Mapping[str, Any]], *, title: str, x: str, x_title: str, y_title: str) -> Any:
    """Draw a figure with its interval over runs or days; rows hold value, low, high, words and the column `x`."""
    base = alt.Chart(pd.DataFrame(rows)).encode(
        x=alt.X(f"{x}:O" if x == "run" else f"{x}:T", title=x_title, sort=None),
        tooltip=[alt.Tooltip("words:N", title=y_title)],
    )
    band = base.mark_errorbar(ticks=True, color=GREY).encode(y=alt.Y("low:Q", title=y_title), y2="high:Q")
    line = base.mark_line(point=alt.OverlayMarkDef(filled=True, size=36)).encode(
        y=alt.Y("value:Q", title=y_title, scale=alt.Scale(zero=True))
    )
    return (band + line).properties(title=title, height=190)


def _share_axis(field: str, title: str) -> alt.X:
    return alt.X(
        f"{field}:Q",
        title=title,
        scale=alt.Scale(domain=[0, 1.18]),
        axis=alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1]),
    )


def _mode_row(mode: str, measured: Measured) -> dict[str, Any]:
    shape = MODE_SHAPES[Mode(mode)] if mode in list(Mode) else ""
    passed = (measured.value or 0.0) * measured.eligible
    return {
        "label": f"{shape} {_mode_words(mode)}",
        "rate": measured.value or 0.0,
        "low": measured.low or 0.0,
        "high": measured.high if measured.high is not None else measured.value or 0.0,
        "colour": MODE_COLOURS[Mode(mode)] if mode in list(Mode) else GREY,
        "words": f"{passed:g} of {measured.eligible}",
    }


def _mode_words(mode: str) -> str:
    return MODE_WORDS[Mode(mode)] if mode in list(Mode) else mode.replace("_", " ")

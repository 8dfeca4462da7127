"""Two or more runs on the screen: what moved, which items turned, answers side by side, causes."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from curation_app.components.diff_view import segment_html
from curation_app.components.figures import NONE, points, title_of
from curation_app.components.ink import ACCENT, GREY, ink
from curation_app.components.page_text import markdown_text, plain_line
from curation_app.components.score_charts import AXES_HEIGHT, ROW_HEIGHT
from curation_app.service.comparing import finding, verdict
from curation_app.service.evidence import MODE_WORDS
from evalsets.comparison import Change, Comparison, ItemChange
from evalsets.items import Mode
from evalsets.report_formats.comparison_text import power_words
from evalsets.sets.word_diff import Part, word_diff

TURNED_ROWS = 50
TABLE_HEIGHT = 390
_VERDICT_COLOURS = {"moved, worse": "#b3261e", "moved, better": "#1b8a6b"}
_VERDICT_SHAPES = {"moved, worse": "▼", "moved, better": "▲", "did not move": "=", "too few items to tell": "?"}


def show_finding(comparison: Comparison) -> None:
    """Draw the comparison in words."""
    st.markdown(f"**{markdown_text(finding(comparison), 600)}.**")
    st.caption(power_words(comparison) + (f" · {markdown_text(comparison.note, 400)}" if comparison.note else ""))


def show_deltas(comparison: Comparison) -> None:
    """Draw the differences of the headline figures and modes with their intervals, then every figure as a table."""
    shown = [*comparison.headline, *comparison.modes]
    if not shown:
        st.info("The two runs have no item in common that both hold unchanged.")
        return
    st.altair_chart(_delta_chart(shown), alt="Differences with 95% intervals")
    with st.expander("Every figure"):
        st.dataframe(_change_table(comparison.changes), hide_index=True, height="content")


def show_several(comparisons: Mapping[str, Comparison]) -> None:
    """Draw the headline figures and modes of several runs beside the earlier one."""
    first = next(iter(comparisons.values()))
    rows = []
    for place, change in enumerate((*first.headline, *first.modes)):
        row = {"figure": _name(change), "before": f"{change.before:.0%}"}
        for label, comparison in comparisons.items():
            changes = (*comparison.headline, *comparison.modes)
            if place < len(changes):
                row[label] = _cell(changes[place])
        rows.append(row)
    st.dataframe(pd.DataFrame(rows), hide_index=True, height="content")
    st.caption("▲ better and ▼ worse by more than chance, = did not move, ? too few items to tell.")


def show_turned(comparison: Comparison) -> None:
    """Draw the items that broke, then those that were fixed; a click shows both answers with their differences."""
    turned = [*(("✗ broke", item) for item in comparison.broken), *(("✓ fixed", item) for item in comparison.fixed)]
    turned += [("answer changed", item) for item in comparison.answers_changed]
    st.subheader("Items that turned")
    if not turned:
        st.success("No item turned and no answer changed.")
        return
    shown = turned[:TURNED_ROWS]
    if len(turned) > len(shown):
        st.caption(f"The first {len(shown)} of {len(turned)}; those that broke come first.")
    picked = st.dataframe(
        _turned_table(shown), hide_index=True, on_select="rerun", selection_mode="single-row", key="turned",
        height=TABLE_HEIGHT,
    )["selection"]["rows"]  # fmt: skip
    if picked and picked[0] < len(shown):
        _show_answers(shown[picked[0]][1])
    else:
        st.caption("Click a row to read both answers.")


def show_causes(comparison: Comparison) -> None:
    """Draw the first causes of failures in both runs."""
    if not comparison.causes_before and not comparison.causes_after:
        return
    st.altair_chart(_cause_chart(comparison), alt="Failed items by first cause, before and after")


def _delta_chart(changes: Sequence[Change]) -> Any:
    rows = [
        {
            "figure": _name(change),
            "difference": change.difference,
            "low": change.low,
            "high": change.high,
            "colour": _VERDICT_COLOURS.get(verdict(change), GREY),
            "words": f"{_VERDICT_SHAPES[verdict(change)]} {points(change.difference)}, {verdict(change)}",
        }
        for change in changes
    ]
    base = alt.Chart(pd.DataFrame(rows)).encode(
        y=alt.Y("figure:N", title=None, sort=None, axis=alt.Axis(labelLimit=240)),
        tooltip=[alt.Tooltip("figure:N", title="Figure"), alt.Tooltip("words:N", title="Difference")],
    )
    least, most = min(0.0, *(change.low for change in changes)), max(0.0, *(change.high for change in changes))
    room = 0.45 * max(most - least, 0.1)
    scale = alt.Scale(domain=[least - 0.02, most + room], nice=False)
    ticks = [tenth / 10 for tenth in range(-10, 11, 2) if least - 0.05 <= tenth / 10 <= most + 0.1]
    axis = alt.Axis(format="+%", values=ticks)
    x = alt.X("difference:Q", title="difference, after minus before", axis=axis, scale=scale)
    ranges = base.mark_rule(strokeWidth=2, color=GREY).encode(x=alt.X("low:Q"), x2="high:Q")
    marks = base.mark_point(filled=True, size=90).encode(x=x, color=alt.Color("colour:N", scale=None))
    words = base.mark_text(align="left", dx=8, color=ink()).encode(x="high:Q", text="words:N")
    zero = alt.Chart(pd.DataFrame({"zero": [0]})).mark_rule(color=GREY, strokeDash=[3, 3]).encode(x="zero:Q")
    worse = [change for change in changes if verdict(change) == "moved, worse"]
    title = (
        f"Worse: {', '.join(_name(change) for change in worse)}" if worse else "Nothing got worse by more than chance"
    )
    return (zero + ranges + marks + words).properties(height=AXES_HEIGHT + ROW_HEIGHT * len(rows), title=title)


def _cause_chart(comparison: Comparison) -> Any:
    causes = sorted({*comparison.causes_before, *comparison.causes_after})
    sides = {"before": comparison.causes_before, "after": comparison.causes_after}
    rows = [
        {"cause": cause, "run": run, "items": counts.get(cause, 0), "words": f"{counts.get(cause, 0)} {run}"}
        for cause in causes
        for run, counts in sides.items()
    ]
    grown = max(
        causes, key=lambda cause: comparison.causes_after.get(cause, 0) - comparison.causes_before.get(cause, 0)
    )
    more = comparison.causes_after.get(grown, 0) - comparison.causes_before.get(grown, 0)
    title = (
        f"{grown}: {more} failures more than before" if more > 0 else "No cause accounts for more failures than before"
    )
    base = alt.Chart(pd.DataFrame(rows)).encode(
        y=alt.Y("cause:N", title=None, axis=alt.Axis(labelLimit=280)),
        yOffset=alt.YOffset("run:N", sort=["before", "after"]),
    )
    bars = base.mark_bar().encode(
        x=alt.X("items:Q", title="failed items", axis=alt.Axis(tickMinStep=1)),
        color=alt.Color("run:N", title=None, sort=["before", "after"], scale=alt.Scale(range=["#9aa3ad", ACCENT])),
    )
    numbers = base.mark_text(align="left", dx=4, color=ink()).encode(x="items:Q", text=alt.Text("words:N"))
    return (bars + numbers).properties(height=AXES_HEIGHT + 1.6 * ROW_HEIGHT * len(causes), title=title)


def _change_table(changes: Sequence[Change]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "figure": [_name(change) for change in changes],
            "before": [f"{change.before:.3f}" for change in changes],
            "after": [f"{change.after:.3f}" for change in changes],
            "difference": [f"{change.difference:+.3f}" for change in changes],
            "95% interval": [f"{change.low:+.3f} to {change.high:+.3f}" for change in changes],
            "items": [change.items for change in changes],
            "verdict": [verdict(change) for change in changes],
            "p (paired)": [f"{change.p_value:.3f}" for change in changes],
            "intervals overlap": ["yes" if change.intervals_overlap else "no" for change in changes],
        }
    )


def _turned_table(turned: Sequence[tuple[str, ItemChange]]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "": [what for what, _ in turned],
            "question": [plain_line(item.question, 140) for _, item in turned],
            "mode": [MODE_WORDS.get(Mode(item.mode), item.mode) for _, item in turned],
            "why now": [plain_line(item.reason_after, 120) for _, item in turned],
            "cause": [plain_line(item.cause_after, 60) for _, item in turned],
            "item": [plain_line(item.id, 60) for _, item in turned],
        }
    )


def _show_answers(item: ItemChange) -> None:
    st.markdown(f"**{markdown_text(item.question, 400)}**")
    old, new = item.answer_before or "", item.answer_after or ""
    segments = word_diff(old[:3000], new[:3000])
    for column, title, skipped, reason in zip(
        st.columns(2),
        ("Before", "After"),
        (Part.ADDED, Part.REMOVED),
        (item.reason_before, item.reason_after),
        strict=True,
    ):
        with column:
            st.markdown(f"**{title}**")
            body = "".join(segment_html(segment) for segment in segments if segment.part is not skipped)
            st.html(f'<div class="errata-answer"><bdi>{body or NONE}</bdi></div>')
            st.caption(markdown_text(reason, 400))


def _cell(change: Change) -> str:
    return f"{change.after:.0%} ({points(change.difference)}) {_VERDICT_SHAPES[verdict(change)]}"


def _name(change: Change) -> str:
    return MODE_WORDS[Mode(change.name)] if change.name in list(Mode) else title_of(change.name)

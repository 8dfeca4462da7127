"""The monitor on the screen: figures with what moved, days, prompt versions, topics; each opens what it counts."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from curation_app.components.ink import ACCENT, GREY
from curation_app.components.next_step import show_link
from curation_app.components.page_text import markdown_text, plain_line
from curation_app.service.changes import Change
from curation_app.service.growing_topics import GrowingTopic
from curation_app.service.measures import MEASURES, Measure, amount_of, share_of, shown
from curation_app.service.monitoring import Compared, Gauge, MonitorView, VersionRow
from ingest.daily_reading import DailyChoices, DailyFilter, DayFigures

_COLUMNS = 4


def choose_filter(choices: DailyChoices) -> DailyFilter:
    """Draw the filters, kept in the URL."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        first = st.date_input("From", None, key="since", bind="query-params", width=140, **_bounds(choices))
        last = st.date_input("To", None, key="until", bind="query-params", width=140, **_bounds(choices))
        source = _choice("Source", "source", choices.sources)
        model = _choice("Model", "model", choices.models)
        version = _choice("Prompt", "prompt_version", choices.prompt_versions)
    return DailyFilter(
        first_day=first or choices.first_day,
        last_day=last or choices.last_day,
        source=source,
        model=model,
        prompt_version=version,
    )


def show_findings(view: MonitorView, topics: Sequence[GrowingTopic]) -> None:
    """Draw what moved by more than noise."""
    findings = list(view.findings)
    if topics:
        findings.append("Asked about more than before: " + ", ".join(f"“{topic.phrase}”" for topic in topics[:4]))
    if not findings:
        st.success("Nothing moved by more than noise.")
        return
    st.markdown("\n".join(f"- **{markdown_text(finding, 300)}**" for finding in findings))


def show_gauges(view: MonitorView) -> None:
    """Draw one card a measure."""
    for start in range(0, len(view.gauges), _COLUMNS):
        row = view.gauges[start : start + _COLUMNS]
        for column, gauge in zip(st.columns(_COLUMNS), row, strict=False):
            with column.container(border=True, height="stretch"):
                _show_gauge(gauge, view)


def show_days(view: MonitorView) -> None:
    """Draw the chosen measure by day, with intervals and the first day of each prompt version."""
    names = [gauge.measure.name for gauge in view.gauges]
    titles = {measure.name: measure.title for measure in MEASURES}
    picked = st.selectbox(
        "Figure by day", names, format_func=titles.__getitem__, index=names.index(_telling(view)), key="figure",
        bind="query-params", width=260,
    )  # fmt: skip
    gauge = next(gauge for gauge in view.gauges if gauge.measure.name == picked)
    picked_day = st.altair_chart(
        _day_chart(gauge, view), alt=f"{gauge.measure.title} by day", on_select="rerun", key=f"days-{picked}"
    )["selection"].get("day", [])
    st.caption("Click a day to see what stands behind it.")
    if picked_day:
        on = datetime.fromtimestamp(picked_day[0]["day"] / 1000, UTC).date()
        narrowed = view.compared.filters._replace(first_day=on, last_day=on)
        open_behind(f"{gauge.measure.title} on {on:%d %B}: open", narrowed, **gauge.measure.behind())


def show_versions(rows: Sequence[VersionRow], by: str, title: str, view: MonitorView) -> None:
    """Draw a table of prompt versions or models; what differs from the row before is marked."""
    if not rows:
        return
    st.markdown(f"**{title}**")
    table = pd.DataFrame([_version_row(row) for row in rows])
    numbers = {name: st.column_config.TextColumn(name, alignment="right") for name in table.columns[2:]}
    cells = st.dataframe(
        table, hide_index=True, height="content", column_config=numbers, on_select="rerun",
        selection_mode="single-cell", key=f"cells-{by}",
    )["selection"]["cells"]  # fmt: skip
    st.caption(
        "▲ ▼ mark what differs from the row before by more than noise (99% interval, no narrower than days vary). "
        "Click a figure to see what stands behind it."
    )
    if cells:
        place, title = cells[0]
        measure = next((one for one in MEASURES if one.title == title), MEASURES[0])
        only: Any = {by: rows[place].name}
        narrowed = view.compared.filters._replace(**only)
        label = f"{measure.title} of {rows[place].name or 'unknown'}: open"
        open_behind(label, narrowed, **measure.behind())


def show_topics(topics: Sequence[GrowingTopic], compared: Compared) -> None:
    """Draw what is asked about more than before, each phrase opening its questions."""
    st.markdown("**Asked about more than before**")
    days = (compared.last_day - compared.recent_from).days + 1
    st.caption(
        f"The last {days} days against the {(compared.recent_from - compared.before_from).days} before, as shares of "
        "all questions. At most one in twenty of the words behind these is there by chance."
    )
    if not topics:
        st.caption("Nothing is asked about more than before by more than chance.")
    for topic in topics:
        times = f"{topic.growth:.1f} times its share before" if topic.growth else "not asked before"
        label = f"“{topic.phrase}”: {topic.recent:,} questions, {times} ({topic.before:,})"
        open_behind(label, compared.filters, text=topic.phrase)
        st.caption(f"for example: {markdown_text(topic.example, 160)}")


def _telling(view: MonitorView) -> str:
    """Return the figure to open on: the first that moved, else how often nothing was found."""
    moved = [
        gauge.measure for gauge in view.gauges for finding in view.findings if finding.startswith(gauge.measure.title)
    ]
    return moved[0].name if moved else "declined"


def _show_gauge(gauge: Gauge, view: MonitorView) -> None:
    measure = gauge.measure
    values = [point.value for point in gauge.points if point.value is not None]
    st.metric(
        measure.title,
        shown(measure, gauge.value),
        delta=_delta(measure, gauge.change),
        delta_color=_delta_colour(measure, gauge.change),
        delta_arrow="auto" if gauge.change.is_more_than_noise else "off",
        help=_help(gauge, view.compared.recent_from),
        chart_data=values if len(values) > 1 else None,
        chart_type="line",
    )
    if gauge.share is not None:
        label = f"{gauge.share.part:,} of {gauge.share.total:,} {measure.denominator_name}"
    else:
        label = measure.meaning
    open_behind(label, view.compared.filters, **measure.behind())


def open_behind(label: str, filters: DailyFilter, **query: str) -> None:
    """Draw a figure as a link to what stands behind it."""
    show_link(page_behind(query), markdown_text(label), query_behind(filters, query), icon=":material/arrow_right_alt:")


def page_behind(query: Mapping[str, str]) -> str:
    """Return where a figure leads: what signals found is in the queue, anything else is listed from the log."""
    return "queue" if "signal" in query else "interactions"


def query_behind(filters: DailyFilter, query: Mapping[str, str]) -> dict[str, str]:
    """Return the address of what stands behind a figure under the filters."""
    params = {
        **query,
        "since": filters.first_day.isoformat() if filters.first_day else "",
        "until": filters.last_day.isoformat() if filters.last_day else "",
        "source": filters.source or "" if page_behind(query) == "interactions" else "",
        "model": filters.model or "",
        "prompt_version": filters.prompt_version or "",
    }
    return {name: value for name, value in params.items() if value}


def _delta(measure: Measure, change: Change) -> str | None:
    if change.before is None or change.after is None:
        return None
    if change.verdict == "steady":
        return f"steady (was {shown(measure, change.before)})"
    if not change.is_more_than_noise:
        return None if measure.kind == "daily" else "too few to tell"
    return f"{'+' if change.after > change.before else '-'} was {shown(measure, change.before)}"


def _delta_colour(measure: Measure, change: Change) -> Any:
    if not change.is_more_than_noise:
        return "off"
    return "normal" if measure.is_good else "inverse"


def _help(gauge: Gauge, recent_from: date) -> str:
    change = gauge.change
    words = f"{gauge.measure.meaning}. Compared: since {recent_from:%d %B} against the time before."
    if change.low is None or change.high is None or gauge.measure.kind != "rate":
        return words
    return f"{words} Difference {change.low * 100:+.1f} to {change.high * 100:+.1f} points (99% interval)."


def _day_chart(gauge: Gauge, view: MonitorView) -> Any:
    measure = gauge.measure
    scale = 1000 if measure.kind == "latency" else 1
    rows = [
        {
            "day": pd.Timestamp(point.day),
            "value": point.value / scale,
            "low": (point.low if point.low is not None else point.value) / scale,
            "high": (point.high if point.high is not None else point.value) / scale,
            "words": f"{point.day:%d %B}: {shown(measure, point.value)} of {point.total:,}",
        }
        for point in gauge.points
        if point.value is not None
    ]
    axis = alt.Axis(format="%") if measure.kind == "rate" else alt.Axis()
    unit = {"rate": f"share of {measure.denominator_name}", "latency": "seconds", "cost": "cost", "daily": "a day"}
    base = alt.Chart(pd.DataFrame(rows)).encode(
        x=alt.X("day:T", title="day (UTC)", axis=alt.Axis(format="%d %b", tickCount=min(len(rows), 12))),
        tooltip=[alt.Tooltip("words:N", title=measure.title)],
    )
    y = alt.Y("value:Q", title=unit[measure.kind], axis=axis, scale=alt.Scale(zero=True))
    ranges = base.mark_rule(color=GREY, strokeWidth=1.5).encode(y="low:Q", y2="high:Q")
    line = base.mark_line(color=ACCENT).encode(y=y)
    dots = base.mark_point(filled=True, size=70, color=ACCENT, opacity=1).encode(y=y)
    dots = dots.add_params(alt.selection_point("day", fields=["day"]))
    return (ranges + line + dots + _version_marks(view.versions)).properties(height=230, title=_day_title(gauge, view))


def _version_marks(versions: Sequence[VersionRow]) -> Any:
    rows = [{"day": pd.Timestamp(row.first_day), "name": f" prompt {row.name or 'unknown'}"} for row in versions]
    base = alt.Chart(pd.DataFrame(rows)).encode(x="day:T")
    rules = base.mark_rule(strokeDash=[4, 3], color=GREY)
    names = base.mark_text(align="left", baseline="top", dy=2, color=GREY).encode(y=alt.value(0), text="name:N")
    return rules + names


def _day_title(gauge: Gauge, view: MonitorView) -> str:
    about = [finding for finding in view.findings if finding.startswith(f"{gauge.measure.title} ")]
    return about[0] if about else f"{gauge.measure.title}: no change by more than noise"


def _version_row(row: VersionRow) -> dict[str, str]:
    cells = {
        "": plain_line(row.name, 40) or "unknown",
        "since": f"{row.first_day:%d %b}",
        "questions": f"{row.figures.interactions:,}",
    }
    for measure in MEASURES:
        if measure.kind == "daily":
            continue
        cells[measure.title] = _marked(measure, row.figures, row.changes.get(measure.name))
    return cells


def _marked(measure: Measure, figures: DayFigures, change: Change | None) -> str:
    value = share_of(measure, figures).rate if measure.kind == "rate" else amount_of(measure, figures)
    mark = ""
    if change is not None and change.is_more_than_noise:
        mark = " ▲" if (change.after or 0) > (change.before or 0) else " ▼"
    return shown(measure, value) + mark


def _choice(label: str, name: str, options: Sequence[str]) -> str | None:
    if len(options) < 2:  # noqa: PLR2004 - nothing to choose
        return None
    picked: str | None = st.selectbox(
        label, options, index=None, placeholder="any", key=name, bind="query-params", width=170,
        format_func=lambda value: value or "unknown",
    )  # fmt: skip
    return picked


def _bounds(choices: DailyChoices) -> dict[str, Any]:
    return {"min_value": choices.first_day, "max_value": choices.last_day}

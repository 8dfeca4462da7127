"""The parts of the Health page: size and mix, coverage, drift, what is due, known failures, items to question."""

import altair as alt
import pandas as pd
import streamlit as st

from curation_app import session_keys
from curation_app.components.diff_view import mode_words
from curation_app.components.modes import MODE_COLOURS, MODE_SHAPES
from curation_app.components.page_text import markdown_text, plain_line
from curation_app.service.drifting import Drifted
from curation_app.service.set_health import SetHealth
from evalsets.items import FAILURE_MODES
from evalsets.sets.coverage import Coverage
from evalsets.sets.drift import DriftKind
from evalsets.sets.upkeep import SIZE_GOAL, DueItem, ItemRecord

_ROWS = 50
_LATER, STILL_RIGHT, CORRECT, RETIRE = "later", "still right", "correct it", "retire"
CHOICES = (_LATER, STILL_RIGHT, CORRECT, RETIRE)


def show_headline(health: SetHealth) -> None:
    """Show how large the set is on its way to fifty, and what waits."""
    items = len(health.eval_set.items) + health.held_out
    size, due, failing, looks = st.columns(4)
    size.metric("Items", f"{items} of {SIZE_GOAL}" if items < SIZE_GOAL else str(items))
    due.metric("Due for review", len(health.overdue))
    failing.metric("Known failing", len(health.known_failing))
    looks.metric("Looks at holdout", len(health.looks) if health.held_out else "none held out")
    if items < SIZE_GOAL:
        st.progress(items / SIZE_GOAL, text=f"{SIZE_GOAL - items} more to fifty, where figures begin to hold still")


def show_mix(health: SetHealth) -> None:
    """Show how many items each mode has, with what is out of balance as the title."""
    rows = [
        {"mode": f"{MODE_SHAPES[mode]} {mode_words(mode)}", "items": count, "colour": MODE_COLOURS[mode]}
        for mode, count in health.modes.items()
    ]
    table = pd.DataFrame(rows)
    bars = alt.Chart(table).encode(
        y=alt.Y("mode:N", sort=None, title=None), x=alt.X("items:Q", title=None, axis=alt.Axis(tickMinStep=1))
    )
    chart = bars.mark_bar(size=16).encode(color=alt.Color("colour:N", scale=None))
    labels = bars.mark_text(align="left", dx=4, color="gray").encode(text="items:Q")
    st.markdown(f"**{_mix_title(health)}**")
    st.altair_chart((chart + labels).properties(height=150))


def _mix_title(health: SetHealth) -> str:
    failures = sum(health.modes[mode] for mode in FAILURE_MODES)
    if not failures:
        return "No failure is in the set yet"
    most = max(FAILURE_MODES, key=lambda mode: health.modes[mode])
    return f"{mode_words(most).capitalize()} is {health.modes[most]} of {failures} failures"


def show_growth(health: SetHealth) -> None:
    """Show when items were added, and how long a failure takes to become one."""
    if len(health.by_week) > 1:
        weeks = pd.DataFrame({"week": list(health.by_week), "items added": list(health.by_week.values())})
        st.markdown(f"**{sum(health.by_week.values())} items in {len(health.by_week)} weeks**")
        chart = alt.Chart(weeks).mark_bar(color="#6f7883")
        st.altair_chart(chart.encode(x=alt.X("week:T", title=None), y=alt.Y("items added:Q")).properties(height=150))
    if health.days_to_item is not None:
        st.caption(f"From failure to item: {health.days_to_item:.0f} days (median)")


def show_coverage(coverages: tuple[Coverage, ...]) -> None:
    """Show the mix of the set beside that of traffic."""
    for tab, coverage in zip(st.tabs([each.respect.capitalize() for each in coverages]), coverages, strict=True):
        missing = [row.value for row in coverage.rows if row.is_missing]
        listed = ", ".join(missing[:5])
        tab.markdown(
            f"{len(missing)} value(s) of at least 2% of traffic are in no item: {markdown_text(listed)}"
            if missing
            else "Everything that makes up 2% of traffic is in the set."
        )
        rows = [
            {
                "value": plain_line(row.value, 60),
                "in the set": f"{row.in_set} ({row.set_share:.0%})",
                "in traffic": f"{row.in_traffic:,} ({row.traffic_share:.0%})",
                "": "missing" if row.is_missing else "off" if row.is_off else "",
            }
            for row in coverage.rows[:_ROWS]
        ]
        tab.dataframe(pd.DataFrame(rows), hide_index=True)


def show_drift(drifted: Drifted | None) -> None:
    """Show what became of the gold chunks."""
    if drifted is None:
        st.info("No corpus is loaded. `errata corpus add FILE` loads one.")
        return
    report = drifted.shown
    if drifted.held_out_drift:
        st.warning(
            f"{drifted.held_out_drift} gold chunk(s) of held-out items need a person; see `errata drift` on their file."
        )
    if report.fits:
        st.success(f"All {len(report.gold)} gold chunks stand in the corpus as they were labelled.")
        return
    counts = ", ".join(f"{count} {kind}" for kind, count in report.counts().items() if count)
    st.warning(f"The set no longer fits the corpus: {counts}.")
    rows = [
        {
            "what": each.kind.value,
            "item": each.item_id,
            "gold": each.chunk_id,
            "now": ", ".join(chunk.chunk_id for chunk in each.found_in),
            "text when labelled": plain_line(each.old_text),
        }
        for each in report.gold
        if each.kind is not DriftKind.VALID
    ]
    st.dataframe(pd.DataFrame(rows[:_ROWS]), hide_index=True)


def show_due(due: list[DueItem]) -> None:
    """Draw the form rows of the items confirmed longest ago."""
    for each in due:
        with st.container(border=True):
            st.markdown(f"**{markdown_text(each.item.question, 300)}**")
            expected = markdown_text(each.item.expected, 400) or "declining is right"
            due_words = ", due" if each.is_due else ""
            st.caption(f"{each.item.id} · {mode_words(each.item.mode)} · confirmed {each.days} days ago{due_words}")
            st.markdown(f"Expected: {expected}")
            choice, reason = st.columns([2, 3], vertical_alignment="bottom")
            choice.segmented_control(
                "Decision", CHOICES, default=_LATER, key=session_keys.review_key(each.item.id), required=True
            )
            reason.text_input("Why, if it is retired", key=session_keys.review_key(each.item.id, "reason"))


def show_known_failing(health: SetHealth) -> None:
    """Show what is known to fail, with what passes by now and what is overdue first."""
    if not health.known_failing:
        st.caption("Nothing is known to fail. `errata known-failing --add ID` moves an item here.")
        return
    order = sorted(health.known_failing, key=lambda state: (not state.passes_now, not state.is_overdue))
    rows = [
        {
            "item": state.entry.id,
            "now": "passes: take it out" if state.passes_now else "overdue" if state.is_overdue else "",
            "reason": state.entry.reason,
            "owner": state.entry.owner,
            "since": state.entry.since,
            "review by": state.entry.review_by,
        }
        for state in order
    ]
    st.dataframe(pd.DataFrame(rows[:_ROWS]), hide_index=True)
    counts = pd.DataFrame([(each.version, each.known_failing) for each in health.versions], columns=["version", "n"])
    if len(counts) > 1:
        line = alt.Chart(counts).mark_line(point=True, color="#6f7883")
        axis = alt.Axis(tickMinStep=1, format="d")
        chart = line.encode(x=alt.X("version:Q", axis=axis), y=alt.Y("n:Q", title="known failing", axis=axis))
        st.altair_chart(chart.properties(height=140))


def show_questionable(health: SetHealth) -> None:
    """Show the items that tell runs nothing."""
    if not health.questionable:
        st.caption(f"After {health.runs} recorded run(s) no item stands out; three runs are needed to say.")
        return
    rows = [
        {"item": each.item_id, "why question it": _why(each), "passed": f"{each.passes} of {each.runs} runs"}
        for each in health.questionable
    ]
    st.dataframe(pd.DataFrame(rows[:_ROWS]), hide_index=True)


def _why(record: ItemRecord) -> str:
    if record.never_fails:
        return "never fails: does it still ask for anything?"
    if record.always_fails:
        return "every run fails it: is it right, and can it be answered?"
    return "passes where the others fail: is its check right?"


def show_ledger(health: SetHealth) -> None:
    """Show each look at the held-out items and what their gap means."""
    if not health.held_out:
        st.caption("Nothing is held out. Set holdout_share under [sets] in errata.toml; it applies to new items.")
        return
    st.markdown(markdown_text(health.gap_sentence, 500))
    rows = [
        {
            "when": look.looked_at,
            "who": look.looked_by,
            "pipeline": look.pipeline,
            "dev": f"{look.dev.pass_rate:.0%}",
            "holdout": f"{look.holdout.pass_rate:.0%}",
            "gap": f"{100 * look.gap:+.0f} ({100 * look.low:+.0f} to {100 * look.high:+.0f})",
        }
        for look in reversed(health.looks)
    ]
    if rows:
        st.dataframe(pd.DataFrame(rows[:_ROWS]), hide_index=True)

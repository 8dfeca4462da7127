"""The judge on the screen: blind grading one answer at a time, how far it agrees with people, and over time."""

from collections.abc import Callable, Sequence
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from curation_app.components.figures import NONE
from curation_app.components.ink import ACCENT, GREY, ink
from curation_app.components.page_text import markdown_text, plain_line, safe_html
from curation_app.components.score_charts import AXES_HEIGHT, ROW_HEIGHT
from curation_app.service.evidence import MODE_MEANINGS, MODE_WORDS
from curation_app.service.judging import Grading
from evalsets.judges.gate_right import LEAST_KAPPA, GateRight
from evalsets.judges.grading import Gradable, GradeBook
from evalsets.statistics import Interval

Enter = Callable[[str, bool | None, str], None]


def show_answer_to_grade(answer: Gradable, grading: Grading, enter: Enter) -> None:
    """Draw the next answer without the judge's verdict, and the buttons that grade it."""
    drawn = len(grading.book.drawn)
    done = drawn - len(grading.waiting)
    st.progress(done / drawn if drawn else 0.0, f"{done} of {drawn} graded by you; the judge's verdict stays hidden")
    st.html(f'<div class="errata-question">{safe_html(answer.question)}</div>')
    st.caption(f"{MODE_WORDS[answer.mode]}: {MODE_MEANINGS.get(answer.mode, 'passed in production')}")
    expected, given = st.columns(2, gap="medium")
    expected.markdown("**Expected**")
    expected.html(f'<div class="errata-answer">{safe_html(answer.expected or "(declining is right)")}</div>')
    given.markdown("**Answered**")
    given.html(f'<div class="errata-answer">{safe_html(answer.answer)}</div>')
    note_key = f"note-{answer.item_id}-{answer.answer_hash}"
    st.text_input("Note (optional)", key=note_key, max_chars=500)
    with st.container(horizontal=True):
        for label, human, shortcut in (("Passes", True, "p"), ("Fails", False, "f"), ("Cannot tell", None, "t")):
            st.button(
                label,
                key=f"{label}-{answer.item_id}-{answer.answer_hash}",
                shortcut=shortcut,
                type="primary" if human is not None else "secondary",
                on_click=enter,
                args=(answer.item_id, human, note_key),
            )


def show_agreement(book: GradeBook, right: GateRight) -> None:
    """Draw kappa and rates with intervals, the gate's word, and the disagreements to read."""
    agreement = book.agreement
    if agreement is None:
        st.info("Nothing is graded yet, so nothing is known of this judge.")
        return
    (st.success if right.allowed else st.warning)(markdown_text(f"{right.reason[:1].upper()}{right.reason[1:]}", 400))
    rows = [
        ("Cohen's kappa", agreement.kappa, agreement.kappa_interval),
        ("passes what people pass", agreement.true_positive_rate, agreement.true_positive_interval),
        ("fails what people fail", agreement.true_negative_rate, agreement.true_negative_interval),
    ]
    st.altair_chart(_agreement_chart(rows), alt="Agreement of the judge with people, with 95% intervals")
    table = agreement.confusion
    st.caption(
        f"Of {table.total} graded: both pass {table.both_pass}, only the judge passes {table.only_judge}, "
        f"only people pass {table.only_human}, both fail {table.both_fail}. Raw agreement {agreement.raw:.0%}; "
        f"people pass {agreement.human_pass_rate:.0%}, the judge {agreement.judge_pass_rate:.0%}; "
        f"AC1 {NONE if agreement.ac1 is None else f'{agreement.ac1:.2f}'}."
        + (f" {agreement.note}" if agreement.note else "")
    )
    _show_disagreements(book)


def show_over_time(books: Sequence[GradeBook]) -> None:
    """Draw kappa by fingerprint, the judge graded last on the right."""
    graded = [(book, book.agreement) for book in reversed(books) if book.agreement is not None]
    if len(graded) < 2:  # noqa: PLR2004 - one is no course of time
        return
    rows = [
        {
            "judge": f"{place}. {book.judge} {book.fingerprint[:8]}",
            "kappa": agreement.kappa,
            "low": agreement.kappa_interval.low if agreement.kappa_interval else agreement.kappa,
            "high": agreement.kappa_interval.high if agreement.kappa_interval else agreement.kappa,
        }
        for place, (book, agreement) in enumerate(graded, 1)
        if agreement is not None and agreement.kappa is not None
    ]
    base = alt.Chart(pd.DataFrame(rows, columns=["judge", "kappa", "low", "high"])).encode(
        x=alt.X("judge:N", title="judge and fingerprint, graded last on the right", sort=None)
    )
    ranges = base.mark_rule(color=GREY, strokeWidth=1.5).encode(y=alt.Y("low:Q", title="kappa"), y2="high:Q")
    marks = base.mark_point(filled=True, size=70, color=ACCENT).encode(y="kappa:Q")
    st.altair_chart((ranges + marks + _bar_rule("y")).properties(height=240, title="Kappa by fingerprint"))


def _show_disagreements(book: GradeBook) -> None:
    if not book.disagreements:
        st.caption("Judge and people disagree on nothing that was graded.")
        return
    st.markdown("**Disagreements to read**")
    st.dataframe(
        pd.DataFrame(
            {
                "item": [plain_line(grade.item_id, 60) for grade in book.disagreements],
                "people": ["passes" if grade.human else "fails" for grade in book.disagreements],
                "judge": ["passes" if grade.judge else "fails" for grade in book.disagreements],
                "the judge says": [plain_line(grade.judge_note, 160) for grade in book.disagreements],
                "note": [plain_line(grade.note, 120) for grade in book.disagreements],
                "by": [plain_line(grade.graded_by, 40) for grade in book.disagreements],
            }
        ),
        hide_index=True,
        height="content",
    )


def _agreement_chart(rows: Sequence[tuple[str, float | None, Interval | None]]) -> Any:
    shown: list[dict[str, Any]] = [
        {
            "figure": name,
            "value": value,
            "low": bounds.low if bounds else value,
            "high": bounds.high if bounds else value,
            "words": f"{value:.2f}" + (f" ({bounds.low:.2f} to {bounds.high:.2f})" if bounds else ""),
        }
        for name, value, bounds in rows
        if value is not None
    ]
    base = alt.Chart(pd.DataFrame(shown, columns=["figure", "value", "low", "high", "words"])).encode(
        y=alt.Y("figure:N", title=None, sort=None, axis=alt.Axis(labelLimit=260))
    )
    scale = alt.Scale(domain=[min([0.0, *(row["low"] for row in shown)]), 1.45], nice=False)
    ranges = base.mark_rule(color=GREY, strokeWidth=2).encode(x=alt.X("low:Q"), x2="high:Q")
    marks = base.mark_point(filled=True, size=90, color=ACCENT).encode(
        x=alt.X("value:Q", title="agreement", scale=scale, axis=alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1]))
    )
    words = base.mark_text(align="left", dx=8, color=ink()).encode(x="high:Q", text="words:N")
    kappa = next((row["value"] for row in shown if row["figure"] == "Cohen's kappa"), None)
    title = _kappa_title(kappa)
    return (ranges + marks + words + _bar_rule("x")).properties(
        height=AXES_HEIGHT + ROW_HEIGHT * len(shown), title=title
    )


def _kappa_title(kappa: float | None) -> str:
    if kappa is None:
        return "Kappa is undefined: people or judge gave one verdict only"
    if kappa >= LEAST_KAPPA:
        return f"The judge agrees with people: kappa {kappa:.2f}, at least {LEAST_KAPPA}"
    return f"The judge agrees too little with people: kappa {kappa:.2f} under {LEAST_KAPPA}"


def _bar_rule(channel: str) -> Any:
    rule = alt.Chart(pd.DataFrame({"bar": [LEAST_KAPPA]})).mark_rule(strokeDash=[4, 3], color=GREY)
    return rule.encode(x="bar:Q") if channel == "x" else rule.encode(y="bar:Q")

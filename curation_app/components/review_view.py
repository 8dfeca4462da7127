"""Agreement of two readers as figures and tables, and one disagreement side by side with the form that settles it."""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from curation_app import session_keys
from curation_app.components import session_view
from curation_app.components.modes import MODE_SHAPES
from curation_app.components.page_text import markdown_text, safe_html
from curation_app.labels import LabelContent, LabelEvent
from curation_app.review_items import ReviewItem
from curation_app.service.evidence import MODE_WORDS
from curation_app.service.labelling import Desk, facts_as_text
from curation_app.service.reviewing import NOT_A_FAILURE, AgreementReport, Disagreement, settle, verdict_of
from evalsets.errors import ErrataError
from evalsets.items import Mode

FEW_PAIRS = 30


def show_agreement(report: AgreementReport) -> None:
    """Draw agreement as a sentence, a table by mode and the confusion of the two readers."""
    interval = report.same_verdict_interval
    spread = f", {interval.low:.0%} to {interval.high:.0%}" if interval else ""
    share = report.same_verdict / report.pairs
    kappa = "not to be told" if report.kappa is None else f"{report.kappa:.2f}"
    st.markdown(
        f"**{report.same_verdict} of {report.pairs}** items got the same verdict "
        f"({share:.0%}{spread}). Cohen's kappa **{kappa}**."
    )
    if report.pairs < FEW_PAIRS:
        st.caption(f"{report.pairs} pairs are few: with under {FEW_PAIRS}, read kappa as a hint.")
    by_mode, confusion = st.columns(2, gap="large")
    by_mode.caption("By verdict, each against all others")
    by_mode.dataframe(
        [
            {
                "verdict": verdict_words(mode.verdict),
                "first reader": mode.used_by_first,
                "second reader": mode.used_by_second,
                "both": mode.used_by_both,
                "kappa": mode.kappa,
            }
            for mode in report.modes
        ],
        column_config={"kappa": st.column_config.NumberColumn(format="%.2f")},
    )
    confusion.caption("What the first reader said, and the second")
    confusion.dataframe(
        [
            {"first reader": verdict_words(first), "second reader": verdict_words(second), "items": count}
            for first, second, count in report.confusion
        ]
    )


def show_disagreement(desk: Desk, reviewer: str, found: Disagreement) -> None:
    """Draw both readings beside the answer, and the form that settles them."""
    pair = found.pair
    item = _as_item(desk, found, reviewer)
    st.html(session_view.question_html(item) + session_view.answer_html(item, {}))
    left, right = st.columns(2, gap="large", border=True)
    _reading(left, pair.first)
    _reading(right, pair.second)
    key = pair.first.token[:12] + pair.second.token[:12]
    with st.form(f"settle-{key}"):
        st.radio(
            "Which reading stands?",
            [0, 1],
            format_func=lambda which: (
                f"{(pair.first, pair.second)[which].author.name}: "
                f"{verdict_words(verdict_of((pair.first, pair.second)[which]))}"
            ),
            key=f"settle-which-{key}",
            index=None,
            horizontal=True,
        )
        st.text_area("Why", height=68, key=f"settle-why-{key}", help="Kept with the result and your name.")
        expected_key = f"settle-expected-{key}"
        st.text_area("Expected answer, if neither reader's will do", height=68, key=expected_key)
        st.form_submit_button("Settle", type="primary", on_click=partial(_settle, desk, reviewer, found, key))


def verdict_words(verdict: str) -> str:
    """Say a verdict in words, with the mode's shape."""
    return "not a failure" if verdict == NOT_A_FAILURE else f"{MODE_SHAPES[Mode(verdict)]} {MODE_WORDS[Mode(verdict)]}"


def _settle(desk: Desk, reviewer: str, found: Disagreement, key: str) -> None:
    which = session_keys.widget_value(f"settle-which-{key}")
    if which is None:
        session_keys.keep_problem("not settled: say which reading stands")
        return
    content = (found.pair.first, found.pair.second)[which].content
    changes = {"note": str(session_keys.widget_value(f"settle-why-{key}") or "")}
    expected = str(session_keys.widget_value(f"settle-expected-{key}") or "")
    if expected.strip():
        changes["expected"] = expected
    if verdict_of((found.pair.first, found.pair.second)[which]) == NOT_A_FAILURE:
        content = LabelContent()
    try:
        if not settle(desk.store, found.pair, reviewer, content.model_copy(update=changes)):
            session_keys.keep_problem("not settled: someone else has settled it since")
    except ErrataError as error:
        session_keys.keep_problem(f"not settled: {error}")


def _reading(column: DeltaGenerator, event: LabelEvent) -> None:
    content = event.content
    column.markdown(
        f"**{markdown_text(event.author.name)}** ({event.author.kind.value}): {verdict_words(verdict_of(event))}"
    )
    rows = [
        ("gold", ", ".join(content.gold_chunk_ids)),
        ("expected", content.expected),
        ("facts", facts_as_text(content.answer_facts)),
        ("note", content.note),
    ]
    column.html(
        "".join(
            f'<div class="errata-turn"><b>{name}</b> {safe_html(value, 600)}</div>' for name, value in rows if value
        )
    )


def _as_item(desk: Desk, found: Disagreement, reviewer: str) -> ReviewItem:
    return desk.store.item(found.candidate.candidate_id, reviewer)

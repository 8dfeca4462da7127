"""The playground on the screen: sliders, figures, the gate, and what each question got."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from curation_app.components.figures import NONE, percent
from curation_app.components.page_text import markdown_text, plain_line, safe_html
from curation_app.service.evidence import MODE_WORDS
from curation_app.service.playing import GateLine, Knobs, Played, Score

TABLE_HEIGHT = 390
SHOWN_ROWS = 50


_COLUMNS = {
    "": st.column_config.TextColumn(width=40),
    "question": st.column_config.TextColumn(width="medium"),
    "answer": st.column_config.TextColumn(width="medium"),
    "gold found": st.column_config.TextColumn(width=90),
    "grounded": st.column_config.TextColumn(width=90, alignment="right"),
    "correct": st.column_config.TextColumn(width=80, alignment="right"),
}


def turn_knobs() -> Knobs:
    """Draw the sliders."""
    columns = st.columns([3, 3, 3, 2], vertical_alignment="bottom")
    return Knobs(
        top_k=columns[0].slider("Chunks retrieved (top k)", 1, 20, 5, key="top_k", bind="query-params"),
        groundedness=columns[1].slider(
            "Groundedness has to reach", 0.0, 1.0, 0.8, 0.05, key="groundedness", bind="query-params",
            help="Share of the answer's content words that stand in the retrieved text: a proxy, it sees words.",
        ),
        correctness=columns[2].slider(
            "Correctness has to reach", 0.0, 1.0, 0.4, 0.05, key="correctness", bind="query-params",
            help="Share of the facts that stand in the answer; for what the corpus does not hold, declining.",
        ),
        is_padded=columns[3].toggle(
            "Pad answers", key="padded", bind="query-params", help="Adds a sentence that nothing supports."
        ),
    )  # fmt: skip


def show_score(score: Score) -> None:
    """Draw the figures, the gate and the questions."""
    for column, (title, value) in zip(
        st.columns(4),
        (
            ("Recall", score.recall),
            ("Precision", score.precision),
            ("Accuracy", score.accuracy),
            ("Refusal rate", score.refusal_rate),
        ),
        strict=True,
    ):
        column.metric(title, percent(value), border=True)
    _show_gate(score)
    if len(score.played) > SHOWN_ROWS:
        st.caption(f"The first {SHOWN_ROWS} of {len(score.played)} questions:")
    st.dataframe(_table(score.played[:SHOWN_ROWS]), hide_index=True, height=TABLE_HEIGHT, column_config=_COLUMNS)


def show_answer(played: Played) -> None:
    """Draw the answer to a typed question and the chunks it came from."""
    st.html(f'<div class="errata-answer">{safe_html(played.case.answer or "")}</div>')
    grounded = played.scores.groundedness
    words = "It declines." if played.declined else f"Groundedness {_share(grounded)}."
    st.caption(words)
    for rank, chunk in enumerate(played.case.retrieved, 1):
        with st.container(border=True):
            st.html(
                f'<div class="errata-chunk"><div class="head">{rank} · {safe_html(chunk.chunk_id)}</div>'
                f"{safe_html(chunk.text)}</div>"
            )


def _show_gate(score: Score) -> None:
    words = ", ".join(_line_words(line) for line in score.gate)
    if score.passes:
        st.success(f"Gate passes: {words}", icon=":material/check_circle:")
    else:
        st.error(f"Gate fails: {words}", icon=":material/cancel:")
    missed = len({failure.item_id for failure in score.questions.failures})
    st.caption(f"{markdown_text(str(missed))} of {score.questions.questions} questions miss a bar of their own.")


def _line_words(line: GateLine) -> str:
    return f"{line.name} {_share(line.value)} {'≥' if line.passes else '<'} {line.bar:.2f}"


def _table(played: Sequence[Played]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "": ["✓" if one.passed else "✗" for one in played],
            "question": [plain_line(one.case.item.question, 120) for one in played],
            "answer": [plain_line(one.case.answer or "", 160) for one in played],
            "gold found": [NONE if one.found_gold is None else "yes" if one.found_gold else "no" for one in played],
            "grounded": [_share(one.scores.groundedness) for one in played],
            "correct": [_share(one.scores.correctness) for one in played],
            "mode": [MODE_WORDS[one.case.item.mode] for one in played],
        }
    )


def _share(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}"

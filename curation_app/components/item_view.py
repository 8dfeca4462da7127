"""An item of a run on the screen: question, expected and given answer, chunks, facts, verdict and history."""

import html

import streamlit as st

from curation_app.components.figures import NONE, percent
from curation_app.components.page_text import markdown_text, marked_html, safe_html, visible
from curation_app.service.evidence import MODE_MEANINGS, MODE_WORDS
from curation_app.service.item_reading import ChunkReading, ItemReading, PastOutcome
from evalsets.report import ItemResult
from evalsets.words import content_words

_OUTCOME_MARKS = {1: "✓", 0: "✗", -1: NONE}
_OUTCOME_WORDS = {1: "passed", 0: "failed", -1: "not scored"}
_SHOWN_HISTORY = 30


def show_item(reading: ItemReading) -> None:
    """Draw an item."""
    result = reading.result
    st.html(f'<div class="errata-question">{safe_html(result.question)}</div>')
    meaning = MODE_MEANINGS.get(result.mode, "passed in production")
    st.caption(f"{markdown_text(result.id)} · {MODE_WORDS[result.mode]}: {meaning}")
    _show_verdict(reading)
    expected, given = st.columns(2, gap="medium")
    with expected:
        st.markdown("**Expected**")
        st.html(f'<div class="errata-answer">{safe_html(result.expected or "(declining is right)")}</div>')
        _show_facts(reading)
    with given:
        st.markdown("**Answered**")
        st.html(f'<div class="errata-answer">{_answer_html(result, reading.unsupported)}</div>')
        if reading.unsupported:
            st.caption("Wavy underline: stands in no retrieved chunk.")
    st.markdown("**Retrieved**")
    for chunk in reading.chunks:
        _show_chunk(chunk, result)
    if not reading.chunks:
        st.caption("Nothing was retrieved.")
    _show_history(reading.history)


def _show_verdict(reading: ItemReading) -> None:
    result = reading.result
    word = "Passed" if result.passed else "Failed" if result.is_scored else "Not scored"
    cause = f" Cause: {markdown_text(result.cause)}." if result.cause else ""
    st.markdown(f"**{word}.** {markdown_text(result.reason, 600)}{cause}")
    for name, step in result.steps.items():
        if step.status not in {"ok", "refused"}:
            st.caption(f"{name}: {step.status} {markdown_text(step.error, 400)}")


def _show_facts(reading: ItemReading) -> None:
    lines = [f"✓ {markdown_text(fact)}" for fact in reading.facts_hit]
    lines += [f"✗ {markdown_text(fact)} is missing" for fact in reading.facts_missed]
    if lines:
        st.caption("Facts: " + " · ".join(lines))


def _answer_html(result: ItemResult, unsupported: tuple[str, ...]) -> str:
    if result.answer is None:
        return "(no answer)"
    shown = html.escape(visible(result.answer[:3000]))
    for sentence in unsupported:
        escaped = html.escape(visible(sentence))
        shown = shown.replace(escaped, f'<span class="errata-unsupported">{escaped}</span>', 1)
    return f"<bdi>{shown}</bdi>" if shown else "(empty)"


def _show_chunk(chunk: ChunkReading, result: ItemResult) -> None:
    words = {
        "q": frozenset(content_words(result.question)),
        "w": frozenset(content_words(result.answer or "")),
    }
    place = f"{chunk.rank}" if chunk.rank is not None else "not retrieved"
    gold = " · ★ gold" if chunk.is_gold else ""
    score = f" · {chunk.score:.3g}" if chunk.score is not None else ""
    gave = f" · holds {percent(chunk.gave)} of the answer's words" if chunk.gave is not None else ""
    facts = f" · facts: {html.escape(visible(', '.join(chunk.facts)))}" if chunk.facts else ""
    head = f"{place} · {html.escape(visible(chunk.chunk_id))}{score}{gold}{gave}{facts}"
    body = marked_html(chunk.text, words) if chunk.text else "(the chunk store does not hold its text)"
    with st.container(border=True):
        st.html(
            f'<div class="errata-chunk"><div class="head">{head}</div>'
            f"<details><summary>{body}</summary></details></div>"
        )


def _show_history(history: tuple[PastOutcome, ...]) -> None:
    if len(history) < 2:  # noqa: PLR2004 - one run is no history
        return
    shown = history[:_SHOWN_HISTORY][::-1]
    passed = sum(past.outcome == 1 for past in history)
    marks = " ".join(_OUTCOME_MARKS[past.outcome] for past in shown)
    st.markdown(f"**History** passed in {passed} of {len(history)} runs, oldest first: {marks}")
    last = history[0]
    st.caption(f"latest: {_OUTCOME_WORDS[last.outcome]} in {markdown_text(last.label)}")

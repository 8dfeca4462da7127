"""An item of a run on the screen: question, expected and given answer, chunks, facts, verdict and figures."""

import html

import pandas as pd
import streamlit as st

from curation_app.components.figures import amount, percent, seconds, title_of
from curation_app.components.page_text import markdown_text, marked_html, safe_html, visible
from curation_app.service.evidence import MODE_MEANINGS, MODE_WORDS
from curation_app.service.item_reading import ChunkReading, ItemReading
from evalsets.judges.verdict import Verdict
from evalsets.report import ItemResult
from evalsets.running.clock import CallClock
from evalsets.words import content_words


def show_item(reading: ItemReading) -> None:
    """Draw an item."""
    result = reading.result
    st.html(f'<div class="errata-question">{safe_html(result.question)}</div>')
    st.caption(_kind(result))
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
    if reading.verdict is not None and reading.verdict.claims:
        _show_claims(reading.verdict)
    _show_chunks(reading)


def show_figures(result: ItemResult) -> None:
    """Draw every metric of the item that is defined for it."""
    defined = {name: value for name, value in result.scores.items() if value is not None}
    with st.expander(f"Every figure of this item ({len(defined)})"):
        table = pd.DataFrame(
            {"metric": [title_of(name) for name in defined], "value": [amount(one, "") for one in defined.values()]}
        )
        columns = {"value": st.column_config.TextColumn("value", alignment="right")}
        st.dataframe(table, hide_index=True, height="content", width=420, column_config=columns)


def _kind(result: ItemResult) -> str:
    meaning = MODE_MEANINGS.get(result.mode, "passed in production")
    parts = [f"{markdown_text(result.id)} · {MODE_WORDS[result.mode]}: {meaning}"]
    parts += [f"tagged {markdown_text(', '.join(result.tags))}"] if result.tags else []
    parts += ["known to fail, so not counted"] if result.is_known_failing else []
    return " · ".join(parts)


def _show_verdict(reading: ItemReading) -> None:
    result = reading.result
    word = "Passed" if result.passed else "Failed" if result.is_scored else "Not scored"
    repeats = f" in {sum(result.passes)} of {len(result.passes)} repeats" if len(result.passes) > 1 else ""
    colour = "green" if result.passed else "red" if result.is_scored else "gray"
    st.markdown(f":{colour}-badge[{word}{repeats}] {markdown_text(result.reason, 600)}")
    if result.cause:
        evidence = f" ({markdown_text(result.cause_evidence, 400)})" if result.cause_evidence else ""
        st.markdown(f"**What went wrong first:** {markdown_text(result.cause)}{evidence}")
    for name, step in result.steps.items():
        if step.status not in {"ok", "refused"}:
            st.caption(f"{name}: {step.status} {markdown_text(step.error, 400)}")
    if reading.timing is not None:
        st.caption(_timing_words(reading.timing))


def _timing_words(timing: CallClock) -> str:
    taken = {"retrieve": timing.retrieve_s, "answer": timing.answer_s, "judge": timing.judge_s}
    steps = ", ".join(f"{name} {seconds(value)}" for name, value in taken.items() if value is not None)
    return f"Took: {steps}, {timing.attempts} calls, retries included"


def _show_facts(reading: ItemReading) -> None:
    lines = [f"✓ {markdown_text(fact)}" for fact in reading.facts_hit]
    lines += [f"✗ {markdown_text(fact)} is missing" for fact in reading.facts_missed]
    if lines:
        st.caption("Facts: " + " · ".join(lines))


def _show_claims(verdict: Verdict) -> None:
    st.markdown("**What the judge made of each claim**")
    for claim in verdict.claims:
        quote = f": “{markdown_text(claim.quote, 300)}”" if claim.quote else ""
        found = f"✓ carried by what was retrieved{quote}" if claim.supported else "✗ carried by nothing retrieved"
        st.caption(f"{markdown_text(claim.claim, 400)} · {found}")


def _answer_html(result: ItemResult, unsupported: tuple[str, ...]) -> str:
    if result.answer is None:
        return "(no answer)"
    shown = html.escape(visible(result.answer[:3000]))
    for sentence in unsupported:
        escaped = html.escape(visible(sentence))
        shown = shown.replace(escaped, f'<span class="errata-unsupported">{escaped}</span>', 1)
    return f"<bdi>{shown}</bdi>" if shown else "(empty)"


def _show_chunks(reading: ItemReading) -> None:
    st.markdown("**Retrieved**")
    if not reading.chunks:
        st.caption("Nothing was retrieved.")
        return
    st.caption("Marked in the text: words of the facts tinted, of the question dotted, of the answer underlined.")
    result = reading.result
    words = {
        "f": frozenset(word for fact in reading.facts_hit + reading.facts_missed for word in content_words(fact)),
        "q": frozenset(content_words(result.question)),
        "w": frozenset(content_words(result.answer or "")),
    }
    for chunk in reading.chunks:
        _show_chunk(chunk, words, is_gold_known=bool(result.gold_chunk_ids))


def _show_chunk(chunk: ChunkReading, words: dict[str, frozenset[str]], *, is_gold_known: bool) -> None:
    place = f"{chunk.rank}" if chunk.rank is not None else "not retrieved"
    gold = " · ★ gold" if chunk.is_gold else " · not gold" if is_gold_known else ""
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

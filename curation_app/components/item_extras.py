"""What stands under the session: the item's history, its whole texts when they were cut, and how the day goes."""

import json

import streamlit as st

from curation_app.components.modes import MODE_SHAPES
from curation_app.components.page_text import SHOWN_CHARACTERS, markdown_text, safe_html
from curation_app.review_items import ReviewItem
from curation_app.service.evidence import MODE_WORDS
from curation_app.service.labelling import Desk, decision_words
from curation_app.service.overview import Progress
from evalsets.items import FAILURE_MODES


def show_extras(desk: Desk, item: ReviewItem) -> None:
    """Offer the history and the whole texts, each read only when asked for."""
    with st.container(horizontal=True, gap="small"):
        with st.popover("History", key=f"history-{item.token}", on_change="rerun") as history:
            if history.open:
                _history(desk, item)
        if item.candidate.group_size > 1:
            with st.popover(
                f"{item.candidate.group_size} alike", key=f"alike-{item.token}", on_change="rerun"
            ) as alike:
                if alike.open:
                    _members(desk, item)
        turn = item.candidate.flagged_turn
        longest = max([len(turn.question), len(turn.answer), *(len(chunk.text) for chunk in turn.retrieved)])
        if longest > SHOWN_CHARACTERS or len(item.candidate.turns) > 1:
            st.download_button(
                "Whole session",
                lambda: json.dumps(item.candidate.model_dump(mode="json"), ensure_ascii=True, indent=2),
                file_name="session.json",
                mime="application/json",
                key=f"whole-{item.token}",
                help="Every text of this session, uncut, as a JSON file.",
                on_click="ignore",
            )


def progress_html(progress: Progress) -> str:
    """Say how the day goes in one line, and whether the stopping rule holds."""
    parts = [f"{progress.labelled_today} labelled today"]
    if progress.per_hour:
        parts.append(f"{progress.per_hour:.0f} an hour")
    parts.append(f"{progress.remaining:,} left")
    parts += _mode_parts(progress)
    if progress.labels:
        parts.append(f"last {progress.labels_since_news} labels showed no new kind of failure")
    if progress.may_stop:
        parts.append("<b>you may stop: twenty labels in a row showed nothing new</b>")
    return f'<div class="errata-hint">{" · ".join(parts)}</div>'


def _mode_parts(progress: Progress) -> list[str]:
    """Say of each mode how many labels there are and how many items of the frozen set, so that gaps show."""
    labelled, frozen = dict(progress.mode_counts), dict(progress.set_modes)
    if not labelled and not frozen:
        return []
    modes = dict.fromkeys([*FAILURE_MODES, *labelled, *frozen])
    in_set = [f", {frozen.get(mode, 0)} in the set" if frozen else "" for mode in modes]
    return [
        f"{MODE_SHAPES[mode]} {MODE_WORDS[mode]} {labelled.get(mode, 0)}{words}"
        for mode, words in zip(modes, in_set, strict=True)
    ]


def _members(desk: Desk, item: ReviewItem) -> None:
    st.write("They ask the same. Label this one; then x closes the others under your label.")
    for member in desk.store.group_members([item.candidate.group_id]):
        when = member.asked_at.strftime("%Y-%m-%d") if member.asked_at else "no date"
        st.markdown(f"{when} · {member.state.value} · {markdown_text(member.question, 160)}")


def _history(desk: Desk, item: ReviewItem) -> None:
    events = desk.store.history(item.candidate.candidate_id)
    if not events:
        st.write("Nobody has decided anything on this item yet.")
    others_are_hidden = item.decision is None and desk.store.readers_needed(item.candidate.candidate_id) > 1
    if events and others_are_hidden:
        st.write("Another reader has labelled it. You see what they said once you have decided.")
        return
    for event in events:
        when = event.created_at.astimezone().strftime("%Y-%m-%d %H:%M")
        st.markdown(
            f"{when} · **{markdown_text(event.author.name)}** ({event.author.kind.value}): {decision_words(event)}"
        )
        if event.content.note:
            st.html(safe_html(event.content.note, 400))

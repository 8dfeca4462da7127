"""The right side of the Label page: mode, expected answer, facts, note, evidence, saved state and the decisions."""

from functools import partial

import streamlit as st

from curation_app.components import label_actions
from curation_app.components.chunk_cards import Card
from curation_app.components.key_listener import ListenerState, listen
from curation_app.components.label_actions import DECISION_KEYS, MODE_KEYS
from curation_app.components.page_text import markdown_text, safe_html
from curation_app.review_items import ReviewItem
from curation_app.service.evidence import (
    MODE_MEANINGS,
    MODE_WORDS,
    Evidence,
    Standing,
    StatementEvidence,
    contradictions,
)
from curation_app.service.labelling import Desk, facts_as_text
from curation_app.service.overview import overview
from curation_app.session_keys import LabelScreen, field_key
from evalsets.items import FAILURE_MODES, Mode

_STATEMENTS_SHOWN = 6


def show(desk: Desk, reviewer: str, screen: LabelScreen, cards: list[Card]) -> None:
    """Draw the form of the item on screen."""
    item = screen.item
    if item is None:
        return
    if item.held_by:
        st.warning(f"{markdown_text(item.held_by)} is labelling this item. You can read it.")
    _mode_field(desk, reviewer, item)
    _text_fields(desk, reviewer, item)
    _coding_fields(desk, reviewer, screen, item)
    _draft_help(desk, reviewer, screen, item)
    evidence = desk.evidence(item, screen.content)
    _evidence_lines(screen, item, evidence, cards)
    undo_token = item.undoable.token if item.undoable else ""
    offered = evidence.offered.chunk_id if evidence.offered else ""
    listen(
        ListenerState(
            token=item.token,
            chunks={card.letter: card.chunk_id for card in cards if card.letter},
            modes={key: mode.value for key, mode in MODE_KEYS.items()},
            decisions=DECISION_KEYS,
            offered=offered,
            undo=undo_token,
            group=item.offer.token if item.offer else "",
            group_words=f"Close the group of the last one: {item.offer.members} more" if item.offer else "",
            is_held=bool(item.held_by),
            status=label_actions.status_words(screen),
            is_problem=bool(screen.problem),
            acknowledged=screen.acknowledged,
        ),
        partial(label_actions.on_listener, desk, reviewer),
    )


def _mode_field(desk: Desk, reviewer: str, item: ReviewItem) -> None:
    key = field_key("mode", item.token)
    modes = [mode.value for mode in FAILURE_MODES]
    st.radio(
        "What went wrong first?",
        modes,
        index=modes.index(item.draft.mode.value) if item.draft.mode in FAILURE_MODES else None,
        format_func=_mode_choice,
        key=key,
        on_change=partial(label_actions.on_field, desk, reviewer, item.token, "mode", key),
        help="Label the first thing that went wrong: when the right chunk was not retrieved, "
        "the answer could not be right, whatever the model said.",
    )


def _mode_choice(mode: str) -> str:
    known = Mode(mode)
    return f"{FAILURE_MODES.index(known) + 1}  **{MODE_WORDS[known]}**: {MODE_MEANINGS[known]}"


def _text_fields(desk: Desk, reviewer: str, item: ReviewItem) -> None:
    draft = item.draft
    fields = (
        ("expected", "Expected answer", draft.expected, "what the assistant should have said"),
        (
            "answer_facts",
            "Facts the answer must contain",
            facts_as_text(draft.answer_facts),
            "one a line",
        ),
        ("note", "Note", draft.note, "what you saw; needed when you go against the evidence"),
    )
    for name, label, value, placeholder in fields:
        key = field_key(name, item.token)
        st.text_area(
            label,
            value,
            height=68,
            key=key,
            placeholder=placeholder,
            on_change=partial(label_actions.on_field, desk, reviewer, item.token, name, key),
        )


def _coding_fields(desk: Desk, reviewer: str, screen: LabelScreen, item: ReviewItem) -> None:
    code_column, tags_column = st.columns(2, gap="small")
    codes = overview(desk.workspace, reviewer, desk.settings.review).codes
    mode = screen.content.mode
    known = list(codes.get(mode, ())) if mode else []
    key = field_key("sub_code", item.token)
    code_column.selectbox(
        "Sub-code",
        [*dict.fromkeys([*([item.draft.sub_code] if item.draft.sub_code else []), *known])],
        index=0 if item.draft.sub_code else None,
        accept_new_options=True,
        placeholder="in your own words",
        key=key,
        on_change=partial(label_actions.on_field, desk, reviewer, item.token, "sub_code", key),
        help="A finer kind under the mode, such as “outdated price”. Codes can be merged and split later.",
    )
    tags_key = field_key("tags", item.token)
    tags_column.text_input(
        "Tags",
        ", ".join(item.draft.tags),
        key=tags_key,
        placeholder="multi-hop, edge",
        on_change=partial(label_actions.on_field, desk, reviewer, item.token, "tags", tags_key),
    )


def _draft_help(desk: Desk, reviewer: str, screen: LabelScreen, item: ReviewItem) -> None:
    """Offer a model's draft, once the person has picked the mode and a gold chunk; off unless a model is configured."""
    author = screen.content.drafted_by
    model = desk.settings.review.draft_model
    with st.container(horizontal=True, vertical_alignment="center"):
        if author:
            st.markdown(f":orange-badge[draft by {markdown_text(author)}] not a label until you edit or accept it")
            accept = partial(label_actions.accept_draft, desk, reviewer, item.token)
            st.button("Accept the draft", key=f"accept-{item.token}", on_click=accept)
        elif model and screen.content.mode and screen.content.gold_chunks:
            ask = partial(label_actions.ask_for_draft, desk, reviewer, item.token)
            st.button(f"Draft by {model}", key=f"draft-{item.token}", on_click=ask)


def _evidence_lines(screen: LabelScreen, item: ReviewItem, evidence: Evidence, cards: list[Card]) -> None:
    letters = {card.chunk_id: card.letter for card in cards}
    lines = [f"<div>gold: {safe_html(', '.join(screen.content.gold_chunk_ids) or 'none yet', 300)}</div>"]
    lines += [_statement_line(each, letters) for each in evidence.statements[:_STATEMENTS_SHOWN]]
    if evidence.suggested:
        words = f"<b>{MODE_WORDS[evidence.suggested]}</b>: {safe_html(evidence.sentence)}"
        lines.append(f"<div>→ evidence says {words}</div>")
    elif evidence.sentence:
        lines.append(f"<div>{safe_html(evidence.sentence)}</div>")
    if evidence.offered:
        chunk_id = safe_html(evidence.offered.chunk_id, 60)
        lines.append(f'<div><span class="errata-key">g</span> takes {chunk_id} as gold</div>')
    named = contradictions(screen.content, item.candidate.flagged_turn)
    lines += [f'<div class="problem">{safe_html(each, 300)}</div>' for each in named]
    st.html(f'<div class="errata-evidence" role="status">{"".join(lines)}</div>')


def _statement_line(each: StatementEvidence, letters: dict[str, str]) -> str:
    chunk = safe_html(each.chunk_id, 60)
    place = {
        Standing.RETRIEVED: f"in {letters.get(each.chunk_id, '')} {chunk}, retrieved",
        Standing.CORPUS: f"in {chunk}, not retrieved",
        Standing.NOWHERE: "nowhere in the corpus",
    }[each.standing]
    return f"<div>“{safe_html(each.statement, 80)}” stands {place}</div>"

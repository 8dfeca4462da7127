"""The Label page: one item at a time, evidence beside the decision, every change saved as it is made."""

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from curation_app import session_keys
from curation_app.components import chunk_cards, item_extras, label_actions, label_form, session_view
from curation_app.components.identity import current_reviewer
from curation_app.service.labelling import Desk, open_desk
from curation_app.service.overview import overview
from curation_app.workspace import app_workspace

if TYPE_CHECKING:
    from curation_app.session_keys import LabelScreen

PANEL_HEIGHT = 700


def main() -> None:
    """Draw the item that this reviewer holds."""
    desk, reviewer = open_desk(app_workspace()), current_reviewer()
    desk.refresh_corpus_soon()
    screen = label_actions.open_screen(desk, reviewer)
    if screen.item is None:
        show_nothing_left(screen)
        return
    progress = overview(desk.workspace, reviewer, desk.settings.review).progress
    st.html(session_view.why_html(screen.item) + item_extras.progress_html(progress))
    session, evidence, label = st.columns([0.22, 0.42, 0.36], gap="medium")
    with session.container(height=PANEL_HEIGHT, border=False, key="errata-session"):
        st.html(session_view.session_html(screen.item))
        item_extras.show_extras(desk, screen.item)
    with evidence.container(height=PANEL_HEIGHT, border=False, key="errata-evidence"):
        cards = show_evidence(desk, screen)
    with label.container(height=PANEL_HEIGHT, border=False, key="errata-label"):
        label_form.show(desk, reviewer, screen, cards)


def show_evidence(desk: Desk, screen: "LabelScreen") -> list[chunk_cards.Card]:
    """Draw the question, the answer, the chunks and the corpus search; return the cards."""
    item = screen.item
    if item is None:
        return []
    words = chunk_cards.telling_words(item, screen.content)
    st.html(session_view.question_html(item))
    st.html(session_view.answer_html(item, {"f": words["f"]}))
    found = desk.search(screen.search, screen.search_document) if screen.search else []
    near = desk.corpus.neighbours(screen.neighbours_of) if screen.neighbours_of else []
    cards = chunk_cards.cards_of(item, found, near)
    show_cards(screen, cards, "retrieved")
    show_search(item.token)
    show_cards(screen, cards, "corpus")
    if screen.search and not found:
        st.caption("No chunk of the corpus holds these words.")
    if near:
        st.caption(f"around {screen.neighbours_of} in its document")
        show_cards(screen, cards, "neighbour")
    return cards


def show_cards(screen: "LabelScreen", cards: list[chunk_cards.Card], source: str) -> None:
    """Draw the chunk cards of one source."""
    chosen = [card for card in cards if card.source == source]
    if chosen and screen.item is not None:
        st.html(chunk_cards.cards_html(screen.item, screen.content, chosen))


def show_search(token: str) -> None:
    """Draw the corpus search."""
    words, document = st.columns([0.68, 0.32], gap="small")
    key, document_key = f"search-{token}", f"search-document-{token}"
    changed = partial(label_actions.search, key, document_key)
    with words.container(key="corpus-search"):
        st.text_input(
            "Search the corpus", key=key, on_change=changed, placeholder="/ search the corpus, or a chunk id",
            label_visibility="collapsed",
        )  # fmt: skip
    document.text_input(
        "Only in document", key=document_key, on_change=changed, placeholder="document id", label_visibility="collapsed"
    )


def show_nothing_left(screen: "LabelScreen") -> None:
    """Say what to do when nothing is left to label."""
    st.header("Nothing is left to label")
    if screen.filters != type(screen.filters)():
        st.write("No item is left under the filters of the Queue page. Clear them there to see the rest.")
    st.write("`errata mine` surfaces more from the log. The Freeze page turns labels into a version of the set.")
    st.button("Look again", on_click=session_keys.forget_item)


main()

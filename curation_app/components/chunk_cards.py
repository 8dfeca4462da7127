"""Chunk cards: letter, id, document, score and text with telling words marked; a button takes one as gold.

The cards are one piece of HTML, whose buttons the key listener hears: as widgets of their own they cost more, on the
server and in the browser, than all the rest of the page.
"""

from collections.abc import Iterable, Iterator
from html import escape
from typing import NamedTuple

from curation_app.components.page_text import marked_html, plain_line, safe_html
from curation_app.labels import LabelContent
from curation_app.review_items import ReviewItem
from curation_app.service.labelling import CHUNK_LETTERS
from evalsets.words import content_words
from ingest.corpus.documents import CorpusHit

_CARD_CHARACTERS = 2500


class Card(NamedTuple):
    """One chunk as it is shown; `source` tells where it comes from."""

    chunk_id: str
    doc_id: str
    text: str
    score: float | None
    source: str
    letter: str


def cards_of(item: ReviewItem, found: Iterable[CorpusHit], near: Iterable[CorpusHit]) -> list[Card]:
    """Return the retrieved chunks in rank order, then what was searched for, then the neighbours, each once."""
    letters = iter(CHUNK_LETTERS)
    seen: set[str] = set()
    cards = []
    for chunk_id, doc_id, text, score, source in _chunks(item, found, near):
        if chunk_id in seen:
            continue
        seen.add(chunk_id)
        cards.append(Card(chunk_id, doc_id, text, score, source, next(letters, "")))
    return cards


def _chunks(
    item: ReviewItem, found: Iterable[CorpusHit], near: Iterable[CorpusHit]
) -> Iterator[tuple[str, str, str, float | None, str]]:
    for chunk in item.candidate.flagged_turn.retrieved:
        yield chunk.chunk_id, chunk.doc_id, chunk.text, chunk.score, "retrieved"
    for hit in found:
        yield hit.chunk_id, hit.doc_id, hit.text, hit.score or None, "corpus"
    for hit in near:
        yield hit.chunk_id, hit.doc_id, hit.text, None, "neighbour"


def telling_words(item: ReviewItem, content: LabelContent) -> dict[str, frozenset[str]]:
    """Return the words to mark, by CSS class: of the facts, of the question, of the logged answer."""
    turn = item.candidate.flagged_turn
    facts = [word for fact in content.answer_facts for one in fact for word in content_words(one)]
    return {
        "f": frozenset(facts),
        "q": frozenset(content_words(turn.question[:2000])),
        "w": frozenset(content_words(turn.answer[:2000])),
    }


def cards_html(item: ReviewItem, content: LabelContent, cards: Iterable[Card]) -> str:
    """Return cards as safe HTML, each with the button that takes it as gold."""
    words = telling_words(item, content)
    gold = frozenset(content.gold_chunk_ids)
    return "".join(_card_html(item.token, card, words, is_gold=card.chunk_id in gold) for card in cards)


def _card_html(token: str, card: Card, words: dict[str, frozenset[str]], *, is_gold: bool) -> str:
    score = f" · {card.score:.3g}" if card.score is not None else ""
    document = f" · {safe_html(card.doc_id, 60)}" if card.doc_id and card.doc_id not in card.chunk_id else ""
    gold = " · <b>gold</b>" if is_gold else ""
    text = marked_html(card.text, words, _CARD_CHARACTERS) if card.text else "<i>the log holds no text</i>"
    return (
        f'<div class="errata-card">{_gold_button(token, card, is_gold=is_gold)}<div class="errata-chunk">'
        f'<div class="head">{safe_html(card.chunk_id, 80)}{document}{score}{gold}</div>'
        f"<details><summary>{text}</summary></details></div></div>"
    )


def _gold_button(token: str, card: Card, *, is_gold: bool) -> str:
    label = f"{card.letter} {'★' if is_gold else '☆'}".strip()
    title = f"{'Gold. Press to leave out' if is_gold else 'Take as gold'}: {plain_line(card.chunk_id, 80)}"
    return (
        f'<button type="button" class="errata-gold" aria-pressed="{str(is_gold).lower()}" title="{escape(title)}" '
        f'data-errata-gold="{escape(card.chunk_id)}" data-errata-of="{token}">{label}</button>'
    )

"""What happens on the Label page when a person presses, clicks or types: callbacks, each naming the item it is for."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from curation_app import session_keys
from curation_app.labels import DecisionKind, LabelContent
from curation_app.review_items import ReviewItem
from curation_app.service.drafting import draft_answer
from curation_app.service.labelling import Desk, decision_words, facts_from_text
from curation_app.session_keys import LabelScreen, label_screen
from evalsets.errors import ErrataError
from evalsets.items import Mode

DECISION_KEYS = {"n": "not_failure", "d": "defer", "s": "skip"}
MODE_KEYS = {"1": Mode.RETRIEVAL_MISS, "2": Mode.GROUNDING_FAILURE, "3": Mode.REFUSAL, "4": Mode.OUT_OF_SCOPE}
_DONE_WORDS = {
    DecisionKind.NOT_FAILURE: "Kept as not a failure.",
    DecisionKind.DEFER: "Deferred: it comes back at the end.",
    DecisionKind.SKIP: "Skipped.",
}


def open_screen(desk: Desk, reviewer: str) -> LabelScreen:
    """Return the screen of this session with an item on it, claimed for the reviewer, when one is left."""
    screen = label_screen()
    if not screen.is_loaded or screen.item is None:
        screen.show(desk.open_next(reviewer, screen.filters))
    return screen


def on_field(desk: Desk, reviewer: str, token: str, name: str, key: str) -> None:
    """Save one field as it was committed by its widget."""
    _save(desk, reviewer, token, {name: session_keys.widget_value(key)})


def on_listener(desk: Desk, reviewer: str) -> None:
    """Handle the newest event of the key listener, once."""
    event = session_keys.listener_event()
    screen = label_screen()
    if event is None or event["seq"] <= screen.acknowledged:
        return
    screen.acknowledged = event["seq"]
    fields = dict(event.get("fields") or {})
    token = str(event["token"])
    if fields:
        _save(desk, reviewer, token, fields)
    kind = str(event["kind"])
    if kind != "typed":
        _ACTIONS[kind](desk, reviewer, token, str(event.get("value") or ""))


def decide(desk: Desk, reviewer: str, token: str, kind: str) -> None:
    """Record a decision on the item of `token` and show the next one; a late or repeated press changes nothing."""
    screen = label_screen()
    item = _item_of(screen, token)
    if item is None:
        return
    decision = DecisionKind(kind)
    try:
        following = desk.decide(item, reviewer, decision, screen.content, screen.filters)
    except ErrataError as error:
        screen.problem = str(error)
        return
    saved = _DONE_WORDS.get(decision) or f"Saved as {decision_words_of(screen.content)}."
    screen.show(following)
    screen.announcement = saved


def decision_words_of(content: LabelContent) -> str:
    """Say the mode of a label in words."""
    return content.mode.value.replace("_", " ") if content.mode else ""


def take_back(desk: Desk, reviewer: str, _token: str, target: str) -> None:
    """Undo the decision named by `target` and show its item again."""
    screen = label_screen()
    event = screen.item.undoable if screen.item else desk.store.last_decision(reviewer)
    if event is None or event.token != target:
        return
    if event.kind is DecisionKind.FOLLOW:
        desk.store.undo(reviewer, token=target)
        show_again(desk, reviewer, screen)
        screen.announcement = "Taken back: the group is open again."
        return
    item = desk.take_back(reviewer, target)
    if item is not None:
        screen.show(item)
        screen.announcement = f"Taken back: {decision_words(event)}."


def close_group(desk: Desk, reviewer: str, token: str, label_token: str) -> None:
    """Close the group of what was just labelled, and stay on the item unless it was a member."""
    screen = label_screen()
    item = _item_of(screen, token)
    if item is None or item.offer is None or item.offer.token != label_token:
        return
    closed = desk.close_group(reviewer, label_token)
    show_again(desk, reviewer, screen)
    screen.announcement = f"Closed {closed} alike with it: u takes that back."


def show_again(desk: Desk, reviewer: str, screen: LabelScreen) -> None:
    """Read the item on screen anew, or open the next one when it is no longer there to be labelled."""
    item = screen.item
    fresh = desk.store.item(item.candidate.candidate_id, reviewer) if item else None
    is_closed = fresh is not None and fresh.decision is not None and fresh.decision.kind is DecisionKind.FOLLOW
    screen.show(desk.open_next(reviewer, screen.filters) if fresh is None or is_closed else fresh)


def move(desk: Desk, reviewer: str, token: str, step: int) -> None:
    """Show the next or previous item of the queue without deciding."""
    screen = label_screen()
    item = _item_of(screen, token)
    if item is None:
        return
    other = desk.step(item.candidate.candidate_id, reviewer, screen.filters, step)
    if other is not None:
        screen.show(other)
    screen.announcement = "" if other else "No further item in this direction."


def toggle_gold(desk: Desk, reviewer: str, token: str, chunk_id: str) -> None:
    """Take a chunk as gold, or leave it out again."""
    screen = label_screen()
    item = _item_of(screen, token)
    if item is None:
        return
    content = desk.toggled_gold(item, screen.content, chunk_id)
    _save(desk, reviewer, token, {"gold_chunks": [chunk.model_dump() for chunk in content.gold_chunks]})


def pick_mode(desk: Desk, reviewer: str, token: str, mode: str) -> None:
    """Set the mode by key, and show it in its widget."""
    if _item_of(label_screen(), token) is not None:
        session_keys.set_widget(session_keys.field_key("mode", token), mode)
        _save(desk, reviewer, token, {"mode": mode})


def show_neighbours(desk: Desk, _reviewer: str, token: str, chunk_id: str) -> None:
    """Show what stands around a chunk: the named one, else the gold chunk picked last, else the best retrieved one."""
    screen = label_screen()
    item = _item_of(screen, token)
    if item is None:
        return
    retrieved = item.candidate.flagged_turn.retrieved
    fallback = screen.content.gold_chunk_ids[-1:] or tuple(chunk.chunk_id for chunk in retrieved[:1])
    wanted = chunk_id or next(iter(fallback), "")
    screen.neighbours_of = "" if wanted == screen.neighbours_of else wanted
    if screen.neighbours_of and not desk.corpus.get(wanted):
        screen.neighbours_of = ""
        screen.problem = f"chunk {wanted!r} is not in the corpus; `errata corpus add` loads it"


def ask_for_draft(desk: Desk, reviewer: str, token: str) -> None:
    """Let the configured model draft the expected answer and its facts, marked as its draft."""
    screen = label_screen()
    item = _item_of(screen, token)
    if item is None:
        return
    question = item.candidate.flagged_turn.question
    try:
        draft = draft_answer(desk, question, screen.content.gold_chunk_ids)
    except ErrataError as error:
        screen.problem = str(error)
        return
    fields = {"expected": draft.expected, "answer_facts": "\n".join(draft.facts)}
    for name, value in fields.items():
        session_keys.set_widget(session_keys.field_key(name, token), value)
    _save(desk, reviewer, token, {**fields, "drafted_by": desk.settings.review.draft_model})


def accept_draft(desk: Desk, reviewer: str, token: str) -> None:
    """Take a model's draft as one's own words."""
    _save(desk, reviewer, token, {"drafted_by": ""})


def search(key: str, document_key: str) -> None:
    """Keep what is searched for."""
    screen = label_screen()
    screen.search = str(session_keys.widget_value(key) or "")
    screen.search_document = str(session_keys.widget_value(document_key) or "")


def _item_of(screen: LabelScreen, token: str) -> ReviewItem | None:
    return screen.item if screen.item is not None and screen.item.token == token else None


def _save(desk: Desk, reviewer: str, token: str, fields: Mapping[str, Any]) -> None:
    screen = label_screen()
    candidate_id = screen.known_tokens.get(token)
    if candidate_id is None:
        return
    ready = {name: _stored(name, value) for name, value in fields.items()}
    if {"expected", "answer_facts"} & ready.keys():
        # Whoever edits a draft makes it their own.
        ready.setdefault("drafted_by", "")
    try:
        saved = desk.save_fields(candidate_id, reviewer, ready)
    except ErrataError as error:
        screen.problem = f"not saved: {error}"
        return
    if screen.item is not None and screen.item.token == token:
        screen.content = LabelContent.model_validate({**screen.content.model_dump(), **ready})
        screen.saved_at, screen.announcement = saved.saved_at, ""
        screen.problem = f"{saved.held_by} holds this item: your text is kept as a draft" if saved.held_by else ""


def _stored(name: str, value: Any) -> Any:
    if name == "answer_facts" and isinstance(value, str):
        return [list(fact) for fact in facts_from_text(value)]
    if name == "tags" and isinstance(value, str):
        return [tag.strip() for tag in value.split(",") if tag.strip()]
    return value if value is not None or name == "mode" else ""


def status_words(screen: LabelScreen) -> str:
    """Say whether what is on screen is saved, and if not, why."""
    if screen.problem:
        return screen.problem
    saved = f"saved at {_local(screen.saved_at)}" if screen.saved_at else "nothing typed yet"
    return f"{screen.announcement} {saved}".strip()


def _local(moment: datetime) -> str:
    return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone().strftime("%H:%M:%S")


def _decision_action(kind: DecisionKind) -> "Action":
    return lambda desk, reviewer, token, _value: decide(desk, reviewer, token, kind.value)


Action = Callable[[Desk, str, str, str], None]
_ACTIONS: dict[str, Action] = {
    "gold": toggle_gold,
    "mode": pick_mode,
    "neighbours": show_neighbours,
    "undo": take_back,
    "close_group": close_group,
    "next": lambda desk, reviewer, token, _value: move(desk, reviewer, token, 1),
    "previous": lambda desk, reviewer, token, _value: move(desk, reviewer, token, -1),
    **{
        kind.value: _decision_action(kind)
        for kind in (DecisionKind.LABEL, DecisionKind.NOT_FAILURE, DecisionKind.DEFER, DecisionKind.SKIP)
    },
}

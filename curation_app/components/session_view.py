"""The session, the reasons and the answer of an item, as safe HTML."""

from datetime import datetime

from curation_app.components.page_text import marked_html, safe_html
from curation_app.review_items import ReviewItem
from curation_app.service.evidence import unsupported_sentences
from curation_app.service.labelling import TurnPlace, session_turns
from ingest.mining.candidates import Candidate, CandidateTurn

_TURN_CHARACTERS = 600
_ANSWER_CHARACTERS = 3000
_TURNS_AROUND = 6


def why_html(item: ReviewItem) -> str:
    """Say why the item is here: each signal with its reason, how many are alike, and what the set has already."""
    candidate = item.candidate
    parts = [
        f"<span><b>{safe_html(hit.signal.replace('_', ' '))}</b>{' (weak)' if hit.is_weak else ''} "
        f"{safe_html(hit.reason, 300)}</span>"
        for hit in candidate.signals
    ]
    if candidate.group_size > 1:
        parts.append(f"<span><b>{candidate.group_size}</b> alike{_dates_words(candidate)}</span>")
    if candidate.suggestion:
        guess = candidate.suggestion.mode.replace("_", " ")
        parts.append(
            f"<span>first guess <b>{safe_html(guess)}</b> {safe_html(candidate.suggestion.evidence, 200)}</span>"
        )
    if candidate.known_item_id:
        parts.append(f"<span>already in the set as <b>{safe_html(candidate.known_item_id)}</b></span>")
    return f'<div class="errata-why">{"".join(parts)}</div>'


def _dates_words(candidate: Candidate) -> str:
    first, last = candidate.group_first_at, candidate.group_last_at
    if first is None or last is None:
        return ""
    days = first.strftime("%Y-%m-%d"), last.strftime("%Y-%m-%d")
    return f", on {days[0]}" if days[0] == days[1] else f", {days[0]} to {days[1]}"


def question_html(item: ReviewItem) -> str:
    """Show the flagged question as the largest text, never altered."""
    return f'<p class="errata-question">{safe_html(item.candidate.flagged_turn.question)}</p>'


def session_html(item: ReviewItem) -> str:
    """Show the session in order, the flagged turn marked, times as gaps with the moment on hover."""
    places = session_turns(item)
    flagged = next(number for number, place in enumerate(places) if place.is_flagged)
    shown = places[max(0, flagged - _TURNS_AROUND) : flagged + _TURNS_AROUND + 1]
    before, after = max(0, flagged - _TURNS_AROUND), max(0, len(places) - flagged - _TURNS_AROUND - 1)
    pieces = [f'<div class="errata-hint">{before} earlier turns not shown</div>'] if before else []
    pieces += [_turn_html(place) for place in shown]
    if after:
        pieces.append(f'<div class="errata-hint">{after} later turns not shown</div>')
    return "".join(pieces)


def answer_html(item: ReviewItem, words: dict[str, frozenset[str]]) -> str:
    """Show the logged answer with the sentences marked that stand in no retrieved chunk."""
    turn = item.candidate.flagged_turn
    if not turn.answer.strip():
        reason = f"error: {safe_html(turn.error)}" if turn.error else "no answer"
        return f'<div class="errata-answer"><i>{reason}</i></div>'
    pieces, rest = [], turn.answer[:_ANSWER_CHARACTERS]
    unsupported = unsupported_sentences(turn)
    for sentence in unsupported:
        head, found, tail = rest.partition(sentence)
        if found:
            pieces += [
                marked_html(head, words),
                f'<span class="errata-unsupported">{marked_html(sentence, words)}</span>',
            ]
            rest = tail
    pieces.append(marked_html(rest, words))
    cut = len(turn.answer) > _ANSWER_CHARACTERS
    note = (
        f' <span class="errata-cut">… cut: {_ANSWER_CHARACTERS:,} of {len(turn.answer):,} characters shown</span>'
        if cut
        else ""
    )
    hint = '<div class="errata-hint">underlined: stands in no retrieved chunk</div>' if unsupported else ""
    return f'<div class="errata-answer" dir="auto">{"".join(pieces)}{note}</div>{hint}'


def facts_line_html(turn: CandidateTurn) -> str:
    """Show model, prompt version, latency, cost and what went wrong technically, on one line."""
    parts = [turn.model, f"prompt {turn.prompt_version}" if turn.prompt_version else ""]
    parts += [f"{turn.latency_ms:,.0f} ms" if turn.latency_ms is not None else ""]
    parts += [f"cost {turn.cost:g}" if turn.cost is not None else "", f"error: {turn.error}" if turn.error else ""]
    parts += ["answer cut off" if turn.stream_cut else ""]
    return f'<div class="errata-hint">{safe_html(" · ".join(part for part in parts if part), 400)}</div>'


def _turn_html(place: TurnPlace) -> str:
    turn = place.turn
    mark = "▶ flagged turn · " if place.is_flagged else ""
    vote = {1: "thumbs up", -1: "thumbs down"}.get(turn.feedback or 0, "")
    comment = f" “{safe_html(turn.feedback_comment, 200)}”" if turn.feedback_comment else ""
    lines = [
        f'<div class="who" title="{_moment(turn.asked_at)}">{mark}{_gap(place)}</div>',
        f'<div class="question">{safe_html(turn.question, _TURN_CHARACTERS)}</div>',
    ]
    if not place.is_flagged:
        lines.append(f"<div>{safe_html(turn.answer, 240)}</div>")
    if vote or comment:
        lines.append(f'<div class="who">{vote}{comment}</div>')
    if turn.error:
        lines.append(f'<div class="who">error: {safe_html(turn.error, 200)}</div>')
    lines.append(facts_line_html(turn) if place.is_flagged else "")
    css_class = "errata-turn flagged" if place.is_flagged else "errata-turn"
    return f'<div class="{css_class}">{"".join(lines)}</div>'


def _moment(moment: datetime | None) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC") if moment else "time unknown"


def _gap(place: TurnPlace) -> str:
    if place.turn.asked_at is None:
        return "time unknown"
    if place.gap_s is None:
        return place.turn.asked_at.strftime("%Y-%m-%d %H:%M")
    return f"{gap_words(place.gap_s)} later"


def gap_words(seconds: float) -> str:
    """Say a span of time in its largest fitting unit."""
    for limit, size, unit in ((120, 1, "s"), (7200, 60, "min"), (172_800, 3600, "h")):
        if seconds < limit:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds / 86_400:.0f} days"

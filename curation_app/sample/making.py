"""Make the sample's files from its hand-written parts: `python -m curation_app.sample.making [FOLDER]`."""

import json
import random
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from evalsets.items import Mode

from . import CORPUS_PATH, LOG_PATH, SAMPLE_FOLDER, SOURCE, TRUTH_PATH
from .handbook import read_handbook, write_corpus
from .parts_reading import read_parts
from .simulated_search import Hit, SimulatedSearch
from .truth import TurnTruth
from .week import SEED, Session, Turn, imagine_week

_FINDS_GOLD = ("right", "misread", "refused", "cut")
_WHY = {
    "missed_wrong": "none of the chunks with the answer was retrieved, and the answer was made up from others",
    "missed_declined": "none of the chunks with the answer was retrieved, so the assistant declined",
    "refused": "the chunk with the answer was retrieved, and the assistant declined all the same",
    "made_up": "the handbook does not cover this, and the assistant answered as if it did",
    "error": "the request broke off with an error",
    "cut": "the answer was cut off in mid-stream",
    "empty": "the answer came back empty",
}
_MODES = {
    "missed_wrong": Mode.RETRIEVAL_MISS,
    "missed_declined": Mode.RETRIEVAL_MISS,
    "misread": Mode.GROUNDING_FAILURE,
    "refused": Mode.REFUSAL,
    "made_up": Mode.OUT_OF_SCOPE,
}


class _Event(NamedTuple):
    logged_at: datetime
    row: dict[str, Any]


class Week(NamedTuple):
    """The log's lines and the truth about each turn, both in order of time."""

    log_lines: list[str]
    truths: list[TurnTruth]


def make_week() -> Week:
    """Imagine the week from the fixed seed; the same parts always give the same bytes."""
    rng = random.Random(SEED)  # noqa: S311 - a repeatable sample, not a secret
    search = SimulatedSearch(list(read_handbook()), rng)
    events: list[_Event] = []
    truths: list[tuple[datetime, TurnTruth]] = []
    for session in imagine_week(read_parts(), rng):
        teller = _Teller(session, search, rng)
        for place, turn in enumerate(session.turns):
            events += teller.events(place, turn)
            truths.append((turn.asked_at, teller.truth(place, turn)))
    events.sort(key=lambda event: event.logged_at)
    truths.sort(key=lambda pair: pair[0])
    lines = [json.dumps(event.row, ensure_ascii=False) for event in events]
    return Week(_with_broken_line(lines), [truth for _, truth in truths])


def _with_broken_line(lines: Sequence[str]) -> list[str]:
    """Repeat one line cut off half-way, as a restart of the application leaves it."""
    middle = len(lines) // 2
    return [*lines[:middle], lines[middle][:180], *lines[middle:]]


class _Teller:
    """Writes one session as the log shows it and as it really was."""

    def __init__(self, session: Session, search: SimulatedSearch, rng: random.Random) -> None:
        self._session, self._search, self._rng = session, search, rng
        self._conversation = f"c-{rng.getrandbits(32):08x}" if rng.random() > 0.02 else None  # noqa: PLR2004
        self._ids = [f"q-{rng.getrandbits(40):010x}" for _ in session.turns]

    def events(self, place: int, turn: Turn) -> Iterator[_Event]:
        took_ms = round(self._rng.lognormvariate(7.4, 0.45) * (3 if turn.error else 1))
        shown_at = turn.asked_at + timedelta(milliseconds=took_ms)
        yield _Event(shown_at, self._turn_row(place, turn, took_ms))
        if turn.vote is not None:
            voted_at = turn.asked_at + timedelta(seconds=turn.vote.after_s)
            # The log shipper of the web client is sometimes faster than that of the server.
            logged_at = shown_at - timedelta(seconds=1) if self._rng.random() < 0.06 else max(voted_at, shown_at)  # noqa: PLR2004
            yield _Event(logged_at, self._vote_row(place, turn, voted_at))

    def _turn_row(self, place: int, turn: Turn, took_ms: int) -> dict[str, Any]:
        hits = self._hits(turn)
        persona = self._session.persona
        tokens_in = 420 + sum(len(hit.chunk.text) for hit in hits) // 4 + len(turn.question) // 4
        tokens_out = len(turn.answer) // 4
        model = "larch-2-large" if persona.is_practice else "larch-2-small"
        price = (3.0, 12.0) if persona.is_practice else (0.4, 1.6)
        return {
            "event": "turn",
            "request_id": self._ids[place],
            "conv": self._conversation,
            "uid": persona.user_id,
            "ts": _stamp(turn.asked_at),
            "query": turn.question,
            "reply": turn.answer or None,
            "sources": [
                {
                    "chunk": hit.chunk.chunk_id,
                    "doc": hit.chunk.doc_id,
                    "text": hit.chunk.as_row()["text"],
                    "similarity": hit.similarity,
                }
                for hit in hits
            ],
            "llm": model,
            "prompt_tag": turn.prompt_tag,
            "took_ms": took_ms,
            "tokens": {"in": tokens_in, "out": tokens_out},
            "usd": round((tokens_in * price[0] + tokens_out * price[1]) / 1_000_000, 6),
            "err": turn.error or None,
            "finish": "error" if turn.error else "cancelled" if turn.outcome == "cut" else "stop",
            "channel": persona.channel,
        }

    def _hits(self, turn: Turn) -> list[Hit]:
        if turn.outcome == "small_talk" or (turn.error and "index" in turn.error):
            return []
        wording = f"{turn.question} {turn.topic.asks[0].text}"
        finds_gold = turn.outcome in _FINDS_GOLD
        return self._search.retrieve(wording, gold=turn.topic.gold, finds_gold=finds_gold, near=turn.topic.near)

    def _vote_row(self, place: int, turn: Turn, voted_at: datetime) -> dict[str, Any]:
        assert turn.vote is not None  # noqa: S101 - the caller checked
        return {
            "event": "feedback",
            "request_id": self._ids[place],
            "ts": _stamp(voted_at),
            "thumb": "up" if turn.vote.is_up else "down",
            "note": turn.vote.comment or None,
        }

    def truth(self, place: int, turn: Turn) -> TurnTruth:
        is_last = place == len(self._session.turns) - 1
        return TurnTruth(
            interaction_id=f"{SOURCE}:{self._ids[place]}",
            session_id=self._conversation,
            outcome=turn.outcome,
            failed=turn.outcome in _WHY or turn.outcome == "misread",
            mode=_MODES.get(turn.outcome),
            why=f"the chunk with the answer was retrieved, and the answer was {turn.flaw}"
            if turn.outcome == "misread"
            else _WHY.get(turn.outcome, ""),
            in_scope=turn.topic.is_covered,
            gold_chunk_ids=turn.topic.gold,
            expected=_expected(turn),
            answer_facts=turn.facts,
            topic=turn.topic.topic_id,
            asks_again_of="" if turn.again_of is None else f"{SOURCE}:{self._ids[turn.again_of]}",
            asks_again_kind=turn.again_kind,
            left_unhappy=is_last and self._session.left_unhappy,
        )


def _expected(turn: Turn) -> str:
    if turn.facts == turn.topic.facts:
        return turn.topic.expected
    return next((good for good in turn.topic.good if _holds(turn, good)), turn.topic.expected)


def _holds(turn: Turn, answer: str) -> bool:
    return all(any(wording.casefold() in answer.casefold() for wording in fact) for fact in turn.facts)


def _stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def write_sample(folder: Path = SAMPLE_FOLDER) -> None:
    """Write corpus, log and ground truth into `folder`."""
    week = make_week()
    write_corpus(folder / CORPUS_PATH.name)
    (folder / LOG_PATH.name).write_text("".join(line + "\n" for line in week.log_lines), encoding="utf-8")
    truths = (truth.model_dump_json(exclude_defaults=True) for truth in week.truths)
    (folder / TRUTH_PATH.name).write_text("".join(line + "\n" for line in truths), encoding="utf-8")


if __name__ == "__main__":
    write_sample(*(Path(argument) for argument in sys.argv[1:2]))

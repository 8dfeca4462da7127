"""A week of the help desk, imagined turn by turn: who asks what, how the assistant does, and what people do next."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from .parts_reading import Ask, Facts, Kinded, Parts, Topic
from .persona import Persona, invent_persona
from .truth import Outcome

SEED = 20261116
FIRST_DAY = datetime(2026, 11, 16, tzinfo=UTC)
PROMPT_V7_FROM = datetime(2026, 11, 19, 7, 30, tzinfo=UTC)
SESSIONS = 208

UNMET: frozenset[Outcome] = frozenset(
    ("missed_wrong", "missed_declined", "misread", "refused", "made_up", "error", "cut", "empty")
)
"""Outcomes after which the person does not have what they came for."""


class Vote(NamedTuple):
    """A thumb, some seconds after the answer."""

    is_up: bool
    comment: str
    after_s: float


class Turn(NamedTuple):
    """One question and what came of it; `again_of` is the place of the earlier turn in the session."""

    asked_at: datetime
    question: str
    topic: Topic
    facts: Facts
    outcome: Outcome
    answer: str
    prompt_tag: str
    flaw: str = ""
    again_of: int | None = None
    again_kind: str = ""
    vote: Vote | None = None
    error: str = ""


class Session(NamedTuple):
    """What one person did in one go."""

    persona: Persona
    turns: tuple[Turn, ...]
    left_unhappy: bool


def imagine_week(parts: Parts, rng: random.Random) -> Iterator[Session]:
    """Yield the sessions of the week, in no particular order."""
    people = [invent_persona(rng) for _ in range(118)]
    for _ in range(SESSIONS):
        yield _SessionMaker(parts, rng, rng.choice(people), _start(rng)).make()


def _start(rng: random.Random) -> datetime:
    day = rng.choices(range(7), weights=(20, 19, 17, 19, 16, 5, 4))[0]
    hour = rng.choices(range(6, 23), weights=(1, 3, 9, 12, 12, 9, 6, 8, 10, 10, 8, 6, 4, 3, 3, 2, 1))[0]
    return FIRST_DAY + timedelta(days=day, hours=hour, minutes=rng.randrange(60), seconds=rng.uniform(0, 60))


class _SessionMaker:
    def __init__(self, parts: Parts, rng: random.Random, persona: Persona, start: datetime) -> None:
        self._parts, self._rng, self._persona = parts, rng, persona
        self._now = start
        self._turns: list[Turn] = []

    def make(self) -> Session:
        if self._rng.random() < 0.05:  # noqa: PLR2004 - one in twenty says hello first
            self._small_talk("asides")
        is_unhappy = self._pursue(self._pick_topic(), None)
        while self._rng.random() < 0.3 and len(self._turns) < 9:  # noqa: PLR2004 - chance of a new matter, and an end
            self._wait(60, 600) if self._rng.random() < 0.85 else self._wait(2700, 5400)  # noqa: PLR2004
            is_unhappy = self._pursue(self._pick_topic(), None)
        if not is_unhappy and self._rng.random() < 0.07:  # noqa: PLR2004 - manners
            self._wait(5, 40)
            self._small_talk("thanks")
        return Session(self._persona, tuple(self._turns), is_unhappy)

    def _pick_topic(self) -> Topic:
        day = (self._now - FIRST_DAY).days
        if self._rng.random() < 0.12:  # noqa: PLR2004 - share the handbook does not cover
            uncovered = list(self._parts.uncovered.values())
            weights = [2.0 + 2.5 * day if topic.topic_id == "e-invoice" else 2.0 for topic in uncovered]
            return self._rng.choices(uncovered, weights=weights)[0]
        topics = list(self._parts.topics.values())
        return self._rng.choices(topics, weights=[len(topic.asks) + len(topic.follow) for topic in topics])[0]

    def _pursue(self, topic: Topic, opening: str | None) -> bool:
        """Ask until helped, tired or led on to the next matter; return whether the person stayed unhelped."""
        ask = Ask(opening) if opening else self._rng.choice(topic.asks)
        turn = self._ask(topic, ask, self._persona.types(ask.text))
        if self._rng.random() < 0.012:  # noqa: PLR2004 - a double click sends the question twice
            self._now = turn.asked_at + timedelta(seconds=1.2)
            turn = self._ask(topic, ask, turn.question, again_of=len(self._turns) - 1, again_kind="repeated")
        for again in self._ways_to_ask_again(topic):
            if not self._asks_again(turn):
                break
            kind, text = again if again.kind else self._same_words(turn)
            if kind in ("complaint", "corrected") and turn.outcome not in ("missed_wrong", "misread"):
                continue
            self._wait(*((2, 12) if turn.outcome in ("error", "empty", "cut") else (9, 105)))
            facts = topic.facts if kind == "narrowed" else turn.facts
            turn = self._ask(
                topic, Ask(text, facts), self._persona.types(text), again_of=len(self._turns) - 1, again_kind=kind
            )
        if topic.follow and turn.outcome not in UNMET and self._rng.random() < 0.36:  # noqa: PLR2004
            text, topic_id = self._rng.choice(topic.follow)
            self._wait(15, 200)
            return self._pursue(self._parts.topics[topic_id], text)
        return turn.outcome in UNMET

    def _ways_to_ask_again(self, topic: Topic) -> list[Kinded]:
        ways = [*topic.again, *([Kinded("", "")] if self._rng.random() < 0.4 else [])]  # noqa: PLR2004
        self._rng.shuffle(ways)
        return ways[:3]

    def _same_words(self, turn: Turn) -> Kinded:
        return Kinded("repeated", turn.question + self._rng.choice(("", "", "?", "??", " please")))

    def _asks_again(self, turn: Turn) -> bool:
        chance = {"right": 0.035, "declined_rightly": 0.3, "error": 0.62, "empty": 0.7, "cut": 0.5}
        return self._rng.random() < chance.get(turn.outcome, 0.52)

    def _ask(self, topic: Topic, ask: Ask, question: str, *, again_of: int | None = None, again_kind: str = "") -> Turn:
        outcome = self._fate(topic, is_second_try=again_of is not None)
        if again_of is not None and self._rng.random() < 0.3:  # noqa: PLR2004 - a sigh before the question
            question = self._rng.choice(self._parts.manners["again_openers"]) + question
        flaw, answer = self._answer(topic, outcome)
        turn = Turn(
            self._now,
            question,
            topic,
            topic.facts if ask.facts is None else ask.facts,
            outcome,
            answer,
            self._prompt_tag,
            flaw,
            again_of,
            again_kind,
            self._vote(outcome, flaw),
            self._rng.choice(self._parts.manners["errors"]) if outcome == "error" else "",
        )
        self._turns.append(turn)
        self._wait(4, 25)
        return turn

    @property
    def _prompt_tag(self) -> str:
        return "v7" if self._now >= PROMPT_V7_FROM else "v6"

    def _fate(self, topic: Topic, *, is_second_try: bool) -> Outcome:
        broken: dict[Outcome, float] = {"error": 2.2, "cut": 2.0, "empty": 1.1}
        declines = 2.1 if self._prompt_tag == "v7" else 1.0
        if not topic.is_covered:
            fates: dict[Outcome, float] = {"declined_rightly": 40 * declines, "made_up": 50, **broken}
        else:
            share = 1.3 if is_second_try else 1.0
            fates = {
                "right": 62,
                "missed_wrong": 7 * share,
                "missed_declined": 5.5 * share * declines,
                "misread": 11 * share,
                "refused": 5 * share * declines,
                **broken,
            }
        return self._rng.choices(list(fates), weights=list(fates.values()))[0]

    def _answer(self, topic: Topic, outcome: Outcome) -> tuple[str, str]:
        if outcome in ("error", "empty"):
            return "", ""
        if outcome in ("refused", "missed_declined", "declined_rightly"):
            return "declined", self._decline()
        if outcome == "cut":
            whole = self._rng.choice(topic.good or tuple(bad.text for bad in topic.bad))
            return "cut", whole[: self._rng.randrange(8, max(9, len(whole) // 2))]
        if outcome == "right":
            good = self._rng.choice(topic.good)
            if self._rng.random() < 0.06:  # noqa: PLR2004 - a timid right answer
                return "", self._rng.choice(self._parts.manners["hedged"]).format(answer=good)
            return "", good
        return self._rng.choice(topic.bad)

    def _decline(self) -> str:
        manners = self._parts.manners
        is_new_wording = self._prompt_tag == "v7" and self._rng.random() < 0.6  # noqa: PLR2004
        return str(self._rng.choice(manners["declines_v7" if is_new_wording else "declines"]))

    def _vote(self, outcome: Outcome, flaw: str) -> Vote | None:
        comments = self._parts.manners["comments"]
        roll = self._rng.random()
        after_s = self._rng.uniform(3, 90)
        if outcome == "right":
            if roll < 0.11:  # noqa: PLR2004
                return Vote(is_up=True, comment=self._maybe(comments["liked"], 0.25), after_s=after_s)
            is_disliked = roll < 0.13  # noqa: PLR2004 - right, and not what one hoped to hear
            return (
                Vote(is_up=False, comment=self._maybe(comments["disliked"], 0.6), after_s=after_s)
                if is_disliked
                else None
            )
        kind = _comment_kind(outcome, flaw)
        if kind is None or roll > 0.27:  # noqa: PLR2004
            return None
        is_fooled = outcome in ("misread", "made_up", "missed_wrong") and roll < 0.04  # noqa: PLR2004
        return Vote(is_up=is_fooled, comment="" if is_fooled else self._maybe(comments[kind], 0.6), after_s=after_s)

    def _maybe(self, comments: list[str], chance: float) -> str:
        return self._rng.choice(comments) if self._rng.random() < chance else ""

    def _small_talk(self, kind: str) -> None:
        question, answer = self._rng.choice(self._parts.manners[kind])
        topic = Topic(kind, (Ask(question),))
        self._turns.append(Turn(self._now, question, topic, (), "small_talk", answer, self._prompt_tag))
        self._wait(5, 30)

    def _wait(self, least_s: float, most_s: float) -> None:
        self._now += timedelta(seconds=self._rng.uniform(least_s, most_s))


def _comment_kind(outcome: Outcome, flaw: str) -> str | None:
    if outcome == "misread":
        return "outdated" if flaw == "outdated" else "wrong"
    by_outcome: dict[Outcome, str] = {
        "missed_wrong": "missed",
        "missed_declined": "declined",
        "refused": "declined",
        "declined_rightly": "declined",
        "made_up": "out_of_scope",
    }
    return by_outcome.get(outcome)

"""The hand-written parts the sample's week is put together from."""

from typing import Any, NamedTuple

import yaml

from . import PARTS_FOLDER

Facts = tuple[tuple[str, ...], ...]


class Ask(NamedTuple):
    """One way a person brings a topic up; its own facts where they differ from the topic's."""

    text: str
    facts: Facts | None = None


class Kinded(NamedTuple):
    """A text with the kind of rephrasing or of wrongness it stands for."""

    kind: str
    text: str


class Topic(NamedTuple):
    """One matter people ask about; `gold` is empty when the handbook does not cover it."""

    topic_id: str
    asks: tuple[Ask, ...]
    again: tuple[Kinded, ...] = ()
    gold: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    facts: Facts = ()
    expected: str = ""
    good: tuple[str, ...] = ()
    bad: tuple[Kinded, ...] = ()
    follow: tuple[tuple[str, str], ...] = ()
    """A next question and the topic it is about."""

    @property
    def is_covered(self) -> bool:
        """Whether the handbook holds the answer."""
        return bool(self.gold)


class Parts(NamedTuple):
    """Everything that was written by hand."""

    topics: dict[str, Topic]
    uncovered: dict[str, Topic]
    manners: dict[str, Any]


def read_parts() -> Parts:
    """Read the parts folder."""
    covered = [_topic(raw) for path in sorted(PARTS_FOLDER.glob("topics-*.yaml")) for raw in _yaml(path.name)]
    uncovered = [_topic(raw) for raw in _yaml("uncovered.yaml")]
    return Parts(
        {topic.topic_id: topic for topic in covered},
        {topic.topic_id: topic for topic in uncovered},
        _yaml("manners.yaml"),
    )


def _yaml(name: str) -> Any:
    return yaml.safe_load((PARTS_FOLDER / name).read_text(encoding="utf-8"))


def _topic(raw: dict[str, Any]) -> Topic:
    return Topic(
        topic_id=raw["id"],
        asks=tuple(_ask(ask) for ask in raw["ask"]),
        again=tuple(Kinded(*pair) for pair in raw["again"]),
        gold=tuple(raw.get("gold", ())),
        near=tuple(raw.get("near", ())),
        facts=_facts(raw.get("facts", ())),
        expected=raw.get("expected", ""),
        good=tuple(raw.get("good", ())),
        bad=tuple(Kinded(*pair) for pair in raw.get("bad", ()))
        + tuple(Kinded("made_up", text) for text in raw.get("made_up", ())),
        follow=tuple((text, topic_id) for text, topic_id in raw.get("follow", ())),
    )


def _ask(raw: Any) -> Ask:
    return Ask(raw) if isinstance(raw, str) else Ask(raw[0], _facts(raw[1]))


def _facts(raw: Any) -> Facts:
    return tuple(tuple(fact) for fact in raw)

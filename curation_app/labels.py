"""The label event, what contradicts itself in a label, and how an accepted label becomes an item."""

import hashlib
import re
import unicodedata
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from pydantic import Field

from evalsets.items import (
    Author,
    AuthorKind,
    Fact,
    GoldChunk,
    Item,
    Logged,
    Mode,
    Origin,
    Sampling,
    Source,
    StrictModel,
)
from ingest.mining.candidates import Candidate

SET_SOURCE = "eval-set"
"""The source of a candidate that asks again about an item of a set; its label corrects that item under its own id."""
_SLUG_WORDS = 6
_SLUG_STOPWORDS = frozenset(
    {"a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "how", "i", "in", "is", "it", "my"}
    | {"of", "on", "or", "the", "to", "what", "you"}
)


class DecisionKind(StrEnum):
    """What a person did with a candidate."""

    LABEL = "label"
    NOT_FAILURE = "not_failure"
    DEFER = "defer"
    SKIP = "skip"
    ADJUDICATE = "adjudicate"
    FOLLOW = "follow"
    """Closed with its group, under the label of another member."""
    UNDO = "undo"


SETTLING_KINDS = (DecisionKind.LABEL, DecisionKind.NOT_FAILURE)
"""The kinds that say something about the candidate; the others only move it in the queue."""


class LabelContent(StrictModel):
    """What a reviewer fills in; every field may still be empty in a draft."""

    mode: Mode | None = None
    gold_chunks: tuple[GoldChunk, ...] = ()
    expected: str = ""
    answer_facts: tuple[Fact, ...] = ()
    forbidden: tuple[str, ...] = ()
    sub_code: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""
    drafted_by: str = ""
    """The model whose draft of `expected` or `answer_facts` no person has edited or accepted yet; else empty."""

    @property
    def gold_chunk_ids(self) -> tuple[str, ...]:
        """The ids of the gold chunks, in the order they were picked."""
        return tuple(chunk.chunk_id for chunk in self.gold_chunks)


class LabelEvent(StrictModel):
    """One appended decision; never updated."""

    seq: int
    token: str = Field(min_length=1)
    candidate_id: str = Field(min_length=1)
    author: Author
    kind: DecisionKind
    content: LabelContent = LabelContent()
    undoes: str = ""
    follows: str = ""
    """Token of the label under which this candidate was closed with its group."""
    created_at: datetime


class AcceptedItem(NamedTuple):
    """An item as the labels make it; it may be frozen when nothing blocks it."""

    item: Item
    candidate_id: str
    blockers: tuple[str, ...] = ()


def screen_token(candidate_id: str, reviewer: str, revision: int) -> str:
    """Name one showing of a candidate to a reviewer: a decision counts once per token, however often it is sent."""
    return hashlib.sha256(f"{candidate_id}\0{reviewer}\0{revision}".encode()).hexdigest()[:32]


def double_label_draw(candidate_id: str) -> float:
    """Return a number in [0, 1) that is fixed by the candidate's id, to draw the share that two people label."""
    return int.from_bytes(hashlib.sha256(f"double-label\0{candidate_id}".encode()).digest()[:6], "big") / 2**48


def item_id(question: str, candidate_id: str) -> str:
    """Return a readable, stable id: the question's first telling words and six hex digits of the candidate's id."""
    folded = unicodedata.normalize("NFKD", question).encode("ascii", "ignore").decode().lower()
    words = [word for word in re.findall(r"[a-z0-9]+", folded) if word not in _SLUG_STOPWORDS]
    digest = hashlib.sha256(candidate_id.encode()).hexdigest()[:6]
    return "-".join([*words[:_SLUG_WORDS], digest])


def label_blockers(content: LabelContent) -> list[str]:
    """Say, one sentence each, what keeps a label from becoming an item."""
    blockers = []
    if content.mode is None:
        blockers.append("no failure mode is picked")
    if content.mode is Mode.OUT_OF_SCOPE and content.gold_chunks:
        blockers.append("out of scope says the corpus does not hold the answer, yet gold chunks are picked")
    if content.mode not in (None, Mode.OUT_OF_SCOPE):
        if not content.gold_chunks:
            blockers.append("no gold chunk is picked")
        if not content.expected.strip() and not content.answer_facts:
            blockers.append("neither an expected answer nor a fact is written")
    if content.drafted_by:
        blockers.append(f"the text is still a draft by {content.drafted_by}: edit it or accept it")
    return blockers


def agree(one: LabelEvent, other: LabelEvent) -> bool:
    """Whether two readers say the same: failure or not, the mode, and the gold chunks."""
    if one.kind is not other.kind or one.kind is DecisionKind.NOT_FAILURE:
        return one.kind is other.kind
    same_gold = set(one.content.gold_chunk_ids) == set(other.content.gold_chunk_ids)
    return one.content.mode is other.content.mode and same_gold


class Verdict(NamedTuple):
    """What the readers' current decisions on one candidate amount to."""

    decision: LabelEvent
    reviewed_by: Author | None = None
    blockers: tuple[str, ...] = ()


def verdict(readings: list[LabelEvent], adjudication: LabelEvent | None, readers_needed: int) -> Verdict | None:
    """Weigh the settling decisions of human readers, in order of time; None while there is none."""
    if adjudication is not None:
        return Verdict(adjudication, reviewed_by=adjudication.author)
    human = [event for event in readings if event.author.kind is AuthorKind.HUMAN and event.kind in SETTLING_KINDS]
    if not human:
        return None
    if len(human) == 1:
        waits = ("waits for a second reader",) if readers_needed > 1 else ()
        return Verdict(human[-1], blockers=waits)
    first, last = human[0], human[-1]
    if all(agree(first, other) for other in human[1:]):
        return Verdict(first, reviewed_by=last.author)
    return Verdict(first, blockers=("two readers disagree: settle it on the Review page",))


def accepted_item(candidate: Candidate, case_source: Source, found: Verdict) -> AcceptedItem | None:
    """Make the item that a verdict stands for; None when the verdict is that nothing failed."""
    event = found.decision
    content = event.content
    if content.mode is None:
        return None
    turn = candidate.flagged_turn
    item = Item(
        id=candidate.known_item_id
        if candidate.source == SET_SOURCE
        else item_id(turn.question, candidate.candidate_id),
        question=turn.question,
        gold_chunk_ids=content.gold_chunk_ids,
        expected=content.expected,
        mode=content.mode,
        added_on=event.created_at.date(),
        source=case_source,
        gold_chunks=content.gold_chunks,
        answer_facts=content.answer_facts,
        forbidden=content.forbidden,
        sub_code=content.sub_code,
        tags=content.tags,
        language=candidate.language,
        group=candidate.group_id,
        last_reviewed_on=event.created_at.date(),
        sampling=Sampling(signal=candidate.sampling_signal, probability=candidate.inclusion_probability),
        origin=Origin(session=origin_hash(candidate.session_id), interaction=origin_hash(candidate.interaction_id)),
        labelled_by=event.author,
        reviewed_by=found.reviewed_by,
        note=content.note,
        logged=_logged(candidate) if case_source is Source.PRODUCTION else None,
    )
    return AcceptedItem(item, candidate.candidate_id, (*found.blockers, *label_blockers(content)))


def _logged(candidate: Candidate) -> Logged:
    turn = candidate.flagged_turn
    return Logged(answer=turn.answer, retrieved_chunk_ids=tuple(chunk.chunk_id for chunk in turn.retrieved))


def origin_hash(native_id: str) -> str:
    """Return the hash by which an item names the session or interaction it was labelled from."""
    return hashlib.sha256(native_id.encode("utf-8", "surrogatepass")).hexdigest()[:16] if native_id else ""

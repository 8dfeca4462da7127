"""Near-duplicate candidates as one group with its count and dates, and candidates that the set already has."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from evalsets.near_duplicates import like_pairs, likes_among
from ingest.mining.candidates import Candidate

Settled = Mapping[str, str]
"""Questions by the id of the item that asks them."""


class Asked(NamedTuple):
    """A question and when it was asked, where that is known."""

    question: str
    asked_at: datetime | None


class Group(NamedTuple):
    """Candidates whose questions ask the same: their count, and when it was first and last asked."""

    group_id: str
    size: int
    first_at: datetime | None
    last_at: datetime | None


def groups_among(asked: Mapping[str, Asked]) -> dict[str, Group]:
    """Return the group of each candidate, by id, that asks the same as another, whoever asked and whenever.

    A group is named after its oldest member, so that it keeps its name when more are found.
    """
    root = {candidate_id: candidate_id for candidate_id in asked}

    def top(member: str) -> str:
        while root[member] != member:
            root[member] = root[root[member]]
            member = root[member]
        return member

    for pair in like_pairs({candidate_id: each.question for candidate_id, each in asked.items()}):
        root[top(pair.first_id)] = top(pair.second_id)
    members: dict[str, list[str]] = defaultdict(list)
    for candidate_id in asked:
        members[top(candidate_id)].append(candidate_id)
    several = (some for some in members.values() if len(some) > 1)
    return {member: group for some in several for group in [_group_of(some, asked)] for member in some}


def _group_of(members: Sequence[str], asked: Mapping[str, Asked]) -> Group:
    dated = sorted((when, member) for member in members if (when := asked[member].asked_at) is not None)
    name = dated[0][1] if dated else min(members)
    first_at, last_at = (dated[0][0], dated[-1][0]) if dated else (None, None)
    return Group(f"g{name[1:]}", len(members), first_at, last_at)


def groups_of(candidates: Sequence[Candidate]) -> dict[str, Group]:
    """Return the group of each candidate, by id, whose question another one asks as well."""
    turns = {candidate.candidate_id: candidate.flagged_turn for candidate in candidates}
    return groups_among({key: Asked(turn.question, turn.asked_at) for key, turn in turns.items()})


def grouped(candidates: Iterable[Candidate], groups: Mapping[str, Group]) -> list[Candidate]:
    """Return each candidate with its group, where it has one."""
    return [
        candidate.model_copy(
            update={
                "group_id": group.group_id,
                "group_size": group.size,
                "group_first_at": group.first_at,
                "group_last_at": group.last_at,
            }
        )
        if (group := groups.get(candidate.candidate_id))
        else candidate
        for candidate in candidates
    ]


def recognise_known(candidates: Sequence[Candidate], known: Settled) -> list[Candidate]:
    """Say of each candidate which item of the current set already asks the same."""
    if not known:
        return list(candidates)
    questions = {candidate.candidate_id: candidate.flagged_turn.question for candidate in candidates}
    items = {f"item:{id_}": question for id_, question in known.items()}
    likes = likes_among({**questions, **items}, settled=items.keys())
    return [
        candidate.model_copy(update={"known_item_id": like.removeprefix("item:")})
        if (like := likes.get(candidate.candidate_id, "")) in items
        else candidate
        for candidate in candidates
    ]

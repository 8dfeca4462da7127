"""Near-duplicate candidates as one group with its count and dates, and candidates that the set already has."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from evalsets.near_duplicates import like_pairs, likes_among
from ingest.mining.candidates import Candidate

Settled = Mapping[str, str]
"""Questions by the id of the item that asks them."""


def group_alike(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Give candidates whose questions ask the same one group, whoever asked and whenever.

    The group is named after its oldest member, so that it keeps its name when more are found.
    """
    root = {candidate.candidate_id: candidate.candidate_id for candidate in candidates}

    def top(member: str) -> str:
        while root[member] != member:
            root[member] = root[root[member]]
            member = root[member]
        return member

    questions = {candidate.candidate_id: candidate.flagged_turn.question for candidate in candidates}
    for pair in like_pairs(questions):
        root[top(pair.first_id)] = top(pair.second_id)
    groups: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        groups[top(candidate.candidate_id)].append(candidate)
    grouped = {member.candidate_id: member for members in groups.values() for member in _as_group(members)}
    return [grouped[candidate.candidate_id] for candidate in candidates]


def _as_group(members: Sequence[Candidate]) -> list[Candidate]:
    if len(members) == 1:
        return list(members)
    dated = sorted((when, member.candidate_id) for member in members if (when := _asked_at(member)) is not None)
    name = dated[0][1] if dated else min(member.candidate_id for member in members)
    described = {
        "group_id": f"g{name[1:]}",
        "group_size": len(members),
        "group_first_at": dated[0][0] if dated else None,
        "group_last_at": dated[-1][0] if dated else None,
    }
    return [member.model_copy(update=described) for member in members]


def _asked_at(candidate: Candidate) -> datetime | None:
    return candidate.flagged_turn.asked_at


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

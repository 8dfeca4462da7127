"""Closing a group: each open member gets an event that follows the label of another, in the open and undoable."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import duckdb

from curation_app.labels import SETTLING_KINDS, DecisionKind, LabelEvent
from curation_app.review_rows import EVENT_COLUMNS, append_event, event_of, rows_of


class GroupOffer(NamedTuple):
    """What closing the group of a label just made would do."""

    token: str
    """Of the label."""
    members: int
    """How many others of its group still wait."""


def group_offer(
    connection: duckdb.DuckDBPyConnection, label: LabelEvent | None, reviewer: str, now: datetime
) -> GroupOffer | None:
    """Return the offer to close the group that a decision settled; None when there is nothing to close."""
    if label is None or label.kind not in SETTLING_KINDS:
        return None
    members = open_members(connection, label.candidate_id, reviewer, now)
    return GroupOffer(label.token, len(members)) if members else None


def open_members(connection: duckdb.DuckDBPyConnection, candidate_id: str, reviewer: str, now: datetime) -> list[str]:
    """Return the other members of a candidate's group that nobody has settled, closed or holds, in order of id."""
    (group_id,) = rows_of(connection, "SELECT group_id FROM candidates WHERE candidate_id = ?", [candidate_id])[0]
    if not group_id:
        return []
    query = """
        SELECT candidate_id FROM candidates WHERE group_id = ? AND candidate_id <> ?
            AND candidate_id NOT IN (
                SELECT candidate_id FROM current_decisions WHERE kind IN ('label', 'not_failure', 'follow')
                UNION ALL SELECT candidate_id FROM current_adjudications
                UNION ALL SELECT candidate_id FROM claims WHERE reviewer <> ? AND expires_at > ?
            )
        ORDER BY candidate_id
    """
    return [found for (found,) in rows_of(connection, query, [group_id, candidate_id, reviewer, now])]


def close_members(
    connection: duckdb.DuckDBPyConnection, label: LabelEvent, members: Sequence[str], now: datetime
) -> int:
    """Append, for each member, an event by the label's author that follows the label; return how many were new."""
    (earlier,) = rows_of(connection, "SELECT count(*) FROM label_events WHERE follows = ?", [label.token])[0]
    events = [
        LabelEvent(
            seq=0,
            token=f"follow-{label.token}-{member}-{earlier}",
            candidate_id=member,
            author=label.author,
            kind=DecisionKind.FOLLOW,
            follows=label.token,
            created_at=now,
        )
        for member in members
    ]
    return sum(append_event(connection, event) for event in events)


def closed_together(connection: duckdb.DuckDBPyConnection, event: LabelEvent) -> list[LabelEvent]:
    """Return the events that one press made: all members closed at that moment, or the decision alone."""
    if event.kind is not DecisionKind.FOLLOW:
        return [event]
    query = f"""
        SELECT {EVENT_COLUMNS} FROM effective_events
        WHERE kind = 'follow' AND follows = ? AND reviewer = ? AND created_at = ? ORDER BY seq
    """  # noqa: S608 - fixed columns; every value is bound
    return [event_of(row) for row in rows_of(connection, query, [event.follows, event.author.name, event.created_at])]

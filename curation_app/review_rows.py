"""Rows of review.duckdb: writing events and drafts, and reading them back as models."""

import json
import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

import duckdb

from curation_app.labels import DecisionKind, LabelContent, LabelEvent
from evalsets.items import Author, AuthorKind, Mode

EVENT_COLUMNS = """
    seq, token, candidate_id, reviewer, author_kind, kind, coalesce(undoes, ''), coalesce(follows, ''), body, created_at
"""
EVERYONE = ""
"""Stands for all reviewers where a draft is not one person's."""
_ATTEMPTS = 8

Result = TypeVar("Result")


class CodeRename(NamedTuple):
    """One merge (all labels of a code) or split (only `candidate_ids`)."""

    mode: Mode
    old_code: str
    new_code: str
    candidate_ids: frozenset[str] | None


class CodeRenames(NamedTuple):
    """Merges and splits in the order they were made."""

    steps: tuple[CodeRename, ...] = ()

    def current(self, mode: Mode, code: str, candidate_id: str) -> str:
        """Return what a label's sub-code is called now."""
        for step in self.steps:
            applies = step.candidate_ids is None or candidate_id in step.candidate_ids
            if applies and (step.mode, step.old_code) == (mode, code):
                code = step.new_code
        return code


def read_renames(connection: duckdb.DuckDBPyConnection) -> CodeRenames:
    """Return the merges and splits of sub-codes."""
    query = "SELECT mode, old_code, new_code, candidate_ids FROM sub_code_renames ORDER BY seq"
    return CodeRenames(
        tuple(
            CodeRename(Mode(mode), old, new, None if ids is None else frozenset(ids))
            for mode, old, new, ids in rows_of(connection, query)
        )
    )


def rows_of(connection: duckdb.DuckDBPyConnection, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """Run a query and drain it."""
    return connection.execute(query, list(values)).fetchall()


def append_event(connection: duckdb.DuckDBPyConnection, event: LabelEvent) -> bool:
    """Append an event unless its token is there already; return whether it was new."""
    insert = """
        INSERT INTO label_events
            (token, candidate_id, reviewer, author_kind, kind, mode, sub_code, gold_key, undoes, follows, body,
            created_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING seq
    """
    content = event.content
    values = [
        event.token, event.candidate_id, event.author.name, event.author.kind.value, event.kind.value,
        content.mode and content.mode.value, content.sub_code or None, json.dumps(sorted(content.gold_chunk_ids)),
        event.undoes or None, event.follows or None, json.dumps(content.model_dump(mode="json")), event.created_at,
    ]  # fmt: skip
    return bool(rows_of(connection, insert, values))


def in_transaction(connection: duckdb.DuckDBPyConnection, operation: Callable[[], Result]) -> Result:
    """Run an operation in one transaction, again when a concurrent one got in its way; it must be safe to repeat."""
    for attempt in range(_ATTEMPTS):
        connection.begin()
        try:
            result = operation()
            connection.commit()
        except (duckdb.TransactionException, duckdb.ConstraintException):
            _roll_back(connection)
            if attempt == _ATTEMPTS - 1:
                raise
            time.sleep(random.uniform(0.002, 0.02) * (attempt + 1))  # noqa: S311 - jitter, not a secret
        except BaseException:
            _roll_back(connection)
            raise
        else:
            return result
    raise AssertionError("unreachable")


def _roll_back(connection: duckdb.DuckDBPyConnection) -> None:
    """Roll back; a commit that failed has done so already."""
    with suppress(duckdb.TransactionException):
        connection.rollback()


def event_of(row: Sequence[Any]) -> LabelEvent:
    """Make an event of a row of `EVENT_COLUMNS`."""
    seq, token, candidate_id, reviewer, author_kind, kind, undoes, follows, body, created_at = row
    return LabelEvent(
        seq=seq,
        token=token,
        candidate_id=candidate_id,
        author=Author(name=reviewer, kind=AuthorKind(author_kind)),
        kind=DecisionKind(kind),
        content=LabelContent.model_validate_json(body),
        undoes=undoes,
        follows=follows,
        created_at=created_at,
    )


def last_decision_of(connection: duckdb.DuckDBPyConnection, reviewer: str) -> LabelEvent | None:
    """Return a reviewer's newest decision that is not undone."""
    query = f"SELECT {EVENT_COLUMNS} FROM effective_events WHERE reviewer = ? ORDER BY seq DESC LIMIT 1"  # noqa: S608
    found = connection.execute(query, [reviewer]).fetchall()
    return event_of(found[0]) if found else None


def current_decision_of(connection: duckdb.DuckDBPyConnection, candidate_id: str, reviewer: str) -> LabelEvent | None:
    """Return a reviewer's current decision on one candidate."""
    query = f"SELECT {EVENT_COLUMNS} FROM current_decisions WHERE candidate_id = ? AND reviewer = ?"  # noqa: S608
    found = connection.execute(query, [candidate_id, reviewer]).fetchall()
    return event_of(found[0]) if found else None


def write_draft(connection: duckdb.DuckDBPyConnection, values: tuple[Any, ...]) -> None:
    """Write one field of a draft: candidate, reviewer, field, JSON value, time."""
    upsert = """
        INSERT INTO drafts VALUES (?, ?, ?, ?, ?) ON CONFLICT (candidate_id, reviewer, field)
        DO UPDATE SET value = excluded.value, saved_at = excluded.saved_at
    """
    rows_of(connection, upsert, values)


def read_draft(
    connection: duckdb.DuckDBPyConnection, candidate_id: str, reviewer: str
) -> tuple[LabelContent | None, datetime | None]:
    """Return a reviewer's draft and when it was last written."""
    query = "SELECT field, value, saved_at FROM drafts WHERE candidate_id = ? AND reviewer = ?"
    found = connection.execute(query, [candidate_id, reviewer]).fetchall()
    if not found:
        return None, None
    fields = {field: json.loads(value) for field, value, _ in found}
    return LabelContent.model_validate(fields), max(saved_at for _, _, saved_at in found)


def grouped(rows: list[tuple[Any, ...]]) -> dict[str, list[tuple[str, int]]]:
    """Gather rows of (facet, value, count) by facet."""
    grouped: dict[str, list[tuple[str, int]]] = {}
    for facet, value, count in rows:
        grouped.setdefault(facet, []).append((value, count))
    return grouped


def starting_point(
    connection: duckdb.DuckDBPyConnection, candidate_id: str, decision: LabelEvent | None
) -> LabelContent:
    """Return what a reviewer without a draft starts from: their decision, else what an imported case brought along."""
    if decision is not None:
        return decision.content
    shared, _ = read_draft(connection, candidate_id, EVERYONE)
    return shared or LabelContent()

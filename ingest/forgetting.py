"""Deletes a user's interactions, or all before a time, from the log store, and keeps them from coming back."""

import re
from datetime import UTC, datetime
from typing import NamedTuple

import duckdb

from ingest import daily
from ingest.log_store import LogStore
from ingest.privacy import Redactor, workspace_salt
from ingest.settings import PrivacySettings
from ingest.spans.forgetting import forget_traces, traces_before, traces_of_user
from ingest.spans.replacing import delete_interactions


class Forgotten(NamedTuple):
    """What was deleted."""

    interaction_ids: list[str]
    spans: int
    rejects: int


_HASH = re.compile(r"[0-9a-f]{16}")


def forget_user(store: LogStore, user: str) -> Forgotten:
    """Delete all of a user, named as the log names them or by the stored hash; a later ingest leaves them out."""
    hashed = Redactor(PrivacySettings(), workspace_salt(store.path.parent)).hash_user(user)
    with store.unit() as connection:
        connection.begin()
        connection.execute(
            "CREATE OR REPLACE TEMP TABLE leaving AS SELECT interaction_id FROM interactions WHERE user_id IN (?, ?)",
            [hashed, user],
        )
        gone = _delete_leaving(connection, traces_of_user(connection, [hashed, user]))
        named = rf"(^|\W)({re.escape(user)}|USER_{hashed})(\W|$)"
        rejects = _deleted(connection, "DELETE FROM rejects WHERE regexp_matches(raw, ?)", [named])
        for stored in {hashed, user} if _HASH.fullmatch(user) else {hashed}:
            _remember(connection, "user", stored)
        connection.commit()
    return Forgotten(*gone, rejects)


def forget_before(store: LogStore, moment: datetime) -> Forgotten:
    """Delete every interaction asked before a time; a later ingest leaves them out."""
    with store.unit() as connection:
        connection.begin()
        connection.execute(
            "CREATE OR REPLACE TEMP TABLE leaving AS SELECT interaction_id FROM interactions WHERE asked_at < ?",
            [moment],
        )
        gone = _delete_leaving(connection, traces_before(connection, int(moment.timestamp() * 1_000_000) * 1000))
        rejects = _deleted(connection, "DELETE FROM rejects WHERE rejected_at < ?", [moment])
        _remember(connection, "before", moment.astimezone(UTC).isoformat())
        connection.commit()
    return Forgotten(*gone, rejects)


def _delete_leaving(connection: duckdb.DuckDBPyConnection, traces: set[str]) -> tuple[list[str], int]:
    ids = [row[0] for row in connection.execute("SELECT interaction_id FROM leaving ORDER BY 1").fetchall()]
    native = {interaction_id.partition(":")[2] for interaction_id in ids}
    for table in ("feedback_events", "interaction_aliases"):
        connection.execute(
            f"DELETE FROM {table} WHERE interaction_id IN (SELECT interaction_id FROM leaving)"  # noqa: S608 - our names
        )
    delete_interactions(connection, "leaving")
    connection.execute("DELETE FROM mined_shown")  # sessions in which others may have spoken too
    connection.execute("DELETE FROM passages WHERE passage NOT IN (SELECT passage FROM retrieved_passages)")
    connection.execute(
        "DELETE FROM chunk_texts WHERE text_hash NOT IN (SELECT text_hash FROM passages WHERE text_hash IS NOT NULL)"
    )
    # Files are read again from now on, so that a report says what was left out as forgotten.
    connection.execute("DELETE FROM ingested_files")
    spans = forget_traces(connection, traces | native)
    daily.rebuild(connection)
    return ids, spans


def _deleted(connection: duckdb.DuckDBPyConnection, statement: str, values: list[object]) -> int:
    return int(connection.execute(statement, values).fetchall()[0][0])


def _remember(connection: duckdb.DuckDBPyConnection, kind: str, value: str) -> None:
    connection.execute(
        "INSERT INTO forgotten SELECT $kind, $value, $now WHERE NOT EXISTS"
        " (SELECT 1 FROM forgotten WHERE kind = $kind AND value = $value)",
        {"kind": kind, "value": value, "now": datetime.now(UTC)},
    )

"""Claims: who holds a candidate, taken by compare-and-swap and let go by running out."""

from datetime import datetime, timedelta

import duckdb

from curation_app.review_rows import rows_of


def claim(
    connection: duckdb.DuckDBPyConnection, candidate_id: str, reviewer: str, *, now: datetime, minutes: float
) -> str:
    """Claim a candidate when it is free, or prolong the claim; return the name of its holder."""
    swap = """
        INSERT INTO claims VALUES (?, ?, ?) ON CONFLICT (candidate_id)
        DO UPDATE SET reviewer = excluded.reviewer, expires_at = excluded.expires_at
        WHERE claims.reviewer = excluded.reviewer OR claims.expires_at <= ?
        RETURNING reviewer
    """
    taken = rows_of(connection, swap, [candidate_id, reviewer, now + timedelta(minutes=minutes), now])
    return reviewer if taken else holder_of(connection, candidate_id, now) or reviewer


def release(connection: duckdb.DuckDBPyConnection, candidate_id: str, reviewer: str, now: datetime) -> None:
    """Give up a claim."""
    rows_of(
        connection,
        "UPDATE claims SET expires_at = ? WHERE candidate_id = ? AND reviewer = ?",
        [now, candidate_id, reviewer],
    )


def holder_of(connection: duckdb.DuckDBPyConnection, candidate_id: str, now: datetime) -> str:
    """Return who holds an unexpired claim; empty when nobody does."""
    query = "SELECT reviewer FROM claims WHERE candidate_id = ? AND expires_at > ?"
    found = rows_of(connection, query, [candidate_id, now])
    return str(found[0][0]) if found else ""

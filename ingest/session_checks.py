"""Tells when session ids are no sessions: one for all, one a request, or threads that live for weeks."""

from collections.abc import Iterator

import duckdb

from ingest.adapters.base import Caution

_FEWEST = 20
_MOST_ALONE = 0.98
_LONG_DAYS = 14

_QUALITY = """
WITH sessions AS (
    SELECT source, session_id, count(*) AS turns, max(asked_at) - min(asked_at) AS lasted
    FROM interactions
    WHERE source IN (SELECT DISTINCT source FROM interactions WHERE ingest_id = $ingest_id)
    GROUP BY source, session_id
)
SELECT source,
    CAST(sum(turns) AS BIGINT),
    CAST(coalesce(sum(turns) FILTER (session_id IS NOT NULL), 0) AS BIGINT),
    count(*) FILTER (session_id IS NOT NULL),
    count(*) FILTER (session_id IS NOT NULL AND turns > 1),
    count(*) FILTER (session_id IS NOT NULL AND turns > 1 AND lasted > INTERVAL 14 DAYS)
FROM sessions GROUP BY source ORDER BY source
"""


def session_cautions(connection: duckdb.DuckDBPyConnection, ingest_id: int) -> Iterator[Caution]:
    """Yield what is wrong with the session ids of the sources this ingest wrote to."""
    for source, turns, with_session, sessions, several, long in connection.execute(
        _QUALITY, {"ingest_id": ingest_id}
    ).fetchall():
        complaint = _complaint(turns, with_session, sessions, several, long)
        if complaint:
            code, message = complaint
            yield Caution(code, f"{source}: {message}")


def _complaint(turns: int, with_session: int, sessions: int, several: int, long: int) -> tuple[str, str] | None:
    if not with_session:
        return "no_sessions", "no session ids, so rephrased and abandoned questions can only be found by user"
    if with_session < _FEWEST:
        return None
    if sessions == 1:
        return "session_constant", f"all {with_session} interactions carry one session id, which is no session"
    if sessions >= with_session * _MOST_ALONE:
        return (
            "session_per_request",
            f"nearly every one of {turns} interactions has a session id of its own, like a request id",
        )
    if several and long * 2 > several:
        return (
            "session_for_weeks",
            f"{long} of {several} sessions last over {_LONG_DAYS} days, so an idle gap has to split them",
        )
    return None

"""Tells what is odd about sessions: ids that are none, threads that live for weeks, turns in no order of their own."""

from collections.abc import Iterator
from typing import NamedTuple

import duckdb

from ingest.adapters.base import Caution

_FEWEST = 20
_MOST_ALONE = 0.98
_LONG_DAYS = 14
_LOOKED_AT = 100_000
"""Turns of a source that are looked at, by whole sessions; of a longer log about as many, drawn by hash."""

_EXTENTS = """
SELECT source, count(*), count(session_id), min(session_id) = max(session_id)
FROM interactions
WHERE source IN (SELECT DISTINCT source FROM interactions WHERE ingest_id = $ingest_id)
GROUP BY source ORDER BY source
"""
_SESSIONS = """
WITH turns AS (
    SELECT
        session_id,
        asked_at,
        ingest_id = $ingest_id
            AND asked_at < lag(asked_at) OVER (PARTITION BY ingest_id, session_id ORDER BY rowid) AS is_behind
    FROM interactions
    WHERE source = $source AND session_id IS NOT NULL AND hash(session_id) % $one_of = 0
),
sessions AS (
    SELECT
        count(*) AS turns,
        max(asked_at) - min(asked_at) AS lasted,
        count(asked_at) - count(DISTINCT asked_at) AS tied,
        count(*) FILTER (is_behind) AS behind
    FROM turns GROUP BY session_id
)
SELECT
    CAST(coalesce(sum(turns), 0) AS BIGINT),
    count(*),
    count(*) FILTER (turns > 1),
    count(*) FILTER (turns > 1 AND lasted > INTERVAL 14 DAYS),
    CAST(coalesce(sum(tied), 0) AS BIGINT),
    CAST(coalesce(sum(behind), 0) AS BIGINT)
FROM sessions
"""


class _Source(NamedTuple):
    name: str
    turns: int
    with_session: int
    is_constant: bool
    """Whether all session ids are one."""


class _Looked(NamedTuple):
    """What the sessions that were looked at are like."""

    turns: int
    sessions: int
    several: int
    """Sessions of more than one turn."""
    long: int
    tied: int
    """Turns that share their time with another of their session, but for one each."""
    behind: int
    """Turns that this ingest read after a later turn of their session."""


def session_cautions(connection: duckdb.DuckDBPyConnection, ingest_id: int) -> Iterator[Caution]:
    """Yield what is odd about the sessions of the sources this ingest wrote to."""
    for row in connection.execute(_EXTENTS, {"ingest_id": ingest_id}).fetchall():
        source = _Source(*row)
        for code, message in _complaints(connection, ingest_id, source):
            yield Caution(code, f"{source.name}: {message}")


def _complaints(connection: duckdb.DuckDBPyConnection, ingest_id: int, source: _Source) -> Iterator[tuple[str, str]]:
    if not source.with_session:
        yield "no_sessions", "no session ids, so rephrased and abandoned questions can only be found by user"
        return
    if source.is_constant and source.with_session >= _FEWEST:
        yield "session_constant", f"all {source.with_session} interactions carry one session id, which is no session"
        return
    asked = {"ingest_id": ingest_id, "source": source.name, "one_of": -(-source.with_session // _LOOKED_AT)}
    (row,) = connection.execute(_SESSIONS, asked).fetchall()
    looked = _Looked(*row)
    yield from _about_ids(looked, source)
    yield from _about_order(looked)


def _about_ids(looked: _Looked, source: _Source) -> Iterator[tuple[str, str]]:
    if looked.turns < _FEWEST:
        return
    if looked.sessions >= looked.turns * _MOST_ALONE:
        alone = f"nearly every one of {source.turns} interactions has a session id of its own, like a request id"
        yield "session_per_request", alone
    elif looked.several and looked.long * 2 > looked.several:
        lasting = f"{looked.long} of {looked.several} sessions last over {_LONG_DAYS} days"
        yield "session_for_weeks", f"{lasting}: of these only questions asked soon after each other are compared"


def _about_order(looked: _Looked) -> Iterator[tuple[str, str]]:
    if looked.tied:
        shared = f"{looked.tied:,} of {looked.turns:,} turns looked at share their time with another of their session"
        yield "turns_share_a_time", f"{shared}: these are taken in the order of their ids, maybe not as they were asked"
    if looked.behind:
        late = f"{looked.behind:,} of {looked.turns:,} turns looked at came after a later one of their session"
        yield "turns_out_of_order", f"{late}: turns are read by their time, in whatever order they come"

"""What a run of mining says of the log it read, in sentences: what was odd about it, and what was left out."""

from datetime import datetime

import duckdb

from ingest.settings import QueueSettings, SignalSettings

_LOOKED_AT = 100_000
"""Turns whose times are compared, by whole sessions; of a longer log about as many, drawn by hash."""
# Counted so that no row is read where the file knows that none is missing. What is empty, or opens with a space, comes
# before '!'.
_COUNTS = """
SELECT
    count(*) - count(session_id),
    count(*) - count(coalesce(session_id, user_id)),
    count(*) - count(asked_at),
    (SELECT count(*) FROM logs WHERE question < '!' AND length(question) < 1000 AND trim(question) = ''),
    (SELECT count(*) FROM all_logs WHERE asked_at > $now),
    (SELECT count(*) FROM giants WHERE NOT is_shared)
        + (SELECT count(DISTINCT source || chr(31) || session_key) FROM loose WHERE turns > $giant),
    (SELECT count(*) FROM giants WHERE is_shared),
    (SELECT count(*) FROM bots)
FROM logs
"""
_SENTENCES = (
    ("turn has", "turns have", "no session id: joined by user and idle gap where a user is known."),
    ("turn has", "turns have", "neither session nor user: alone, so rephrases and complaints cannot be seen there."),
    ("turn has", "turns have", "no time: taken in the order of the ids within a session."),
    ("question is", "questions are", "empty: left out."),
    ("turn lies", "turns lie", "in the future: no reason to take a session for closed (clock skew)."),
    (
        "session is",
        "sessions are",
        "too long for one person (a bot or a script): only votes, errors and refusals in it were believed.",
    ),
    ("session id is", "session ids are", "shared by several users: not believed, turns joined by user and idle gap."),
    (
        "time a user",
        "times a user",
        "began more sessions in a day than a person would (a bot or a script): rephrases there were not believed.",
    ),
)
_TIED = """
SELECT count(*), CAST(coalesce(sum(turns - times), 0) AS BIGINT)
FROM (
    SELECT sum(turns) FILTER (asked_at IS NOT NULL) AS turns, count(asked_at) AS times
    FROM (
        SELECT source, session_id, asked_at, count(*) AS turns
        FROM logs WHERE session_id IS NOT NULL AND hash(session_id) % $one_of::UBIGINT = 0
        GROUP BY ALL
    )
    GROUP BY source, session_id
)
"""


def log_notes(connection: duckdb.DuckDBPyConnection, signals: SignalSettings, now: datetime) -> list[str]:
    """Say what of this run's logs was odd, and how it was taken."""
    asked = {"now": now, "giant": signals.giant_session_turns}
    (counts,) = connection.execute(_COUNTS, asked).fetchall()
    notes = [
        f"{count:,} {one if count == 1 else several} {rest}"
        for count, (one, several, rest) in zip(counts, _SENTENCES, strict=True)
        if count
    ]
    return [*notes, *_tied_notes(connection)]


def _tied_notes(connection: duckdb.DuckDBPyConnection) -> list[str]:
    (read,) = connection.execute("SELECT count(session_id) FROM logs").fetchall()[0]
    one_of = max(1, -(-read // _LOOKED_AT))
    ((sessions, tied),) = connection.execute(_TIED, {"one_of": one_of}).fetchall()
    if not tied:
        return []
    of = f" in {sessions:,} sessions drawn by hash" if one_of > 1 else ""
    return [f"{tied:,} turns{of} share their time with another of their session: taken in the order of the ids."]


def sample_notes(total: int, signals: SignalSettings) -> list[str]:
    """Say that answers were compared with their retrieved text for a part of the log only, where that is so."""
    if "ungrounded" in signals.disabled or total <= signals.ungrounded_rows:
        return []
    sampled = f"about {signals.ungrounded_rows:,} of {total:,}, drawn by hash"
    return [f"Ungrounded answers were looked for in {sampled} (signals.ungrounded_rows)."]


def cut_notes(left: int, queue: QueueSettings) -> list[str]:
    """Say how many flagged turns the queue leaves out."""
    if left <= 0:
        return []
    taken = f"{queue.limit:,} turns and {queue.per_session} of a session"
    return [f"{left:,} flagged turns are not in the queue, which takes {taken} (queue.limit, queue.per_session)."]

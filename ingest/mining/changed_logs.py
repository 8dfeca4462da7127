"""Which part of the log a run reads: all of it, or the sessions that changed and those around them."""

from collections.abc import Mapping

import duckdb

from ingest.signals.engine import Value

_NUMBERED = """
number, source, session_id, user_id, asked_at,
CASE WHEN session_id IS NOT NULL THEN session_number(source, session_id) END AS session,
CASE WHEN user_id IS NOT NULL THEN session_number(source, user_id) END AS visitor
"""
_NEW_ROWS = f"""
CREATE OR REPLACE TEMP TABLE new_rows AS
SELECT {_NUMBERED} FROM interactions WHERE ingest_id > $after_ingest
UNION ALL
SELECT {_NUMBERED} FROM interactions
WHERE number IN (SELECT line FROM mined_open) AND ingest_id <= $after_ingest
"""  # noqa: S608 - our own SQL
_FIRST_DAY = "SELECT coalesce(epoch_us(min(asked_at) - INTERVAL 1 DAY), 0) FROM new_rows"
# Of what is kept but a hint at who may be one: too many visits since the day of the first of these rows.
_MAY_BE_BOTS = """
CREATE OR REPLACE TEMP TABLE may_be_bots AS
SELECT visitor
FROM (
    SELECT visitor, count(*) AS visits FROM mined_visits
    WHERE visitor IN (SELECT visitor FROM new_rows) AND last_us >= $earliest GROUP BY visitor
    UNION ALL
    SELECT visitor, count(DISTINCT session) FROM new_rows WHERE visitor IS NOT NULL GROUP BY visitor
)
GROUP BY visitor HAVING sum(visits) > $giant_session_turns
"""
# As the stage does in a full run, but of these users' days alone; what else such a script asked that day is read again.
_BOTS = """
CREATE OR REPLACE TEMP TABLE bots AS
WITH asked AS (SELECT * FROM new_rows WHERE visitor IN (SELECT visitor FROM may_be_bots)),
days AS (
    SELECT min(asked_at) - INTERVAL 1 DAY AS first, max(asked_at) + INTERVAL 1 DAY AS last FROM asked
),
visits AS (
    SELECT source, user_id, session_id, max(epoch_us(asked_at)) // 86400000000 AS day
    FROM interactions
    WHERE asked_at >= (SELECT first FROM days) AND asked_at < (SELECT last FROM days) AND session_id IS NOT NULL
        AND (source, user_id) IN (SELECT DISTINCT source, user_id FROM asked)
    GROUP BY source, user_id, session_id
)
SELECT source, user_id, session_number(source, user_id) AS visitor, day, count(*) AS sessions
FROM visits GROUP BY source, user_id, day HAVING count(*) > $giant_session_turns
"""
_ROWS_OF_BOTS = f"""
INSERT INTO new_rows BY NAME
SELECT {_NUMBERED}
FROM interactions AS i SEMI JOIN (
    SELECT source, user_id, day FROM bots
) AS b ON b.source = i.source AND b.user_id = i.user_id AND b.day = epoch_us(i.asked_at) // 86400000000
WHERE number NOT IN (SELECT number FROM new_rows)
"""  # noqa: S608 - our own SQL
_ROWS_AGAIN = f"""
CREATE OR REPLACE TEMP TABLE new_rows AS
SELECT {_NUMBERED} FROM interactions WHERE number IN (SELECT line FROM {{lines}})
"""  # noqa: S608 - our own SQL
_TOUCHED = """
CREATE OR REPLACE TEMP TABLE touched_sessions AS
SELECT DISTINCT session, 0 AS ring FROM new_rows WHERE session IS NOT NULL
"""
_SEEN = """
CREATE OR REPLACE TEMP TABLE seen AS
SELECT m.visitor, m.first_us, m.last_us FROM mined_visits AS m
SEMI JOIN (SELECT session FROM touched_sessions WHERE ring = {ring}) AS t ON t.session = m.session
"""
# A user's sessions that begin on one day are taken together: those of one with very many are compared no more than once
# for each day.
_SPANS = """
CREATE OR REPLACE TEMP TABLE spans AS
SELECT visitor, min(first_us) - $window_us AS first_us, max(last_us) + $window_us AS last_us
FROM ({visits}) AS asked
WHERE visitor IS NOT NULL AND first_us IS NOT NULL
GROUP BY visitor, first_us // 86400000000
"""
_EARLIEST = "SELECT coalesce(min(first_us), 0) FROM spans"
# Whom a user's session may follow or be followed by: their others within the window of it.
_NEXT_RING = """
INSERT INTO touched_sessions
SELECT DISTINCT m.session, $ring
FROM mined_visits AS m
JOIN spans AS s ON s.visitor = m.visitor AND m.first_us <= s.last_us AND m.last_us >= s.first_us
ANTI JOIN touched_sessions AS t ON t.session = m.session
WHERE m.last_us >= $earliest
"""
# Where they were, and where they are now: both may have stood between others.
_CHANGED_VISITS = """
SELECT visitor, first_us, last_us FROM seen
UNION ALL
SELECT visitor, epoch_us(min(asked_at)), epoch_us(max(asked_at)) FROM new_rows GROUP BY visitor, session
"""
_SEEN_VISITS = "SELECT visitor, first_us, last_us FROM seen"
# A session that no run has seen has but new rows; of any other it is known where it begins, and nothing before is read.
_BEGINNING = """
SELECT coalesce(least(
    (SELECT min(number) FROM new_rows),
    (SELECT min(first_line) FROM mined_visits WHERE session IN (SELECT session FROM touched_sessions))
), 0)
"""
_PLACES = """
CREATE OR REPLACE TEMP TABLE session_places AS
SELECT i.rowid AS place, t.ring
FROM interactions AS i JOIN touched_sessions AS t ON t.session = session_number(i.source, i.session_id)
WHERE i.number >= $beginning AND i.session_id IS NOT NULL
"""
_ROWS = """
CREATE OR REPLACE TEMP TABLE changed_rows AS
SELECT place, ring < 2 AS is_settled FROM session_places
UNION ALL
SELECT i.rowid, true
FROM interactions AS i
WHERE i.session_id IS NULL AND i.user_id IS NOT NULL
    AND EXISTS (
        SELECT 1 FROM new_rows AS n WHERE n.source = i.source AND n.user_id = i.user_id AND n.session_id IS NULL
    )
UNION ALL
SELECT i.rowid, true
FROM interactions AS i JOIN new_rows AS n ON n.number = i.number
WHERE i.session_id IS NULL AND i.user_id IS NULL
"""
# By place, so that only the part of the file is read in whole that holds what changed: its end, as a rule.
_LOGS = """
CREATE OR REPLACE TEMP TABLE {table} AS
SELECT i.* EXCLUDE (metadata, content_hash, cautions, input_tokens, output_tokens), i.number AS line, c.is_settled
FROM interactions AS i JOIN changed_rows AS c ON c.place = i.rowid
WHERE i.rowid BETWEEN $first AND $last
"""
# As the stage does in a full run; what is older than the newest of each source that changed is not the newest of all.
_HORIZONS = """
CREATE OR REPLACE TEMP TABLE horizons AS
SELECT source, max(epoch_us(asked_at)) AS horizon_us FROM interactions
WHERE asked_at BETWEEN make_timestamptz($after_us) AND make_timestamptz($now_us) GROUP BY source
"""
_NEWEST = """
SELECT coalesce(min(newest_us), 0) FROM (
    SELECT coalesce(max(epoch_us(asked_at)) FILTER (epoch_us(asked_at) <= $now_us), $first_us) AS newest_us
    FROM logs GROUP BY source
)
"""
_FIRST_US = -62_135_596_800_000_000
"""The year 1, before which nothing is asked."""


def choose_all_logs(connection: duckdb.DuckDBPyConnection) -> None:
    """Make `logs` the whole log."""
    connection.execute(
        "CREATE OR REPLACE TEMP VIEW logs AS SELECT *, number AS line, true AS is_settled FROM interactions"
    )


def choose_changed_logs(
    connection: duckdb.DuckDBPyConnection, values: Mapping[str, Value], *, after_ingest: int
) -> None:
    """Make `logs` the whole sessions that have rows of a later ingest, and what stands within the window of them.

    Leaves `bots`, which are told by all that their users asked on the days of these rows, and `horizons`.
    """
    connection.execute(_NEW_ROWS, {"after_ingest": after_ingest})
    most = {"giant_session_turns": values["giant_session_turns"]}
    (earliest,) = connection.execute(_FIRST_DAY).fetchall()[0]
    connection.execute(_MAY_BE_BOTS, {**most, "earliest": earliest})
    connection.execute(_BOTS, most)
    if connection.execute("SELECT count(*) FROM bots").fetchall()[0][0]:
        connection.execute(_ROWS_OF_BOTS)
    _choose_around(connection, "changed_logs", values)
    now = {"now_us": values["now_us"]}
    (after,) = connection.execute(_NEWEST, {**now, "first_us": _FIRST_US}).fetchall()[0]
    connection.execute(_HORIZONS, {**now, "after_us": after})


def choose_logs_again(connection: duckdb.DuckDBPyConnection, values: Mapping[str, Value], lines: str) -> None:
    """Make `logs` the sessions of the interactions whose lines stand in a table, as if these were new."""
    connection.execute(_ROWS_AGAIN.format(lines=lines))
    _choose_around(connection, "logs_again", values)


def _choose_around(connection: duckdb.DuckDBPyConnection, table: str, values: Mapping[str, Value]) -> None:
    """Make `logs` the table with the sessions of `new_rows` and what stands within the window of them."""
    window = {"window_us": values["rephrase_window_us"]}
    connection.execute(_TOUCHED)
    for ring, visits in ((1, _CHANGED_VISITS), (2, _SEEN_VISITS)):
        connection.execute(_SEEN.format(ring=ring - 1))
        connection.execute(_SPANS.format(visits=visits), window)
        (earliest,) = connection.execute(_EARLIEST).fetchall()[0]
        connection.execute(_NEXT_RING, {"ring": ring, "earliest": earliest})
    (beginning,) = connection.execute(_BEGINNING).fetchall()[0]
    connection.execute(_PLACES, {"beginning": beginning})
    connection.execute(_ROWS)
    bounds = "SELECT coalesce(min(place), 0) AS first, coalesce(max(place), 0) AS last FROM changed_rows"
    first, last = connection.execute(bounds).fetchall()[0]
    connection.execute(_LOGS.format(table=table), {"first": first, "last": last})
    connection.execute(f"CREATE OR REPLACE TEMP VIEW logs AS SELECT * FROM {table}")  # noqa: S608 - our own table names

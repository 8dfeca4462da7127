"""What mining remembers between runs: which sessions to read again, and what was found in the others."""

from collections.abc import Mapping

import duckdb

from ingest.signals.engine import Value
from ingest.signals.registry import LATE_SIGNALS

_NEW_ROWS = """
CREATE OR REPLACE TEMP TABLE new_rows AS
SELECT number, source, session_id, user_id, asked_at FROM interactions WHERE ingest_id > $after_ingest
UNION ALL
SELECT number, source, session_id, user_id, asked_at FROM interactions
WHERE number IN (SELECT line FROM mined_open) AND ingest_id <= $after_ingest
"""
# As the stage does in a full run, but of these users' days alone; what else such a script asked that day is read again.
_BOTS = """
CREATE OR REPLACE TEMP TABLE bots AS
WITH days AS (
    SELECT min(asked_at) - INTERVAL 1 DAY AS first, max(asked_at) + INTERVAL 1 DAY AS last FROM new_rows
),
visits AS (
    SELECT source, user_id, session_id, max(epoch_us(asked_at)) // 86400000000 AS day
    FROM interactions
    WHERE asked_at >= (SELECT first FROM days) AND asked_at < (SELECT last FROM days) AND session_id IS NOT NULL
        AND (source, user_id) IN (SELECT DISTINCT source, user_id FROM new_rows WHERE user_id IS NOT NULL)
    GROUP BY source, user_id, session_id
)
SELECT source, user_id, session_number(source, user_id) AS visitor, day, count(*) AS sessions
FROM visits GROUP BY source, user_id, day HAVING count(*) > $giant_session_turns
"""
_ROWS_OF_BOTS = """
INSERT INTO new_rows
SELECT i.number, i.source, i.session_id, i.user_id, i.asked_at
FROM interactions AS i
JOIN bots AS b ON b.source = i.source AND b.user_id = i.user_id AND b.day = epoch_us(i.asked_at) // 86400000000
WHERE i.number NOT IN (SELECT number FROM new_rows)
"""
_ROWS_AGAIN = """
CREATE OR REPLACE TEMP TABLE new_rows AS
SELECT number, source, session_id, user_id, asked_at FROM interactions WHERE number IN (SELECT line FROM {lines})
"""
_TOUCHED = """
CREATE OR REPLACE TEMP TABLE touched_sessions AS
SELECT DISTINCT source, session_id, 0 AS ring, false AS is_placed FROM new_rows WHERE session_id IS NOT NULL
"""
_UNPLACED = "SELECT count(*) FROM touched_sessions WHERE NOT is_placed"
# Places in the file, found by two columns: to read the others there as well would cost three times as much.
_PLACES = """
INSERT INTO session_places
SELECT i.rowid, t.ring
FROM interactions AS i
JOIN (
    SELECT session_number(source, session_id) AS session, ring FROM touched_sessions WHERE NOT is_placed
) AS t ON t.session = session_number(i.source, i.session_id);
UPDATE touched_sessions SET is_placed = true
"""
# A user's other sessions within the window: their last question may have been asked again in a session that is read.
# Joined on time buckets, so that one user with very many turns costs no more than their number.
_MOMENTS = """
CREATE OR REPLACE TEMP TABLE moments AS
WITH visits AS (
    SELECT source, user_id, min(bucket) - 1 AS first, max(bucket) + 1 AS last, list(bucket) AS buckets
    FROM (SELECT *, epoch_us(asked_at) // $window_us AS bucket FROM ({rows}) AS asked)
    WHERE user_id IS NOT NULL AND bucket IS NOT NULL
    GROUP BY source, user_id, session_id
)
SELECT DISTINCT source, user_id, unnest(
    CASE WHEN last - first <= $longest THEN range(first, last + 1)
        ELSE flatten(list_transform(list_distinct(buckets), lambda bucket: range(bucket - 1, bucket + 2))) END
) AS bucket
FROM visits
"""
_LONGEST = 1000
"""Windows that a session lasts, about a week: of a longer one only what stands around its turns is looked at."""
# Of a ring whose rows are known the sessions that hold others too: what stands between these was not yet seen.
_OF_RING = """
SELECT source, user_id, session_id, asked_at FROM interactions
WHERE rowid IN (SELECT place FROM session_places WHERE ring = {ring}) AND (source, session_id) IN (
    SELECT source, session_id FROM interactions
    WHERE rowid IN (SELECT place FROM session_places WHERE ring = {ring})
        AND number NOT IN (SELECT number FROM new_rows)
)
"""
_SPAN = """
SELECT make_timestamptz(min(bucket) * $window_us), make_timestamptz((max(bucket) + 1) * $window_us) FROM moments
"""
_NEXT_RING = """
INSERT INTO touched_sessions
SELECT DISTINCT i.source, i.session_id, $ring, false
FROM interactions AS i
JOIN moments AS m ON m.source = i.source AND m.user_id = i.user_id AND epoch_us(i.asked_at) // $window_us = m.bucket
WHERE i.session_id IS NOT NULL AND i.asked_at BETWEEN $first AND $last
    AND NOT EXISTS (SELECT 1 FROM touched_sessions AS t WHERE t.source = i.source AND t.session_id = i.session_id)
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
_GONE = """
CREATE OR REPLACE TEMP TABLE {table}_gone AS
SELECT *, rowid AS place FROM mined_{table} WHERE line IN (SELECT line FROM logs WHERE is_settled) {kept}
"""
_NEW = """
CREATE OR REPLACE TEMP TABLE {table}_new AS
SELECT {columns} FROM {table} WHERE line IN (SELECT line FROM logs WHERE is_settled)
"""
# Turns around those that leave may have been told by them, and quoted them: they are read again.
_AROUND_LEAVING = """
INSERT INTO mined_open
WITH gone AS (
    SELECT source, session_id, user_id, epoch_us(asked_at) // 86400000000 AS day
    FROM interactions WHERE number IN (SELECT line FROM {leaving})
)
SELECT number FROM interactions
WHERE number NOT IN (SELECT line FROM {leaving} UNION ALL SELECT line FROM mined_open) AND (
    (source, session_id) IN (SELECT source, session_id FROM gone)
    OR (source, user_id, epoch_us(asked_at) // 86400000000)
        IN (SELECT source, user_id, day + step FROM gone, (VALUES (-1), (0), (1)) AS steps(step))
    OR (session_id IS NULL AND (source, user_id) IN (SELECT source, user_id FROM gone WHERE session_id IS NULL))
)
"""
_QUOTES = """
DELETE FROM mined_said
WHERE evidence_id IN (SELECT interaction_id FROM interactions WHERE number IN (SELECT line FROM {leaving}))
"""
_SHOWN_WITH_GONE = """
DELETE FROM mined_shown
WHERE line IN (SELECT line FROM mined_shown WHERE turn NOT IN (SELECT number FROM interactions))
"""
IS_LATE = f"signal IN ({', '.join(map(repr, LATE_SIGNALS))})"
"""Whether a hit is of a signal that reads what the others found."""
SHOWN_TABLES = ("mined_shown", "mined_turns", "mined_passages")
"""The turns around the interactions of the queue, and what these retrieved."""
FOUND_TABLES = (
    *("mined_hits", "mined_needs", "mined_controls", "mined_open", "mined_ranks", "mined_said"),
    *SHOWN_TABLES,
)
"""What is kept of interactions, by their number as `line`."""
_COLUMNS = {"hits": "line, signal, score, is_weak", "needs": "*", "controls": "*"}
"""What is found, each kept between runs in a table of the file named `mined_` before it."""


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
    connection.execute(_BOTS, {"giant_session_turns": values["giant_session_turns"]})
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
    connection.execute(_TOUCHED)
    connection.execute("CREATE OR REPLACE TEMP TABLE session_places (place BIGINT, ring INTEGER)")
    # The first ring is mostly told by the new rows alone, so that one look at all sessions does for both.
    for ring, rows in ((1, "FROM new_rows"), (1, _OF_RING.format(ring=0)), (2, _OF_RING.format(ring=1))):
        _touch(connection, values, rows, ring)
        if connection.execute(_UNPLACED).fetchall()[0][0]:
            connection.execute(_PLACES)
    connection.execute(_ROWS)
    bounds = "SELECT coalesce(min(place), 0) AS first, coalesce(max(place), 0) AS last FROM changed_rows"
    first, last = connection.execute(bounds).fetchall()[0]
    connection.execute(_LOGS.format(table=table), {"first": first, "last": last})
    connection.execute(f"CREATE OR REPLACE TEMP VIEW logs AS SELECT * FROM {table}")  # noqa: S608 - our own table names


def _touch(connection: duckdb.DuckDBPyConnection, values: Mapping[str, Value], rows: str, ring: int) -> None:
    """Add to a ring the other sessions of those who asked `rows`, within the window of these."""
    window = {"window_us": values["rephrase_window_us"]}
    connection.execute(_MOMENTS.format(rows=rows), {**window, "longest": _LONGEST})
    first, last = connection.execute(_SPAN, window).fetchall()[0]
    connection.execute(_NEXT_RING, {**window, "ring": ring, "first": first, "last": last})


def replace_findings(connection: duckdb.DuckDBPyConnection, *, is_incremental: bool) -> None:
    """Put what was found in `logs` in the place of what was known of them; hits of a full run are kept with its sums.

    An incremental run leaves what went in `hits_gone` and so on, and what came in `hits_new` and so on.
    """
    if is_incremental:
        for table in _COLUMNS:
            _move(connection, table)
        connection.execute("DELETE FROM mined_open WHERE line IN (SELECT line FROM logs)")
    else:
        for table in ("needs", "controls", "baselines"):
            connection.execute(f"DELETE FROM mined_{table}")  # noqa: S608 - our own table names
            connection.execute(f"INSERT INTO mined_{table} SELECT * FROM {table}")  # noqa: S608 - our own table names
        connection.execute("DELETE FROM mined_open")
    connection.execute("INSERT INTO mined_open SELECT line FROM turns WHERE ends_open OR next_ends_open")


def _move(connection: duckdb.DuckDBPyConnection, table: str) -> None:
    kept = f"AND NOT {IS_LATE}" if table == "hits" else ""
    connection.execute(_GONE.format(table=table, kept=kept))
    connection.execute(_NEW.format(table=table, columns=_COLUMNS[table]))
    connection.execute(f"DELETE FROM mined_{table} WHERE rowid IN (SELECT place FROM {table}_gone)")  # noqa: S608 - our own table names
    connection.execute(f"INSERT INTO mined_{table} SELECT * FROM {table}_new")  # noqa: S608 - our own table names


def delete_findings(connection: duckdb.DuckDBPyConnection, leaving: str) -> None:
    """Delete what was found in interactions about to leave, by number in the table `leaving`, or quotes them."""
    connection.execute(_AROUND_LEAVING.format(leaving=leaving))
    connection.execute(_QUOTES.format(leaving=leaving))
    for table in FOUND_TABLES:
        connection.execute(f"DELETE FROM {table} WHERE line IN (SELECT line FROM {leaving})")  # noqa: S608 - our own table names


def forget_findings(connection: duckdb.DuckDBPyConnection) -> None:
    """Drop what was found in interactions that are no longer in the log, and sessions in which these were shown."""
    connection.execute(_SHOWN_WITH_GONE)
    for table in FOUND_TABLES:
        connection.execute(f"DELETE FROM {table} WHERE line NOT IN (SELECT number FROM interactions)")  # noqa: S608 - our own table names


def read_state(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Return what the last run left, by name."""
    return dict(connection.execute("SELECT name, value FROM mining_state").fetchall())


def write_state(connection: duckdb.DuckDBPyConnection, state: Mapping[str, str]) -> None:
    """Remember where this run stopped and with which settings."""
    connection.execute("DELETE FROM mining_state")
    connection.executemany("INSERT INTO mining_state VALUES (?, ?)", [list(pair) for pair in state.items()])

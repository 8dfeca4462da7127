"""What mining remembers between runs: which sessions to read again, and what was found in the others."""

from collections.abc import Mapping

import duckdb

_SESSIONS_OF_NEW_ROWS = """
CREATE OR REPLACE TEMP TABLE new_rows AS
SELECT interaction_id, source, session_id, user_id, asked_at FROM interactions WHERE ingest_id > $after_ingest
UNION
SELECT i.interaction_id, i.source, i.session_id, i.user_id, i.asked_at
FROM interactions AS i JOIN mined_open AS o ON o.interaction_id = i.interaction_id
WHERE i.asked_at >= make_timestamptz($open_from) OR $open_from = 0
"""
_TOUCHED = """
CREATE OR REPLACE TEMP TABLE touched_sessions AS
SELECT DISTINCT source, session_id, 0 AS ring FROM new_rows WHERE session_id IS NOT NULL
"""
# Places in the file, found by two columns: to read the others there as well would cost three times as much.
_PLACES = """
INSERT INTO session_places
SELECT i.rowid, $ring
FROM interactions AS i
SEMI JOIN (SELECT source, session_id FROM touched_sessions WHERE ring = $ring) AS t USING (source, session_id)
"""
# A user's other sessions within the window: their last question may have been asked again in a session that is read.
# Joined on time buckets, so that one user with very many turns costs no more than their number.
_MOMENTS = """
CREATE OR REPLACE TEMP TABLE moments AS
SELECT DISTINCT i.source, i.user_id, epoch_us(i.asked_at) // $window_us + step AS bucket
FROM interactions AS i, (VALUES (-1), (0), (1)) AS steps(step)
WHERE i.rowid IN (SELECT place FROM session_places WHERE ring = $ring - 1)
    AND i.user_id IS NOT NULL AND i.asked_at IS NOT NULL
"""
_SPAN = """
SELECT make_timestamptz(min(bucket) * $window_us), make_timestamptz((max(bucket) + 1) * $window_us) FROM moments
"""
_NEXT_RING = """
INSERT INTO touched_sessions
SELECT DISTINCT i.source, i.session_id, $ring
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
FROM interactions AS i JOIN new_rows AS n ON n.interaction_id = i.interaction_id
WHERE i.session_id IS NULL AND i.user_id IS NULL
"""
# By place, so that only the part of the file is read in whole that holds what changed: its end, as a rule.
_LOGS = """
CREATE OR REPLACE TEMP TABLE changed_logs AS
SELECT i.*, c.place AS line, c.is_settled
FROM interactions AS i JOIN changed_rows AS c ON c.place = i.rowid
WHERE i.rowid BETWEEN $first AND $last
"""
FOUND_TABLES = ("hits", "needs", "controls")
"""What is found, each kept between runs in a table of the file named `mined_` before it."""


def choose_all_logs(connection: duckdb.DuckDBPyConnection) -> None:
    """Make `logs` the whole log."""
    connection.execute(
        "CREATE OR REPLACE TEMP VIEW logs AS SELECT *, rowid AS line, true AS is_settled FROM interactions"
    )


def choose_changed_logs(
    connection: duckdb.DuckDBPyConnection, *, after_ingest: int, open_from: int, window_us: int
) -> None:
    """Make `logs` the whole sessions that have rows of a later ingest, and what stands within the window of them.

    The table `changed_logs` holds the same.
    """
    connection.execute(_SESSIONS_OF_NEW_ROWS, {"after_ingest": after_ingest, "open_from": open_from})
    connection.execute(_TOUCHED)
    connection.execute("CREATE OR REPLACE TEMP TABLE session_places (place BIGINT, ring INTEGER)")
    connection.execute(_PLACES, {"ring": 0})
    for ring in (1, 2):
        connection.execute(_MOMENTS, {"window_us": window_us, "ring": ring})
        first, last = connection.execute(_SPAN, {"window_us": window_us}).fetchall()[0]
        connection.execute(_NEXT_RING, {"window_us": window_us, "ring": ring, "first": first, "last": last})
        connection.execute(_PLACES, {"ring": ring})
    connection.execute(_ROWS)
    bounds = "SELECT coalesce(min(place), 0) AS first, coalesce(max(place), 0) AS last FROM changed_rows"
    first, last = connection.execute(bounds).fetchall()[0]
    connection.execute(_LOGS, {"first": first, "last": last})
    connection.execute("CREATE OR REPLACE TEMP VIEW logs AS SELECT * FROM changed_logs")


def replace_findings(connection: duckdb.DuckDBPyConnection, *, is_incremental: bool) -> None:
    """Put what was found in `logs` in the place of what was known of them; a full run has stored it where it belongs.

    An incremental run leaves what went in `hits_gone` and so on, and what came in `hits_new` and so on.
    """
    if is_incremental:
        for table in FOUND_TABLES:
            _move(connection, table)
    else:
        connection.execute("DELETE FROM mined_baselines")
        connection.execute("INSERT INTO mined_baselines SELECT * FROM baselines")
    _replace_open(connection, is_incremental=is_incremental)


def _move(connection: duckdb.DuckDBPyConnection, table: str) -> None:
    settled = "SEMI JOIN (SELECT interaction_id FROM logs WHERE is_settled) AS s USING (interaction_id)"
    gone = f"SELECT place FROM {table}_gone"  # noqa: S608 - our own table names
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {table}_gone AS SELECT *, rowid AS place FROM mined_{table} "  # noqa: S608 - our own table names
        f"WHERE rowid IN (SELECT f.rowid FROM mined_{table} AS f {settled})"
    )
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {table}_new AS SELECT f.* FROM {table} AS f {settled}")  # noqa: S608 - our own table names
    connection.execute(f"DELETE FROM mined_{table} WHERE rowid IN ({gone})")  # noqa: S608 - our own table names
    connection.execute(f"INSERT INTO mined_{table} SELECT * FROM {table}_new")  # noqa: S608 - our own table names


def _replace_open(connection: duckdb.DuckDBPyConnection, *, is_incremental: bool) -> None:
    if is_incremental:
        connection.execute("DELETE FROM mined_open WHERE interaction_id IN (SELECT interaction_id FROM logs)")
    else:
        connection.execute("DELETE FROM mined_open")
    connection.execute("INSERT INTO mined_open SELECT interaction_id FROM turns WHERE ends_open OR next_ends_open")


def open_from(connection: duckdb.DuckDBPyConnection) -> int:
    """Return the time in microseconds from which on turns of open sessions were asked."""
    query = "SELECT coalesce(min(coalesce(asked_us, 0)), 0) FROM turns WHERE ends_open OR next_ends_open"
    return int(connection.execute(query).fetchall()[0][0])


def forget_findings(connection: duckdb.DuckDBPyConnection) -> None:
    """Drop what was found in interactions that are no longer in the log."""
    for table in ("mined_hits", "mined_needs", "mined_controls", "mined_open"):
        connection.execute(
            f"DELETE FROM {table} WHERE interaction_id NOT IN (SELECT interaction_id FROM interactions)"  # noqa: S608 - our own table names
        )


def read_state(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Return what the last run left, by name."""
    return dict(connection.execute("SELECT name, value FROM mining_state").fetchall())


def write_state(connection: duckdb.DuckDBPyConnection, state: Mapping[str, str]) -> None:
    """Remember where this run stopped and with which settings."""
    connection.execute("DELETE FROM mining_state")
    connection.executemany("INSERT INTO mining_state VALUES (?, ?)", [list(pair) for pair in state.items()])

"""What mining remembers between runs: where it stopped, and what was found."""

from collections.abc import Mapping

import duckdb

from ingest.signals.registry import LATE_SIGNALS

_NEW_VISITS = """
INSERT INTO mined_visits
SELECT session, visitor, line, first_us, last_us FROM visits
"""
_OF_CHANGED = "WHERE session IN (SELECT session FROM touched_sessions WHERE ring = 0)"
_LEAVING_VISITS = """
DELETE FROM mined_visits
WHERE session IN (SELECT hash(source, session_id) FROM interactions WHERE number IN (SELECT line FROM {leaving}))
"""
_GONE_VISITS = """
DELETE FROM mined_visits
WHERE session NOT IN (SELECT hash(source, session_id) FROM interactions WHERE session_id IS NOT NULL)
"""
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
    *("mined_hits", "mined_needs", "mined_controls", "mined_open", "mined_ranks", "mined_crowded", "mined_said"),
    *SHOWN_TABLES,
)
"""What is kept of interactions, by their number as `line`."""
_COLUMNS = {"hits": "line, signal, score, is_weak", "needs": "*", "controls": "*"}
"""What is found, each kept between runs in a table of the file named `mined_` before it."""


def replace_findings(connection: duckdb.DuckDBPyConnection, *, is_incremental: bool) -> None:
    """Put what was found in `logs` in the place of what was known of them; hits of a full run are kept with its sums.

    An incremental run leaves what went in `hits_gone` and so on, and what came in `hits_new` and so on.
    """
    if is_incremental:
        connection.execute(f"DELETE FROM mined_visits {_OF_CHANGED}")  # noqa: S608 - our own SQL
        connection.execute(f"{_NEW_VISITS} {_OF_CHANGED}")
        for table in _COLUMNS:
            _move(connection, table)
        connection.execute("DELETE FROM mined_open WHERE line IN (SELECT line FROM logs)")
    else:
        for table in ("needs", "controls", "baselines"):
            connection.execute(f"DELETE FROM mined_{table}")  # noqa: S608 - our own table names
            connection.execute(f"INSERT INTO mined_{table} SELECT * FROM {table}")  # noqa: S608 - our own table names
        connection.execute("DELETE FROM mined_visits")
        connection.execute(_NEW_VISITS)
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
    connection.execute(_LEAVING_VISITS.format(leaving=leaving))
    for table in FOUND_TABLES:
        connection.execute(f"DELETE FROM {table} WHERE line IN (SELECT line FROM {leaving})")  # noqa: S608 - our own table names


def forget_findings(connection: duckdb.DuckDBPyConnection) -> None:
    """Drop what was found in interactions that are no longer in the log, and sessions in which these were shown."""
    connection.execute(_SHOWN_WITH_GONE)
    connection.execute(_GONE_VISITS)
    for table in FOUND_TABLES:
        connection.execute(f"DELETE FROM {table} WHERE line NOT IN (SELECT number FROM interactions)")  # noqa: S608 - our own table names


def read_state(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Return what the last run left, by name."""
    return dict(connection.execute("SELECT name, value FROM mining_state").fetchall())


def write_state(connection: duckdb.DuckDBPyConnection, state: Mapping[str, str]) -> None:
    """Remember where this run stopped and with which settings."""
    connection.execute("DELETE FROM mining_state")
    connection.executemany("INSERT INTO mining_state VALUES (?, ?)", [list(pair) for pair in state.items()])

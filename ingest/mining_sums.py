"""What follows from the findings: ranks, counts, late signals and numbers by day; a run changes what changed."""

from collections.abc import Sequence

import duckdb

from ingest import daily
from ingest.shortlist import FOUND, RANK_COLUMNS, RANKS
from ingest.signals.engine import SignalEngine, Value
from ingest.signals.pipeline import HIT_COLUMNS, union_of
from ingest.signals.registry import Signal

_COUNTS = """
SELECT signal, count(DISTINCT interaction_id) AS flagged, count(DISTINCT interaction_id) FILTER (is_weak) AS weak
FROM {hits} GROUP BY signal
UNION ALL
SELECT '', count(DISTINCT interaction_id), count(DISTINCT interaction_id) FILTER (is_weak) FROM {hits}
"""
# Counted by what was found together, of which there are few kinds.
_COUNTS_OF_FOUND = """
WITH kinds AS (SELECT signals, weak_signals, count(*) AS found FROM found GROUP BY ALL)
SELECT w.signal, sum(k.found) AS flagged, coalesce(sum(k.found) FILTER ((k.weak_signals >> w.place) & 1 = 1), 0) AS weak
FROM kinds AS k JOIN weights AS w ON (k.signals >> w.place) & 1 = 1
GROUP BY w.signal
UNION ALL
SELECT '', coalesce(sum(found), 0), coalesce(sum(found) FILTER (weak_signals <> 0), 0) FROM kinds
"""
_MOVED_COUNTS = f"""
CREATE OR REPLACE TEMP TABLE counts AS
SELECT signal, sum(flagged)::BIGINT AS flagged, sum(weak)::BIGINT AS weak
FROM (
    SELECT * FROM mined_counts
    UNION ALL
    SELECT signal, -flagged, -weak FROM ({_COUNTS.format(hits="hits_gone")}) AS gone
    UNION ALL
    SELECT * FROM ({_COUNTS.format(hits="hits_new")}) AS new
) AS moved
GROUP BY signal
"""  # noqa: S608 - our own SQL
# A need is the same words, so one that no changed turn asks is as frequent as it was.
_CHANGED_NEEDS = """
CREATE OR REPLACE TEMP TABLE changed_needs AS
SELECT DISTINCT source, need FROM (SELECT source, need FROM needs_gone UNION ALL SELECT source, need FROM needs_new)
"""
_NEEDS = """
CREATE OR REPLACE TEMP TABLE needs AS
SELECT * FROM mined_needs
WHERE rowid IN (SELECT f.rowid FROM mined_needs AS f SEMI JOIN changed_needs USING (source, need))
"""
_FORGET_LATE = """
DELETE FROM mined_late_hits WHERE interaction_id IN (
    SELECT interaction_id FROM needs UNION ALL SELECT interaction_id FROM needs_gone
)
"""


def sum_up_anew(
    connection: duckdb.DuckDBPyConnection, engine: SignalEngine, late: Sequence[Signal], values: dict[str, Value]
) -> None:
    """Work out all that follows from the findings; `needs` stands for all of them."""
    connection.execute(f"CREATE OR REPLACE TEMP TABLE found AS {FOUND.format(hits='mined_hits')}")
    _refill(connection, "mined_ranks", f"SELECT {RANK_COLUMNS} FROM found WHERE raised IS NOT NULL")  # noqa: S608 - our own column names
    _refill(connection, "mined_counts", _COUNTS_OF_FOUND)
    connection.execute("DELETE FROM mined_late_hits")
    _find_late(connection, engine, late, values)
    connection.execute("DELETE FROM mined_shown")
    daily.count_found_signals(connection)
    connection.execute("DROP TABLE found")


def rank_anew(connection: duckdb.DuckDBPyConnection) -> None:
    """Rank every flagged interaction, as when the weights changed."""
    _refill(connection, "mined_ranks", RANKS.format(hits="mined_hits"))


def sum_up_changes(
    connection: duckdb.DuckDBPyConnection, engine: SignalEngine, late: Sequence[Signal], values: dict[str, Value]
) -> None:
    """Change what follows from `hits_gone`, `hits_new`, `needs_gone` and `needs_new`; the others stay."""
    connection.execute("DELETE FROM mined_ranks WHERE interaction_id IN (SELECT interaction_id FROM hits_gone)")
    connection.execute(f"INSERT INTO mined_ranks BY NAME {RANKS.format(hits='hits_new')}")
    connection.execute(_MOVED_COUNTS)
    _refill(connection, "mined_counts", "SELECT * FROM counts WHERE flagged > 0")
    connection.execute(_CHANGED_NEEDS)
    connection.execute(_NEEDS)
    connection.execute(_FORGET_LATE)
    _find_late(connection, engine, late, values)
    connection.execute("DELETE FROM mined_shown WHERE interaction_id IN (SELECT interaction_id FROM logs)")
    daily.move_signals(connection, gone="hits_gone", new="hits_new")


def _find_late(
    connection: duckdb.DuckDBPyConnection, engine: SignalEngine, late: Sequence[Signal], values: dict[str, Value]
) -> None:
    if late:
        engine.keep("late_hits", union_of(late), values)
        connection.execute(f"INSERT INTO mined_late_hits SELECT {HIT_COLUMNS} FROM late_hits")  # noqa: S608 - our own column names


def _refill(connection: duckdb.DuckDBPyConnection, table: str, select: str) -> None:
    connection.execute(f"DELETE FROM {table}")  # noqa: S608 - our own table names
    connection.execute(f"INSERT INTO {table} BY NAME {select}")

"""What follows from the findings: late signals, ranks, counts and numbers by day; a run changes what changed."""

import duckdb

from ingest import daily
from ingest.mining.shortlist import CROWDED
from ingest.mining.state import IS_LATE
from ingest.signals.duckdb_engine import DuckDBSignals
from ingest.signals.engine import with_dollar_places
from ingest.signals.pipeline import Plan, late_hits
from ingest.signals.registry import stage_sql

_HITS = "line, signal, score, is_weak"

# Counted by what was found together, of which there are few kinds. Whatever is found late was flagged before.
_COUNTS_OF_RANKS = f"""
WITH kinds AS (SELECT signals, weak_signals, count(*) AS found FROM all_ranks GROUP BY ALL),
early AS (SELECT sum(bit)::BIGINT AS bits FROM weights WHERE NOT {IS_LATE})
SELECT w.signal, sum(k.found) AS flagged, coalesce(sum(k.found) FILTER (k.weak_signals & w.bit > 0), 0) AS weak
FROM kinds AS k JOIN weights AS w ON k.signals & w.bit > 0
GROUP BY w.signal
UNION ALL
SELECT '', coalesce(sum(found), 0), coalesce(sum(found) FILTER (weak_signals & bits > 0), 0) FROM kinds, early
"""  # noqa: S608 - our own names
_COUNTS = f"""
SELECT signal, count(DISTINCT line) AS flagged, count(DISTINCT line) FILTER (is_weak) AS weak
FROM {{hits}} GROUP BY signal
UNION ALL
SELECT '', count(DISTINCT line), count(DISTINCT line) FILTER (is_weak) FROM {{hits}} WHERE NOT {IS_LATE}
"""  # noqa: S608 - our own names
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
CREATE OR REPLACE TEMP TABLE needs AS
SELECT * FROM mined_needs
WHERE need IN (SELECT need FROM needs_gone UNION ALL SELECT need FROM needs_new)
"""
_LATE_GONE = f"""
INSERT INTO hits_gone
SELECT {_HITS}, rowid FROM mined_hits
WHERE {IS_LATE} AND line IN (SELECT line FROM needs UNION ALL SELECT line FROM needs_gone)
"""  # noqa: S608 - our own names
_RANKS_KNOWN = """
CREATE OR REPLACE TEMP TABLE changed_ranks AS
SELECT line, max(session) AS session, max(lot) AS lot
FROM (
    SELECT line, session, lot FROM hits
    UNION ALL
    SELECT line, session, lot FROM mined_ranks WHERE line NOT IN (SELECT line FROM hits)
)
WHERE {where}
GROUP BY line
"""
_ALL_RANKS = _RANKS_KNOWN.format(where="true")
_CHANGED_RANKS = _RANKS_KNOWN.format(where="line IN (SELECT line FROM hits_gone UNION ALL SELECT line FROM hits_new)")
_RANKED_SESSIONS = """
CREATE OR REPLACE TEMP TABLE ranked_sessions AS
SELECT session FROM changed_ranks
UNION
SELECT session FROM mined_ranks WHERE line IN (SELECT line FROM changed_ranks)
"""
_OF_THEM = "WHERE session IN (SELECT session FROM ranked_sessions)"
_FOUND = """
CREATE OR REPLACE TEMP VIEW found AS
SELECT h.*, r.session, r.lot FROM mined_hits AS h JOIN changed_ranks AS r USING (line)
"""
_FOUND_NOW = """
CREATE OR REPLACE TEMP VIEW found AS
SELECT line, session, lot, signal, score, is_weak FROM hits
UNION ALL
SELECT line, NULL, NULL, signal, score, is_weak FROM late_hits
"""


def sum_up(connection: duckdb.DuckDBPyConnection, engine: DuckDBSignals, what: Plan) -> None:
    """Keep `hits` and work out all that follows from them and from `needs`."""
    connection.execute("DELETE FROM mined_hits")
    connection.execute(f"INSERT INTO mined_hits SELECT {_HITS} FROM hits")  # noqa: S608 - our own names
    _add_late_hits(connection, engine, what)
    connection.execute(_FOUND_NOW)
    _rank_and_count(connection, engine)


def sum_up_anew(connection: duckdb.DuckDBPyConnection, engine: DuckDBSignals, what: Plan) -> None:
    """Work out all that follows from `mined_hits` and `mined_needs`, as when a part of the log is gone."""
    connection.execute(f"DELETE FROM mined_hits WHERE {IS_LATE}")  # noqa: S608 - our own names
    connection.execute("CREATE OR REPLACE TEMP TABLE needs AS SELECT * FROM mined_needs")
    _add_late_hits(connection, engine, what)
    connection.execute(_ALL_RANKS)
    connection.execute(_FOUND)
    _rank_and_count(connection, engine)


def rank_anew(connection: duckdb.DuckDBPyConnection, engine: DuckDBSignals) -> None:
    """Rank every flagged interaction, as when the weights changed."""
    connection.execute(_ALL_RANKS)
    connection.execute(_FOUND)
    connection.execute("DELETE FROM mined_ranks")
    _insert_ranks(connection, engine)


def sum_up_changes(connection: duckdb.DuckDBPyConnection, engine: DuckDBSignals, what: Plan) -> None:
    """Change what follows from `hits_gone`, `hits_new`, `needs_gone` and `needs_new`; the others stay."""
    daily.move_signals(connection, gone="hits_gone", new="hits_new")
    connection.execute(_CHANGED_NEEDS)
    connection.execute(_LATE_GONE)
    connection.execute(f"DELETE FROM mined_hits WHERE {IS_LATE} AND rowid IN (SELECT place FROM hits_gone)")  # noqa: S608 - our own names
    _add_late_hits(connection, engine, what)
    connection.execute(f"INSERT INTO hits_new SELECT {_HITS} FROM late_hits")  # noqa: S608 - our own names
    connection.execute(_MOVED_COUNTS)
    _refill(connection, "mined_counts", "SELECT * FROM counts WHERE flagged > 0")
    connection.execute(_CHANGED_RANKS)
    connection.execute(_FOUND)
    connection.execute(_RANKED_SESSIONS)
    connection.execute("DELETE FROM mined_ranks WHERE line IN (SELECT line FROM changed_ranks)")
    _insert_ranks(connection, engine)


def crowd(connection: duckdb.DuckDBPyConnection, per_session: int, *, is_all: bool) -> None:
    """Tell which of `mined_ranks` their session has too many of: of all, or those that `sum_up_changes` ranked anew.

    Leaves `ranks` and `crowded`, from which the queue is chosen.
    """
    which = "" if is_all else _OF_THEM
    connection.execute(f"DELETE FROM mined_crowded {which}")  # noqa: S608 - our own SQL
    connection.execute(f"CREATE OR REPLACE TEMP VIEW ranks AS SELECT * FROM mined_ranks {which}")  # noqa: S608 - our own SQL
    connection.execute(f"INSERT INTO mined_crowded {with_dollar_places(CROWDED)}", {"per_session": per_session})
    connection.execute("CREATE OR REPLACE TEMP VIEW ranks AS SELECT * FROM mined_ranks")
    connection.execute("CREATE OR REPLACE TEMP VIEW crowded AS SELECT line FROM mined_crowded")


def _add_late_hits(connection: duckdb.DuckDBPyConnection, engine: DuckDBSignals, what: Plan) -> None:
    """Leave in `late_hits` what is found in `needs`, and keep it."""
    engine.keep("late_hits", late_hits(what) or f"SELECT {_HITS} FROM mined_hits WHERE false", what.values)  # noqa: S608 - our own names
    connection.execute(f"INSERT INTO mined_hits SELECT {_HITS} FROM late_hits")  # noqa: S608 - our own names


def _rank_and_count(connection: duckdb.DuckDBPyConnection, engine: DuckDBSignals) -> None:
    connection.execute("DELETE FROM mined_ranks")
    _insert_ranks(connection, engine)
    _refill(connection, "mined_counts", _COUNTS_OF_RANKS)
    daily.count_found_signals(connection)
    connection.execute("DROP TABLE all_ranks")


def _insert_ranks(connection: duckdb.DuckDBPyConnection, engine: DuckDBSignals) -> None:
    """Rank what stands in `found` and leave `all_ranks`, which tells what was found together."""
    engine.keep("all_ranks", stage_sql("ranks"), {})
    connection.execute(
        "INSERT INTO mined_ranks BY NAME SELECT line, session, lot, raised, sampling_signal FROM all_ranks"
    )


def _refill(connection: duckdb.DuckDBPyConnection, table: str, select: str) -> None:
    connection.execute(f"DELETE FROM {table}")  # noqa: S608 - our own table names
    connection.execute(f"INSERT INTO {table} BY NAME {select}")

"""Keep the numbers by day in step with the interactions: called at the end of an ingest and of a mining run."""

import duckdb

from ingest.signals.registry import LATE_SIGNALS

# By arithmetic: a cast through a time zone costs ten times as much.
_DAY = "(DATE '1970-01-01' + CAST(epoch_us(asked_at) // 86400000000 AS INTEGER))"
_TABLES = ("daily_turns", "daily_latency", "daily_words")

_TOUCHED_DAYS = f"""
CREATE OR REPLACE TEMP TABLE touched_days AS
SELECT DISTINCT {_DAY} AS day FROM interactions WHERE ingest_id = $ingest_id
UNION
SELECT DISTINCT {_DAY} FROM interactions SEMI JOIN (
    SELECT DISTINCT source, session_id FROM interactions WHERE ingest_id = $ingest_id AND session_id IS NOT NULL
) AS touched USING (source, session_id)
"""  # noqa: S608 - our own expression
_ALL_DAYS = f"CREATE OR REPLACE TEMP TABLE touched_days AS SELECT DISTINCT {_DAY} AS day FROM interactions"  # noqa: S608
# Long answers would be kept in memory by the joins that read these rows.
_ROWS = f"""
CREATE OR REPLACE TEMP VIEW touched_rows AS
SELECT i.* EXCLUDE (answer), trim(i.answer) <> '' AS is_answered, d.day
FROM interactions AS i JOIN touched_days AS d ON d.day IS NOT DISTINCT FROM {_DAY}
"""  # noqa: S608 - our own expression
# The first turn of each session that has a turn on a touched day, wherever that first turn stands.
_FIRSTS = """
CREATE OR REPLACE TEMP TABLE touched_firsts AS
SELECT arg_min(interaction_id, coalesce(epoch_us(asked_at), 9223372036854775807)) AS interaction_id
FROM interactions SEMI JOIN (
    SELECT DISTINCT source, session_id FROM touched_rows WHERE session_id IS NOT NULL
) AS touched USING (source, session_id)
GROUP BY source, session_id
"""
_TURNS = """
INSERT INTO daily_turns
SELECT
    r.day, r.source, r.model, r.prompt_version,
    count(*), count(f.interaction_id),
    count(*) FILTER (r.feedback > 0), count(*) FILTER (r.feedback < 0),
    count(*) FILTER (r.error IS NOT NULL), count(*) FILTER (r.stream_cut),
    count(*) FILTER (r.is_answered),
    count(r.cost), coalesce(sum(r.cost), 0), coalesce(sum(r.cost * r.cost), 0)
FROM touched_rows AS r LEFT JOIN touched_firsts AS f USING (interaction_id)
GROUP BY ALL
"""
_LATENCY = """
INSERT INTO daily_latency
SELECT day, source, model, prompt_version,
    round(latency_ms, 2 - CAST(floor(log10(greatest(latency_ms, 1))) AS INTEGER)) AS rounded, count(*)
FROM touched_rows WHERE latency_ms >= 0 AND isfinite(latency_ms)
GROUP BY ALL
"""
# On a busy day a word must stand in more than one question in 20,000, so that the table stays small.
_WORDS = r"""
INSERT INTO daily_words
WITH words AS (
    SELECT day, source, unnest(list_distinct(regexp_extract_all(lower(question), '\p{L}{4,}'))) AS word
    FROM touched_rows
),
busy AS (SELECT day, source, count(*) AS questions FROM touched_rows GROUP BY ALL)
SELECT w.day, w.source, w.word, count(*) AS turns
FROM words AS w JOIN busy AS b ON b.day IS NOT DISTINCT FROM w.day AND b.source = w.source
GROUP BY ALL
HAVING count(*) > max(b.questions) // 20000
"""
_SIGNALS = f"""
SELECT {_DAY} AS day, i.source, i.model, i.prompt_version, h.signal, count(DISTINCT h.line) AS turns
FROM {{hits}} AS h JOIN {{turns}} AS i ON i.number = h.line
GROUP BY ALL
"""  # noqa: S608 - our own expression
# Counted by what was found together, of which there are few kinds.
_SIGNALS_OF_FOUND = f"""
WITH kinds AS (
    SELECT {_DAY} AS day, i.source, i.model, i.prompt_version, f.signals, count(*) AS turns
    FROM all_ranks AS f JOIN interactions AS i ON i.number = f.line
    GROUP BY ALL
)
SELECT k.day, k.source, k.model, k.prompt_version, w.signal, sum(k.turns) AS turns
FROM kinds AS k JOIN weights AS w ON k.signals & w.bit > 0
WHERE w.signal NOT IN ({", ".join(map(repr, LATE_SIGNALS))})
GROUP BY ALL
"""  # noqa: S608 - our own expression
_MOVED_SIGNALS = f"""
CREATE OR REPLACE TEMP TABLE moved_signals AS
SELECT day, source, model, prompt_version, signal, sum(turns)::BIGINT AS turns
FROM (
    SELECT * FROM daily_signals
    UNION ALL BY NAME
    SELECT * REPLACE (-turns AS turns) FROM ({_SIGNALS.format(hits="{gone}", turns="logs")}) AS gone
    UNION ALL BY NAME
    SELECT * FROM ({_SIGNALS.format(hits="{new}", turns="logs")}) AS new
) AS moved
GROUP BY ALL
HAVING sum(turns) > 0
"""  # noqa: S608 - our own SQL
_IN_STEP = """
SELECT kept = seen FROM
    (SELECT [coalesce(sum(interactions), 0), coalesce(sum(thumbs_up), 0), coalesce(sum(thumbs_down), 0)] AS kept
     FROM daily_turns),
    (SELECT [count(*), count(*) FILTER (feedback > 0), count(*) FILTER (feedback < 0)] AS seen FROM interactions)
"""


def update(connection: duckdb.DuckDBPyConnection, ingest_id: int) -> None:
    """Count the days again that `ingest_id` wrote to; runs inside the ingest's own transaction.

    Counts every day again when rows left a day without a trace: moved to another by a newer state, or forgotten.
    """
    connection.execute(_TOUCHED_DAYS, {"ingest_id": ingest_id})
    _count_touched_days(connection)
    if not connection.execute(_IN_STEP).fetchall()[0][0]:
        rebuild(connection)


def ensure_in_step(connection: duckdb.DuckDBPyConnection) -> None:
    """Count every day again when an ingest too large to do so itself has left that to whoever started it, or reads."""
    if not connection.execute(_IN_STEP).fetchall()[0][0]:
        connection.begin()
        rebuild(connection)
        connection.commit()


def rebuild(connection: duckdb.DuckDBPyConnection) -> None:
    """Count every day again from the interactions."""
    for table in _TABLES:
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - our own table names
    connection.execute(_ALL_DAYS)
    _count_touched_days(connection)


def count_found_signals(connection: duckdb.DuckDBPyConnection) -> None:
    """Count what was found by day from `all_ranks`, with the signals of each interaction as the bits of `weights`."""
    connection.execute("DELETE FROM daily_signals")
    connection.execute(f"INSERT INTO daily_signals {_SIGNALS_OF_FOUND}")


def move_signals(connection: duckdb.DuckDBPyConnection, *, gone: str, new: str) -> None:
    """Count what mining no longer finds and what it finds anew, two tables of hits in the interactions of `logs`."""
    connection.execute(_MOVED_SIGNALS.format(gone=gone, new=new))
    connection.execute("DELETE FROM daily_signals")
    connection.execute("INSERT INTO daily_signals BY NAME SELECT * FROM moved_signals")


def _count_touched_days(connection: duckdb.DuckDBPyConnection) -> None:
    for table in _TABLES:
        connection.execute(
            f"DELETE FROM {table} WHERE EXISTS "  # noqa: S608 - our own table names
            f"(SELECT 1 FROM touched_days AS t WHERE t.day IS NOT DISTINCT FROM {table}.day)"
        )
    connection.execute(_ROWS)
    connection.execute(_FIRSTS)
    for statement in (_TURNS, _LATENCY, _WORDS):
        connection.execute(statement)
    connection.execute("DROP VIEW touched_rows")
    for table in ("touched_days", "touched_firsts"):
        connection.execute(f"DROP TABLE {table}")

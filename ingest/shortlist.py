"""The short list: priority by weighted signals, and the best of what was flagged, at most a few of one session."""

from typing import NamedTuple

import duckdb

from ingest.settings import QueueSettings
from ingest.signals.registry import all_signals

CONTROL = "control"

FOUND = """
SELECT
    h.interaction_id,
    any_value(h.source) AS source,
    any_value(h.session_key) AS session_key,
    round(1 - exp(sum(ln(1 - least(0.999, h.score * w.weight))) FILTER (w.weight > 0)), 6) AS raised,
    first(h.signal ORDER BY h.score * w.weight DESC, h.signal) FILTER (w.weight > 0) AS sampling_signal,
    bit_or(1::BIGINT << w.place) AS signals,
    bit_or(CASE WHEN h.is_weak THEN 1::BIGINT << w.place ELSE 0 END) AS weak_signals
FROM {hits} AS h JOIN weights AS w ON w.signal = h.signal
GROUP BY h.interaction_id
"""
"""What was found in each interaction of `hits`: its rank, or NULL where only signals without a weight flagged it, and
rounded so that it does not depend on the order of the hits; which signals did, and which weakly, as bits by place."""
RANK_COLUMNS = "interaction_id, source, session_key, raised, sampling_signal"
RANKS = f"SELECT {RANK_COLUMNS} FROM ({FOUND}) AS found WHERE raised IS NOT NULL"  # noqa: S608 - our own SQL
# A part of the best suffices, as a rule: whoever stands before one of them in its session stands among them too.
_FLOOR = "SELECT coalesce(min(raised), 0) FROM (SELECT raised FROM {ranks} ORDER BY raised DESC LIMIT $reach)"
_BEST = """
CREATE OR REPLACE TEMP TABLE best AS
WITH ranked AS (
    SELECT *, row_number() OVER (PARTITION BY source, session_key ORDER BY raised DESC, interaction_id) AS place
    FROM ranks WHERE raised >= $floor
)
SELECT interaction_id, source, session_key, raised AS priority, sampling_signal, 1.0::DOUBLE AS probability
FROM ranked
WHERE place <= $per_session
ORDER BY raised DESC, interaction_id
LIMIT $limit
"""
_REACH = 4
"""How many times the limit is looked at before all are."""
_CONTROLS = """
INSERT INTO best
SELECT c.interaction_id, c.source, c.session_key, 0, 'control', c.probability
FROM mined_controls AS c ANTI JOIN all_hits AS h ON h.interaction_id = c.interaction_id
"""


class Shortlist(NamedTuple):
    """How many flagged interactions and how many controls stand in the table `best`."""

    kept: int
    controls: int


def set_weights(connection: duckdb.DuckDBPyConnection, queue: QueueSettings) -> None:
    """Leave the table `weights`, which ranks are reckoned with."""
    connection.execute("CREATE OR REPLACE TEMP TABLE weights (signal VARCHAR, weight DOUBLE, place INTEGER)")
    connection.executemany(
        "INSERT INTO weights VALUES (?, ?, ?)",
        [[signal.name, queue.weight(signal.name), place] for place, signal in enumerate(all_signals())],
    )


def shortlist(connection: duckdb.DuckDBPyConnection, queue: QueueSettings, *, lower_bound: str = "ranks") -> Shortlist:
    """Leave the table `best` from `ranks`: the highest priorities, at most `per_session` a session, and controls.

    `lower_bound` is a table with as many ranks, none of them above that in `ranks`, which is quicker to look through.
    """
    reach = queue.limit * _REACH
    ((floor,),) = connection.execute(_FLOOR.format(ranks=lower_bound), {"reach": reach}).fetchall()
    kept = _keep_best(connection, queue, floor)
    if kept < queue.limit and _count(connection, "SELECT count(*) FROM ranks") > reach:
        kept = _keep_best(connection, queue, 0.0)
    connection.execute(_CONTROLS)
    return Shortlist(kept, _count(connection, "SELECT count(*) FROM best") - kept)


def _keep_best(connection: duckdb.DuckDBPyConnection, queue: QueueSettings, floor: float) -> int:
    connection.execute(_BEST, {"per_session": queue.per_session, "limit": queue.limit, "floor": floor})
    return _count(connection, "SELECT count(*) FROM best")


def _count(connection: duckdb.DuckDBPyConnection, query: str) -> int:
    (row,) = connection.execute(query).fetchall()
    return int(row[0])

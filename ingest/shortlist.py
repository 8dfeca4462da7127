"""The short list: priority by weighted signals, and the best of what was flagged, at most a few of one session."""

from typing import NamedTuple

import duckdb

from ingest.settings import QueueSettings
from ingest.signals.registry import all_signals

CONTROL = "control"

RANKS = """
SELECT
    h.interaction_id,
    any_value(h.source) AS source,
    any_value(h.session_key) AS session_key,
    round(1 - exp(sum(ln(1 - least(0.999, h.score * w.weight)))), 6) AS raised,
    first(h.signal ORDER BY h.score * w.weight DESC, h.signal) AS sampling_signal
FROM {hits} AS h JOIN weights AS w ON w.signal = h.signal
WHERE w.weight > 0
GROUP BY h.interaction_id
"""
"""The rank of each interaction in `hits`: rounded, so that it does not depend on the order of the hits."""
# A part of the best suffices, as a rule: whoever stands before one of them in its session stands among them too.
_BEST = """
CREATE OR REPLACE TEMP TABLE best AS
WITH floor AS (
    SELECT coalesce(min(raised), 0) AS raised FROM (SELECT raised FROM ranks ORDER BY raised DESC LIMIT $reach)
),
top AS (SELECT r.* FROM ranks AS r, floor AS f WHERE r.raised >= f.raised),
ranked AS (
    SELECT *, row_number() OVER (PARTITION BY source, session_key ORDER BY raised DESC, interaction_id) AS place
    FROM top
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
    connection.execute("CREATE OR REPLACE TEMP TABLE weights (signal VARCHAR, weight DOUBLE)")
    connection.executemany(
        "INSERT INTO weights VALUES (?, ?)", [[signal.name, queue.weight(signal.name)] for signal in all_signals()]
    )


def shortlist(connection: duckdb.DuckDBPyConnection, queue: QueueSettings) -> Shortlist:
    """Leave the table `best` from `ranks`: the highest priorities, at most `per_session` a session, and controls."""
    reach = queue.limit * _REACH
    kept = _keep_best(connection, queue, reach)
    if kept < queue.limit and (ranked := _count(connection, "SELECT count(*) FROM ranks")) > reach:
        kept = _keep_best(connection, queue, ranked)
    connection.execute(_CONTROLS)
    return Shortlist(kept, _count(connection, "SELECT count(*) FROM best") - kept)


def _keep_best(connection: duckdb.DuckDBPyConnection, queue: QueueSettings, reach: int) -> int:
    connection.execute(_BEST, {"per_session": queue.per_session, "limit": queue.limit, "reach": reach})
    return _count(connection, "SELECT count(*) FROM best")


def _count(connection: duckdb.DuckDBPyConnection, query: str) -> int:
    (row,) = connection.execute(query).fetchall()
    return int(row[0])

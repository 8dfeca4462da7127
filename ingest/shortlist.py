"""The short list: priority by weighted signals, and the best of what was flagged, at most a few of one session."""

from typing import NamedTuple

import duckdb

from ingest.settings import QueueSettings
from ingest.signals.registry import all_signals

CONTROL = "control"

_BEST = """
CREATE OR REPLACE TEMP TABLE best AS
WITH weighed AS (
    SELECT
        h.interaction_id,
        any_value(h.source) AS source,
        any_value(h.session_key) AS session_key,
        1 - exp(sum(ln(1 - least(0.999, h.score * w.weight)))) AS raised,
        first(h.signal ORDER BY h.score * w.weight DESC, h.signal) AS sampling_signal
    FROM all_hits AS h JOIN weights AS w ON w.signal = h.signal
    WHERE w.weight > 0
    GROUP BY h.interaction_id
),
ranked AS (
    SELECT *, row_number() OVER (PARTITION BY source, session_key ORDER BY raised DESC, interaction_id) AS place
    FROM weighed
)
SELECT interaction_id, source, session_key, round(raised, 6) AS priority, sampling_signal,
    1.0::DOUBLE AS probability
FROM ranked
WHERE place <= $per_session
ORDER BY raised DESC, interaction_id
LIMIT $limit
"""
_CONTROLS = """
INSERT INTO best
SELECT c.interaction_id, c.source, c.session_key, 0, 'control', c.probability
FROM mined_controls AS c ANTI JOIN all_hits AS h ON h.interaction_id = c.interaction_id
"""


class Shortlist(NamedTuple):
    """How many interactions were flagged, and how many of them and of the controls stand in the table `best`."""

    flagged: int
    kept: int
    controls: int


def shortlist(connection: duckdb.DuckDBPyConnection, queue: QueueSettings) -> Shortlist:
    """Leave the table `best` from `all_hits`: the highest priorities, at most `per_session` a session, and controls."""
    connection.execute("CREATE OR REPLACE TEMP TABLE weights (signal VARCHAR, weight DOUBLE)")
    connection.executemany(
        "INSERT INTO weights VALUES (?, ?)", [[signal.name, queue.weight(signal.name)] for signal in all_signals()]
    )
    connection.execute(_BEST, {"per_session": queue.per_session, "limit": queue.limit})
    kept = _count(connection, "SELECT count(*) FROM best")
    connection.execute(_CONTROLS)
    flagged = _count(connection, "SELECT count(DISTINCT interaction_id) FROM all_hits")
    return Shortlist(flagged, kept, _count(connection, "SELECT count(*) FROM best") - kept)


def _count(connection: duckdb.DuckDBPyConnection, query: str) -> int:
    (row,) = connection.execute(query).fetchall()
    return int(row[0])

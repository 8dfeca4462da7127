"""What the signals say of the interactions of the queue: worked out for these alone, and kept while they stay in it."""

import duckdb

from ingest.mining.changed_logs import choose_logs_again
from ingest.signals.duckdb_engine import DuckDBSignals
from ingest.signals.pipeline import WHAT_IS_SAID, WHERE_FOUND, Plan, find_stages, what_is_said
from ingest.signals.registry import STAGES

_COLUMNS = f"{WHERE_FOUND}, {WHAT_IS_SAID}"
_UNSAID = """
CREATE OR REPLACE TEMP TABLE unsaid AS
SELECT line FROM chosen WHERE line NOT IN (SELECT line FROM mined_said) {where}
"""
# A dozen signals read the same tables, so these are narrowed first.
_FEW = """
WITH turns AS MATERIALIZED (
    SELECT * FROM temp.turns WHERE line IN (SELECT line FROM unsaid) OR next_line IN (SELECT line FROM unsaid)
),
returns AS MATERIALIZED (SELECT * FROM temp.returns WHERE line IN (SELECT line FROM unsaid)),
support AS MATERIALIZED (SELECT * FROM temp.support WHERE line IN (SELECT line FROM unsaid))
"""
_FORGET = """
DELETE FROM mined_said
WHERE line NOT IN (SELECT line FROM chosen) OR line IN (SELECT line FROM logs WHERE is_settled)
"""
# Read again, a part of the log may seem to hold more than was found in all of it: what a script asks, for one.
_KEEP = f"""
INSERT INTO mined_said BY NAME
SELECT {_COLUMNS} FROM said SEMI JOIN mined_hits USING (line, signal)
"""  # noqa: S608 - our own column names
_NEEDS = """
CREATE OR REPLACE TEMP TABLE needs AS
SELECT * FROM mined_needs WHERE need IN (SELECT need FROM mined_needs WHERE line IN (SELECT line FROM chosen))
"""
_BEST = """
CREATE OR REPLACE TEMP TABLE best AS
SELECT line, any_value(interaction_id) AS interaction_id, any_value(source) AS source,
    any_value(session_key) AS session_key, any_value(priority) AS priority,
    any_value(sampling_signal) AS sampling_signal, any_value(probability) AS probability
FROM chosen JOIN mined_said USING (line) GROUP BY line
UNION ALL
SELECT line, interaction_id, source, session_key, 0, 'control', probability FROM mined_controls
"""


def say(connection: duckdb.DuckDBPyConnection, engine: DuckDBSignals, what: Plan, *, is_incremental: bool) -> None:
    """Leave `best`, the interactions in `chosen` and the controls, and `best_hits`, what is said of them.

    What is not kept is told by the stages of this run, which hold all that changed; what came into the queue though it
    did not change, as when another left, is read again with its sessions.
    """
    if is_incremental:
        connection.execute(_FORGET)
        _add(connection, engine, what, where="AND line IN (SELECT line FROM logs WHERE is_settled)")
        _read_again(connection, engine, what)
    else:
        _add(connection, engine, what, where="")
    _say_late(connection, engine, what)
    connection.execute(_BEST)


def _add(connection: duckdb.DuckDBPyConnection, engine: DuckDBSignals, what: Plan, *, where: str) -> int:
    connection.execute(_UNSAID.format(where=where))
    ((count,),) = connection.execute("SELECT count(*) FROM unsaid").fetchall()
    if count:
        engine.keep("said", f"{_FEW}{what_is_said(what.early, 'unsaid')}", what.values)
        connection.execute(_KEEP)
    return int(count)


def _read_again(connection: duckdb.DuckDBPyConnection, engine: DuckDBSignals, what: Plan) -> None:
    """Say what is still unsaid by its sessions; their answers are compared whatever the share is by now."""
    connection.execute(_UNSAID.format(where=""))
    if not connection.execute("SELECT count(*) FROM unsaid").fetchall()[0][0]:
        return
    choose_logs_again(connection, what.values, "unsaid")
    again = what._replace(values={**what.values, "support_below": "g", "sample_below": "g"})
    find_stages(engine, again, [stage for stage in STAGES if stage != "baselines"])
    _add(connection, engine, again, where="")


def _say_late(connection: duckdb.DuckDBPyConnection, engine: DuckDBSignals, what: Plan) -> None:
    said = f"SELECT line, {WHAT_IS_SAID} FROM mined_said SEMI JOIN chosen USING (line)"  # noqa: S608 - our own column names
    connection.execute(_NEEDS)
    if what.late:
        engine.keep("said_late", what_is_said(what.late, "chosen"), what.values)
        said = f"{said} UNION ALL BY NAME SELECT * FROM said_late"  # noqa: S608 - our own column names
    connection.execute(f"CREATE OR REPLACE TEMP VIEW best_hits AS {said}")

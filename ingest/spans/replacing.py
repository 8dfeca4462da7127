"""Takes back the interactions of traces that are put together anew, where the new ones do not simply replace them."""

import duckdb
import pyarrow as pa

from ingest.ingest_report import InteractionCounts
from ingest.mining.state import delete_findings

# A trace may turn out to be no interaction, or another, when the rest of it comes.
_GONE = """
CREATE OR REPLACE TEMP TABLE taken_back AS
SELECT interaction_id FROM (SELECT DISTINCT unnest(made) AS interaction_id FROM made_before)
ANTI JOIN (SELECT DISTINCT unnest(made) AS interaction_id FROM made_now) USING (interaction_id)
"""
# What this ingest itself made of a part of the trace was counted as new, and will be again.
_OF_THIS_INGEST = """
SELECT count(*) FROM interactions
WHERE ingest_id = $ingest_id AND interaction_id IN (SELECT DISTINCT unnest(made) FROM made_before)
"""
_ALSO_GONE = """
INSERT INTO taken_back
SELECT interaction_id FROM interactions
WHERE ingest_id = $ingest_id AND interaction_id IN (SELECT DISTINCT unnest(made) FROM made_before)
    AND interaction_id NOT IN (SELECT interaction_id FROM taken_back)
"""
# The names a turn goes by are found anew with it.
_OLD_ALIASES = """
DELETE FROM interaction_aliases WHERE interaction_id IN (SELECT DISTINCT unnest(made) FROM made_before)
"""
_LEAVING = """
CREATE OR REPLACE TEMP TABLE leaving_numbers AS
SELECT number AS line FROM interactions WHERE interaction_id IN (SELECT interaction_id FROM {leaving})
"""


def delete_interactions(connection: duckdb.DuckDBPyConnection, leaving: str) -> None:
    """Delete the interactions whose ids stand in the table `leaving`, what was retrieved for them and found in them."""
    connection.execute(_LEAVING.format(leaving=leaving))
    delete_findings(connection, "leaving_numbers")
    for table in ("retrieved_passages", "interactions"):
        connection.execute(f"DELETE FROM {table} WHERE number IN (SELECT line FROM leaving_numbers)")  # noqa: S608 - our names
    connection.execute("DROP TABLE leaving_numbers")


def take_back(
    connection: duckdb.DuckDBPyConnection, before: pa.Table, now: pa.Table, *, ingest_id: int
) -> InteractionCounts:
    """Delete what was made of traces and is not made any more; return what that does to the counts of this ingest.

    `before` and `now` have a list column `made` of interaction ids; `before` may hold traces that `now` leaves out,
    which did not change.
    """
    unchanged = _keys(before).difference(_keys(now))
    before = before.filter(pa.array([key not in unchanged for key in _key_list(before)], pa.bool_()))
    connection.register("made_before", before.select(["made"]))
    connection.register("made_now", now.select(["made"]))
    try:
        connection.execute(_GONE)
        counted = int(connection.execute(_OF_THIS_INGEST, {"ingest_id": ingest_id}).fetchall()[0][0])
        if counted:
            connection.execute(_ALSO_GONE, {"ingest_id": ingest_id})
        connection.execute(_OLD_ALIASES)
        delete_interactions(connection, "taken_back")
    finally:
        connection.unregister("made_before")
        connection.unregister("made_now")
    return InteractionCounts(new=-counted)


def let_older_replace(connection: duckdb.DuckDBPyConnection, made: pa.Table) -> None:
    """Let the interactions `made` replace those there are also where they end earlier.

    A turn of a session logged as one trace ends before the trace does, of which it was the only turn before.
    """
    connection.register("made_anew", made.select(["interaction_id", "version_ns"]))
    try:
        connection.execute(
            "UPDATE interactions AS i SET version_ns = m.version_ns FROM made_anew AS m "
            "WHERE i.interaction_id = m.interaction_id AND i.version_ns > m.version_ns"
        )
    finally:
        connection.unregister("made_anew")


def _key_list(table: pa.Table) -> list[tuple[str, str]]:
    return list(zip(table.column("family").to_pylist(), table.column("trace_id").to_pylist(), strict=True))


def _keys(table: pa.Table) -> set[tuple[str, str]]:
    return set(_key_list(table))

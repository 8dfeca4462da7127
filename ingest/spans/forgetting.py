"""Finds and deletes the stored spans of what is to be forgotten."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ingest.spans.packs import dissolve_packs

if TYPE_CHECKING:
    import duckdb


def traces_of_user(connection: "duckdb.DuckDBPyConnection", names: Sequence[str]) -> set[str]:
    """Return the ids of the traces in which a user called one of `names` takes part."""
    return _ids(connection, "list_has_any(user_ids, ?)", list(names))


def traces_before(connection: "duckdb.DuckDBPyConnection", end_ns: int) -> set[str]:
    """Return the ids of the traces whose last span began before `end_ns`."""
    return _ids(connection, "last_ns BETWEEN 1 AND ? - 1", end_ns)


def _ids(connection: "duckdb.DuckDBPyConnection", condition: str, value: object) -> set[str]:
    query = " UNION ".join(f"SELECT trace_id FROM {table} WHERE {condition}" for table in _TABLES)  # noqa: S608
    return {row[0] for row in connection.execute(query, [value] * len(_TABLES)).fetchall()}


_TABLES = ("traces", "trace_parts")
_SOME_STAY = """
trace_id IN (SELECT unnest(?))
AND pack IN (SELECT pack FROM traces WHERE pack IS NOT NULL AND trace_id NOT IN (SELECT unnest(?)))
"""


def forget_traces(connection: "duckdb.DuckDBPyConnection", trace_ids: Iterable[str]) -> int:
    """Delete every staged span of `trace_ids`; return how many spans went."""
    wanted = sorted(set(trace_ids))
    dissolve_packs(connection, _SOME_STAY, [wanted, wanted])
    gone = 0
    for table in _TABLES:
        rows = connection.execute(
            f"DELETE FROM {table} WHERE trace_id IN (SELECT unnest(?)) RETURNING spans",  # noqa: S608 - our names
            [wanted],
        ).fetchall()
        gone += sum(spans for (spans,) in rows)
    return gone

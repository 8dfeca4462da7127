"""The signals on DuckDB: the common SQL, with what DuckDB calls otherwise as macros."""

from collections.abc import Mapping
from itertools import count
from typing import Any

import duckdb
from duckdb.func import FunctionNullHandling, PythonUDFType

from ingest.signals.columns import SignalColumns
from ingest.signals.engine import Value, bound_values, with_dollar_places

_MACROS = """
CREATE OR REPLACE TEMP MACRO size(list) AS len(list);
CREATE OR REPLACE TEMP MACRO array_join(list, separator) AS array_to_string(list, separator);
CREATE OR REPLACE TEMP MACRO unix_micros(moment) AS epoch_us(moment);
CREATE OR REPLACE TEMP MACRO regexp_like(text, pattern) AS regexp_matches(text, pattern);
CREATE OR REPLACE TEMP MACRO session_number(source, session) AS hash(source, session);
CREATE OR REPLACE TEMP MACRO first_letters(text, most) AS
    CASE WHEN strlen(text) <= most THEN text ELSE substr(text, 1, most) END;
"""
_ARROW, _SPECIAL = PythonUDFType.ARROW, FunctionNullHandling.SPECIAL
_SUPPORT = duckdb.struct_type({"share": duckdb.sqltype("DOUBLE"), "figure": duckdb.sqltype("VARCHAR")})
_PAIR = duckdb.struct_type({"kind": duckdb.sqltype("VARCHAR"), "score": duckdb.sqltype("DOUBLE")})


class DuckDBSignals:
    """A SignalEngine over one connection; what it keeps are temporary tables of that connection."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        columns: SignalColumns,
    ) -> None:
        """Make the functions of `columns` known to the SQL of this connection."""
        self._connection = connection
        connection.execute(_MACROS)
        _register(connection, columns)

    def keep(self, name: str, select: str, values: Mapping[str, Value]) -> None:
        """Run `select` and keep its rows as the temporary table `name`."""
        self._connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {name} AS\n{with_dollar_places(select)}",
            bound_values(select, values),
        )

    def rows(self, select: str) -> list[tuple[Any, ...]]:
        """Return the rows of `select`."""
        return self._connection.execute(with_dollar_places(select)).fetchall()


_numbers = count()


def _register(connection: duckdb.DuckDBPyConnection, columns: SignalColumns) -> None:
    """Make the functions known to this connection alone.

    DuckDB keeps a Python function for every connection of an open file, and one that outlives its connection is gone
    when it is called. So each gets a name of its own, which the SQL reaches through a macro of this connection.
    """
    text = duckdb.sqltype("VARCHAR")
    functions = (
        ("rephrase", "earlier, later", columns.rephrase, [text, text], _PAIR),
        ("supported", "answer, texts", columns.supported, [text, duckdb.list_type(text)], _SUPPORT),
        ("declining", "answer", columns.declining, [text], text),
        ("first_look", "question, answer", columns.first_look, [text, text], duckdb.sqltype("TINYINT")),
    )
    number = next(_numbers)
    for name, given, function, types, returned in functions:
        own = f"{name}_{number}"
        # Said to have side effects, lest a filter on the result works it out twice.
        connection.create_function(
            own, function, [*types], returned, type=_ARROW, null_handling=_SPECIAL, side_effects=True
        )
        connection.execute(f"CREATE OR REPLACE TEMP MACRO {name}({given}) AS {own}({given})")

"""The signals on DuckDB: the common SQL, with what DuckDB calls otherwise as macros."""

from collections.abc import Mapping

import duckdb
import pyarrow as pa
from duckdb.func import FunctionNullHandling, PythonUDFType

from ingest.settings import SignalSettings
from ingest.signals.declining import decline_kinds
from ingest.signals.engine import Value, bound_values, with_dollar_places
from ingest.signals.rephrasing import similarity_verdicts
from ingest.signals.support import answer_support

_MACROS = """
CREATE OR REPLACE TEMP MACRO size(list) AS len(list);
CREATE OR REPLACE TEMP MACRO array_join(list, separator) AS array_to_string(list, separator);
CREATE OR REPLACE TEMP MACRO unix_micros(moment) AS epoch_us(moment);
CREATE OR REPLACE TEMP MACRO regexp_like(text, pattern) AS regexp_matches(text, pattern);
"""
_ARROW, _SPECIAL = PythonUDFType.ARROW, FunctionNullHandling.SPECIAL
_SUPPORT = duckdb.struct_type({"share": duckdb.sqltype("DOUBLE"), "figure": duckdb.sqltype("VARCHAR")})
_PAIR = duckdb.struct_type({"kind": duckdb.sqltype("VARCHAR"), "score": duckdb.sqltype("DOUBLE")})


class DuckDBSignals:
    """A SignalEngine over one connection; what it keeps are temporary tables of that connection."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, settings: SignalSettings) -> None:
        self._connection = connection
        connection.execute(_MACROS)
        _register(connection, settings)

    def keep(self, name: str, select: str, values: Mapping[str, Value]) -> None:
        """Run `select` and keep its rows as the temporary table `name`."""
        self._connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {name} AS\n{with_dollar_places(select)}",
            bound_values(select, values),
        )


def _register(connection: duckdb.DuckDBPyConnection, settings: SignalSettings) -> None:
    def rephrase(earlier: pa.ChunkedArray, later: pa.ChunkedArray) -> pa.Array:
        verdicts = similarity_verdicts(
            earlier.to_pylist(),
            later.to_pylist(),
            embeddings=settings.embeddings,
            strictness=settings.rephrase_strictness,
        )
        return pa.StructArray.from_arrays(
            [
                pa.array([verdict and verdict.kind for verdict in verdicts], pa.string()),
                pa.array([verdict and verdict.score for verdict in verdicts], pa.float64()),
            ],
            names=["kind", "score"],
        )

    def declining(answers: pa.ChunkedArray) -> pa.Array:
        return pa.array(decline_kinds(answers.to_pylist()), pa.string())

    def supported(answers: pa.ChunkedArray, texts: pa.ChunkedArray) -> pa.Array:
        supports = answer_support(answers.to_pylist(), texts.to_pylist())
        return pa.StructArray.from_arrays(
            [
                pa.array([support and support.share for support in supports], pa.float64()),
                pa.array([support and support.figure for support in supports], pa.string()),
            ],
            names=["share", "figure"],
        )

    text = duckdb.sqltype("VARCHAR")
    connection.create_function("supported", supported, [text, text], _SUPPORT, type=_ARROW, null_handling=_SPECIAL)
    connection.create_function("rephrase", rephrase, [text, text], _PAIR, type=_ARROW, null_handling=_SPECIAL)
    connection.create_function("declining", declining, [text], text, type=_ARROW, null_handling=_SPECIAL)

"""Numbers the passages that interactions retrieved: the store keeps each once, however often it was retrieved."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Numbers = Any
"""A numpy array of int64."""
_COLUMNS = ["chunk_id", "doc_id", "text_hash", "stage", "id_origin"]
_LISTED = ", ".join(_COLUMNS)
_MOST_CODES = 1 << 62
_KEYS = f"SELECT hash({_LISTED}) AS key FROM met_passages"  # noqa: S608 - our own column names
_DIGEST = f"md5_number(CAST(to_json([{_LISTED}]) AS VARCHAR))"
_KNOWN = f"""
SELECT place, p.passage
FROM (SELECT place, {_DIGEST} AS digest FROM met_passages) JOIN passages AS p USING (digest)
"""  # noqa: S608 - our own column names
_INSERT = f"INSERT INTO passages SELECT passage, {_DIGEST}, {_LISTED} FROM met_passages"  # noqa: S608 - our own column names


def number_passages(connection: duckdb.DuckDBPyConnection, links: pa.Table) -> Numbers:
    """Return the number of the passage of each link, in order, after storing those that are new.

    `links` has the columns of a passage; call it inside a transaction.
    """
    batches = links.select(_COLUMNS).to_batches()
    found = [_each_once(_codes(batch)) for batch in batches]
    met = [batch.take(pa.array(once.firsts)) for batch, once in zip(batches, found, strict=True)]
    keys = _read(connection, pa.Table.from_batches(met), _KEYS)["key"]
    once = _each_once(keys)
    numbers = _stored(connection, _picked(met, once.firsts))[once.places]
    ends = np.cumsum([len(each.firsts) for each in found])
    return np.concatenate([numbers[end - len(e.firsts) : end][e.places] for e, end in zip(found, ends, strict=True)])


class _Once(NamedTuple):
    """Distinct entries of an array: where each stands first, and for every entry which of them it is."""

    firsts: Numbers
    places: Numbers


def _each_once(entries: Numbers) -> _Once:
    places = pa.array(entries).dictionary_encode().indices.to_numpy()
    firsts = np.empty(int(places.max()) + 1 if len(places) else 0, np.int64)
    firsts[places[::-1]] = np.arange(len(places) - 1, -1, -1)
    return _Once(firsts, places)


def _picked(batches: Sequence[pa.RecordBatch], rows: Numbers) -> pa.Table:
    """Return ascending rows of several batches, as plain texts."""
    parts, first = [], 0
    for batch in batches:
        own = rows[(rows >= first) & (rows < first + batch.num_rows)] - first
        columns = [column.take(pa.array(own)).cast(pa.string()) for column in batch.columns]
        parts.append(pa.table(columns, names=_COLUMNS))
        first += batch.num_rows
    return pa.concat_tables(parts)


def _codes(batch: pa.RecordBatch) -> Numbers:
    """Return a number for each row that tells apart the passages of a batch."""
    codes, many = np.zeros(batch.num_rows, np.int64), 1
    for column in batch.columns:
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        size = len(encoded.dictionary) + 1
        if many * size > _MOST_CODES:
            codes, many = np.unique(codes, return_inverse=True)[1], batch.num_rows
        codes, many = codes * size + pc.fill_null(encoded.indices, size - 1).to_numpy(), many * size
    return codes


def _stored(connection: duckdb.DuckDBPyConnection, passages: pa.Table) -> Numbers:
    """Return the numbers of distinct passages, after storing those that are new."""
    [(last,)] = connection.execute("SELECT coalesce(max(passage), 0) FROM passages").fetchall()
    known = _read(connection, passages.append_column("place", pa.array(np.arange(passages.num_rows))), _KNOWN)
    numbers = np.zeros(passages.num_rows, np.int64)
    numbers[known["place"]] = known["passage"]
    new = np.flatnonzero(numbers == 0)
    numbers[new] = last + 1 + np.arange(len(new))
    if len(new):
        table = passages.take(pa.array(new)).append_column("passage", pa.array(numbers[new]))
        _read(connection, table, _INSERT)
    return numbers


def _read(connection: duckdb.DuckDBPyConnection, passages: pa.Table, query: str) -> dict[str, Numbers]:
    connection.register("met_passages", passages)
    try:
        return connection.execute(query).fetchnumpy()
    finally:
        connection.unregister("met_passages")

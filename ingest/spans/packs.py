"""Packs the spans of traces that came side by side together, and takes them apart again."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from ingest.spans.rows import packed, packed_together, unpacked

if TYPE_CHECKING:
    import duckdb

_IN_A_PACK = 64
"""More would hardly take less room, and all of them are unpacked to take one out."""
PACKED_COLUMNS = [
    ("payload", pa.binary()),
    ("pack", pa.int64()),
    ("place", pa.int32()),
    ("size", pa.int32()),
    ("digest", pa.uint64()),
]
_SCHEMA = pa.schema(PACKED_COLUMNS)
_DISSOLVED_AT_ONCE = 256

_MEMBERS = """
SELECT pack, any_value(payload) FILTER (place = 0), list((place, size)) FROM traces
WHERE pack IN (SELECT unnest(?)) GROUP BY pack
"""
_TAKE_OUT = """
UPDATE traces AS t SET payload = l.payload, pack = NULL, place = NULL, size = NULL
FROM loosened AS l WHERE t.pack = l.pack AND t.place = l.place
"""


def packed_columns(texts: Sequence[bytes | memoryview]) -> list[pa.Array]:
    """Return PACKED_COLUMNS of traces from the JSON texts of their spans; packs are numbered from 0 on.

    The first trace of a pack has all of it as its payload, the others nothing.
    """
    payloads: list[bytes] = []
    packs: list[int] = []
    places: list[int] = []
    for number, together in enumerate(_in_parts(texts, _IN_A_PACK)):
        payloads += packed_together(b"".join(together)), *[b""] * (len(together) - 1)
        packs += [number] * len(together)
        places += accumulate(map(len, together[:-1]), initial=0)
    digests = list(map(xxhash.xxh3_64_intdigest, texts))
    listed = (payloads, packs, places, list(map(len, texts)), digests)
    return [pa.array(values, field.type) for values, field in zip(listed, _SCHEMA, strict=True)]


def payload_columns(payloads: Sequence[bytes]) -> list[pa.Array]:
    """Return PACKED_COLUMNS of traces with payloads of their own."""
    nothing = (pa.nulls(len(payloads), field.type) for field in list(_SCHEMA)[1:])
    return [pa.array(payloads, pa.binary()), *nothing]


def loosened(rows: pa.Table) -> pa.Table:
    """Give each trace of packs that are whole in `rows` a payload of its own."""
    listed = [rows.column(name).to_pylist() for name in ("payload", "place", "size")]
    text = b""
    payloads = []
    for payload, place, size in zip(*listed, strict=True):
        if place is None:
            payloads.append(payload)
            continue
        if place == 0:
            text = unpacked(payload)
        payloads.append(packed(text[place : place + size]))
    names = rows.column_names
    for field, column in zip(_SCHEMA, payload_columns(payloads)[:4], strict=False):
        rows = rows.set_column(names.index(field.name), field, column)
    return rows


def split_at(rows: pa.Table, at: int) -> tuple[pa.Table, pa.Table]:
    """Return the first `at` traces, and the others; those of a pack that stands in both have payloads of their own."""
    packs = rows.column("pack")
    torn = pc.equal(packs, packs[at]).fill_null(fill_value=False)
    if packs[at].as_py() == packs[at - 1].as_py() and pc.any(torn).as_py():
        first = pc.index(torn, value=True).as_py()
        size = pc.sum(torn).as_py()
        parts = rows.slice(0, first), loosened(rows.slice(first, size)), rows.slice(first + size)
        rows = pa.concat_tables(parts)
    return rows.slice(0, at), rows.slice(at)


def dissolve_packs(connection: "duckdb.DuckDBPyConnection", condition: str, values: Sequence[object] = ()) -> None:
    """Give every trace that shares a pack with one of the traces of which `condition` holds a payload of its own.

    Call it before any of these is replaced or deleted: a pack holds the spans of its traces and of no others.
    """
    query = f"SELECT DISTINCT pack FROM traces WHERE pack IS NOT NULL AND ({condition}) ORDER BY pack"  # noqa: S608 - our own conditions
    packs = [row[0] for row in connection.execute(query, list(values)).fetchall()]
    for some in _in_parts(packs, _DISSOLVED_AT_ONCE):
        _dissolve(connection, some)


def _dissolve(connection: "duckdb.DuckDBPyConnection", packs: Sequence[int]) -> None:
    members = connection.execute(_MEMBERS, [list(packs)]).fetchall()
    columns = zip(*_taken_out(members), strict=True)
    kinds = (pa.int64(), pa.int32(), pa.binary())
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    connection.register("loosened", pa.Table.from_arrays(arrays, names=["pack", "place", "payload"]))
    try:
        connection.execute(_TAKE_OUT)
    finally:
        connection.unregister("loosened")


def _taken_out(members: Iterable[tuple[int, bytes, list[tuple[int, int]]]]) -> Iterator[tuple[int, int, bytes]]:
    for pack, content, listed in members:
        text = unpacked(content)
        for place, size in listed:
            yield pack, place, packed(text[place : place + size])


_Listed = TypeVar("_Listed")


def _in_parts(listed: Sequence[_Listed], size: int) -> Iterator[Sequence[_Listed]]:
    return (listed[first : first + size] for first in range(0, len(listed), size))

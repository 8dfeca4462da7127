"""Traces that came side by side share a pack, which holds their spans and no others."""

import tempfile
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from ingest.adapters.base import Span
from ingest.log_store import LogStore
from ingest.spans.forgetting import forget_traces
from ingest.spans.packs import dissolve_packs, loosened, packed_columns, split_at
from ingest.spans.rows import read_spans, unpacked
from ingest.spans.staging import (
    TRACE_SCHEMA,
    ArrivingTraces,
    iter_waiting,
    take_traces,
    trace_row,
    trace_table,
)

NAMES = [f"{number:03}" for number in range(150)]


@pytest.fixture
def connection(tmp_path: Path) -> Any:
    with LogStore(tmp_path / "logs.duckdb").unit() as opened:
        yield opened


def rows_of(names: list[str], version: int = 1) -> pa.Table:
    """Return traces of one span each, with payloads of their own."""
    spans = {name: Span(name, "1", {"answer": f"said in {name}, state {version}"}, version, version) for name in names}
    return trace_table([trace_row(name, [span], "otlp", [f"trace:{name}"]) for name, span in spans.items()])


def side_by_side(names: list[str], version: int = 1) -> pa.Table:
    """Return the same traces in packs."""
    rows = rows_of(names, version)
    texts = [unpacked(payload) for payload in rows.column("payload").to_pylist()]
    return pa.Table.from_arrays([*rows.columns[:5], *packed_columns(texts)], schema=TRACE_SCHEMA)


def arrive(connection: duckdb.DuckDBPyConnection, *blocks: pa.Table) -> None:
    arriving = ArrivingTraces(Path(tempfile.gettempdir()))
    for block in blocks:
        arriving.add("trace", block)
    take_traces(connection, arriving, ingest_id=1)


def sizes(connection: duckdb.DuckDBPyConnection) -> tuple[int, int, int]:
    """Return how many packs there are, how many traces are in one, and how many parts wait."""
    query = "SELECT count(DISTINCT pack), count(pack), (SELECT count(*) FROM trace_parts) FROM traces"
    packs, packed, waiting = connection.execute(query).fetchall()[0]
    return packs, packed, waiting


def stored(connection: duckdb.DuckDBPyConnection) -> dict[str, bytes]:
    """Return the payload of each trace, once no pack is left."""
    dissolve_packs(connection, "true")
    assert sizes(connection)[:2] == (0, 0)
    return dict(connection.execute("SELECT trace_id, payload FROM traces ORDER BY trace_id").fetchall())


def payloads(rows: pa.Table) -> dict[str, bytes]:
    return dict(zip(rows.column("trace_id").to_pylist(), rows.column("payload").to_pylist(), strict=True))


def all_text(connection: duckdb.DuckDBPyConnection) -> bytes:
    rows = connection.execute("SELECT payload FROM traces").fetchall()
    return b"".join(unpacked(payload) for (payload,) in rows)


def test_traces_out_of_a_pack_have_the_payloads_they_have_alone() -> None:
    assert loosened(side_by_side(NAMES)).select(["trace_id", "payload"]) == rows_of(NAMES).select(
        ["trace_id", "payload"]
    )


@pytest.mark.parametrize("at", [1, 63, 64, 65, 128, 149])
def test_traces_that_are_split_anywhere_keep_their_payloads(at: int) -> None:
    parts = split_at(side_by_side(NAMES), at)
    assert [part.num_rows for part in parts] == [at, 150 - at]
    whole = pa.concat_tables([loosened(part) for part in parts])
    assert payloads(whole) == payloads(rows_of(NAMES))


def test_packs_of_several_blocks_are_told_apart(connection: duckdb.DuckDBPyConnection) -> None:
    arrive(connection, side_by_side(NAMES[:70]), rows_of(NAMES[70:80]), side_by_side(NAMES[80:90]))
    arrive(connection, side_by_side(NAMES[90:]))
    assert sizes(connection) == (4, 140, 0)
    assert stored(connection) == payloads(rows_of(NAMES))


def test_traces_that_say_what_is_stored_do_not_wait(connection: duckdb.DuckDBPyConnection) -> None:
    arrive(connection, side_by_side(NAMES))
    arrive(connection, side_by_side(NAMES[::2]))
    assert sizes(connection) == (3, 150, 0)
    assert stored(connection) == payloads(rows_of(NAMES))


def test_new_traces_beside_known_and_changed_ones_are_stored_alone(connection: duckdb.DuckDBPyConnection) -> None:
    arrive(connection, side_by_side(NAMES[:20]))
    changed = side_by_side([*NAMES[10:20], *NAMES[20:25]], version=2)
    arrive(connection, changed)
    assert sizes(connection) == (1, 20, 10)
    waiting = dict(connection.execute("SELECT trace_id, payload FROM trace_parts").fetchall())
    assert waiting == payloads(rows_of(NAMES[10:20], version=2))
    assert {name: stored(connection)[name] for name in NAMES[20:25]} == payloads(rows_of(NAMES[20:25], version=2))


def test_a_late_span_finds_the_payload_of_its_trace_and_the_others_keep_theirs(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    arrive(connection, side_by_side(NAMES))
    late = Span(NAMES[3], "2", {"question": "late"}, 5, 5)
    arrive(connection, trace_table([trace_row(NAMES[3], [late], "otlp", None)]))
    (batch,) = iter_waiting(connection)
    known = [row for row in batch.rows.to_pylist() if row["made"]]
    assert [[span.span_id for span in read_spans(row["payload"])] for row in known] == [["1"]]
    assert sizes(connection) == (2, 86, 1)
    assert stored(connection) == payloads(rows_of(NAMES))


def test_what_is_forgotten_stands_in_no_pack(connection: duckdb.DuckDBPyConnection) -> None:
    arrive(connection, side_by_side(NAMES))
    gone = [*NAMES[:64], NAMES[100]]
    assert forget_traces(connection, gone) == 65
    text = all_text(connection)
    assert not any(f"said in {name}".encode() in text for name in gone)
    assert sizes(connection) == (1, 22, 0)
    assert stored(connection) == payloads(rows_of([name for name in NAMES if name not in gone]))

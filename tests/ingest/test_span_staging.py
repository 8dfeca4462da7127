"""Traces wait in the store: pieces, versions, interrupted runs and forgetting."""

import itertools
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
import pytest

from ingest.adapters.base import Span
from ingest.log_store import LogStore
from ingest.spans import staging as span_staging
from ingest.spans.forgetting import forget_traces, traces_before, traces_of_user
from ingest.spans.rows import read_spans, together, trace_of, unpacked, written
from ingest.spans.staging import (
    FAMILY_SCHEMA,
    ArrivingTraces,
    Taken,
    iter_waiting,
    store_traces,
    trace_row,
    trace_table,
)


class StagedTraces(NamedTuple):
    """Traces of one block."""

    family: str
    table: pa.Table


def take_traces(connection: duckdb.DuckDBPyConnection, blocks: list[StagedTraces], *, ingest_id: int) -> Taken:
    arriving = ArrivingTraces(Path(tempfile.gettempdir()))
    for family, table in blocks:
        arriving.add(family, table)
    return span_staging.take_traces(connection, arriving, ingest_id=ingest_id)


def staged(*spans: Span, adapter: str = "otlp", family: str = "trace", whole: bool = False) -> StagedTraces:
    """Return spans of one block, each trace put together where `whole`."""
    by_trace: dict[str, list[Span]] = {}
    for span in spans:
        by_trace.setdefault(span.trace_id, []).append(span)
    made = [f"{family}:{trace_id}" for trace_id in by_trace] if whole else [None] * len(by_trace)
    rows = [
        trace_row(trace_id, found, adapter, [name] if name else None)
        for (trace_id, found), name in zip(by_trace.items(), made, strict=True)
    ]
    return StagedTraces(family, trace_table(rows))


def span(trace_id: str, span_id: str, version: int = 1, user: str | None = None, **payload: Any) -> Span:
    return Span(trace_id, span_id, payload, started_ns=version, version_ns=version, user_id=user)


@pytest.fixture
def connection(tmp_path: Path) -> Any:
    with LogStore(tmp_path / "logs.duckdb").unit() as opened:
        yield opened


def settled(connection: duckdb.DuckDBPyConnection, ingest_id: int = 1) -> dict[str, list[str]]:
    """Store what waits as an ingest does, without interactions; return the span ids of every trace that changed."""
    found: dict[str, list[str]] = {}
    for batch in iter_waiting(connection):
        rows: list[tuple[Any, ...]] = []
        keys = sorted({(row["family"], row["trace_id"]) for row in batch.rows.to_pylist()})
        for family, trace_id in keys:
            pieces = [row for row in batch.rows.to_pylist() if (row["family"], row["trace_id"]) == (family, trace_id)]
            spans = together([row["payload"] for row in pieces])
            if written(spans) != pieces[0]["payload"] or pieces[0]["made"] is None:
                found[trace_id] = [entry.span_id for entry in spans]
                rows.append((family, trace_id, len(spans), 0, [], [], written(spans)))
        store_traces(connection, batch, trace_table(rows, FAMILY_SCHEMA), ingest_id=ingest_id)
    return found


def test_only_changed_traces_are_put_together_again(connection: duckdb.DuckDBPyConnection) -> None:
    take_traces(connection, [staged(span("a", "1"), span("a", "2"), span("b", "1"))], ingest_id=1)
    assert settled(connection) == {"a": ["1", "2"], "b": ["1"]}
    again = staged(span("a", "1"), span("b", "1", 2, late=True), span("c", "1"))
    take_traces(connection, [again], ingest_id=2)
    assert settled(connection) == {"b": ["1"], "c": ["1"]}
    assert settled(connection) == {}


def test_a_trace_that_came_whole_does_not_wait_until_more_of_it_comes(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    taken = take_traces(connection, [staged(span("a", "1"), span("a", "2"), whole=True)], ingest_id=1)
    assert (taken.spans, settled(connection)) == (2, {})
    assert take_traces(connection, [staged(span("a", "3"), whole=True)], ingest_id=1).spans == 0
    assert settled(connection) == {"a": ["1", "2", "3"]}


def test_a_trace_in_two_blocks_of_a_group_waits(connection: duckdb.DuckDBPyConnection) -> None:
    blocks = [staged(span("a", "1"), whole=True), staged(span("a", "2"), span("b", "1"), whole=True)]
    assert take_traces(connection, blocks, ingest_id=1).spans == 1
    assert settled(connection) == {"a": ["1", "2"]}


def test_of_one_span_the_newest_state_stays_in_any_order_of_arrival(tmp_path: Path) -> None:
    states = [span("a", "1", 1, answer="Op"), span("a", "1", 2, answer="Open it"), span("a", "1", 2, answer="Open")]
    kept = set()
    for number, order in enumerate(itertools.permutations(states)):
        with LogStore(tmp_path / f"{number}.duckdb").unit() as connection:
            for state in order[:2]:
                take_traces(connection, [staged(state)], ingest_id=1)
            settled(connection)
            take_traces(connection, [staged(order[2]), staged(order[0])], ingest_id=2)
            settled(connection)
            kept.update(connection.execute("SELECT payload FROM traces").fetchall())
    assert {unpacked(payload) for (payload,) in kept} == {b'[["1","otlp",2,2,null,{"answer":"Open it"}]]'}


def test_what_a_killed_run_left_is_taken_up_by_the_next(connection: duckdb.DuckDBPyConnection) -> None:
    take_traces(connection, [staged(span("a", "1"))], ingest_id=1)
    assert [batch.buckets for batch in iter_waiting(connection)] == [1], "not stored, so it comes again"
    take_traces(connection, [staged(span("b", "1"))], ingest_id=2)
    assert settled(connection) == {"a": ["1"], "b": ["1"]}


def test_adapters_of_one_family_share_a_trace_and_keep_their_own_state_of_a_span(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    blocks = [
        staged(span("a", "1", x=1)),
        staged(span("a", "1", x=2), adapter="phoenix"),
        staged(span("a", "9"), family="other"),
    ]
    take_traces(connection, blocks, ingest_id=1)
    settled(connection)
    rows = connection.execute("SELECT family, payload FROM traces ORDER BY family").fetchall()
    assert [(family, [entry.adapter for entry in read_spans(payload)]) for family, payload in rows] == [
        ("other", ["otlp"]),
        ("trace", ["otlp", "phoenix"]),
    ]


def test_payloads_that_json_libraries_quarrel_about_survive(connection: duckdb.DuckDBPyConnection) -> None:
    take_traces(connection, [staged(span("a", "1", number=2**70, text="lone \ud83d"))], ingest_id=1)
    settled(connection)
    ((payload,),) = connection.execute("SELECT payload FROM traces").fetchall()
    (kept,) = trace_of("a", read_spans(payload)).spans
    assert kept.payload["text"] == "lone \ud83d"


def test_forgotten_traces_leave_nothing_behind(connection: duckdb.DuckDBPyConnection) -> None:
    take_traces(connection, [staged(span("a", "1"), span("b", "1"))], ingest_id=1)
    settled(connection)
    take_traces(connection, [staged(span("a", "2"))], ingest_id=2)
    assert forget_traces(connection, ["a", "missing"]) == 2
    assert settled(connection) == {}
    assert connection.execute("SELECT trace_id FROM traces").fetchall() == [("b",)]


def test_traces_are_found_by_user_and_by_time_whether_they_wait_or_not(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    take_traces(connection, [staged(span("a", "1", 5, user="u1"), whole=True)], ingest_id=1)
    take_traces(connection, [staged(span("b", "1", 9, user="u1"), span("c", "1", 9, user="u2"))], ingest_id=1)
    assert traces_of_user(connection, ["u1", "u9"]) == {"a", "b"}
    assert traces_before(connection, 9) == {"a"}


def test_spans_of_a_store_of_the_former_shape_are_kept(tmp_path: Path) -> None:
    store = LogStore(tmp_path / "logs.duckdb")
    with store.unit() as connection:
        connection.execute("DROP TABLE traces; DROP TABLE trace_parts")
        folder = Path(__file__).parents[2] / "ingest" / "schema"
        connection.execute((folder / "0010_spans.sql").read_text(encoding="utf-8"))
        connection.execute(
            """INSERT INTO spans VALUES ('trace', 'a"b', '1', 'otlp', 5, 6, 'u1', '{"kind":"chain"}', 1)"""
        )
        for step in ("0011_traces.sql", "0012_packed_traces.sql", "0015_trace_packs.sql"):
            connection.execute((folder / step).read_text(encoding="utf-8"))
        ((payload, users),) = connection.execute("SELECT payload, user_ids FROM trace_parts").fetchall()
    assert unpacked(payload) == b'[["1","otlp",5,6,"u1",{"kind":"chain"}]]'
    assert users == ["u1"]
    assert [span.span_id for span in read_spans(payload)] == ["1"]

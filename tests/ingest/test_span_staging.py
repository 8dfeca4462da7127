"""Spans wait in the store: duplicates, versions, interrupted runs and forgetting."""

import itertools
from pathlib import Path
from typing import Any

import duckdb
import pytest

from ingest.adapters.base import Span
from ingest.log_store import LogStore
from ingest.span_staging import (
    StagedSpans,
    append_spans,
    forget_traces,
    iter_unassembled,
    mark_assembled,
    settle_spans,
    span_table,
    traces_in,
)


def staged(*spans: Span, adapter: str = "otlp", family: str = "trace") -> StagedSpans:
    return StagedSpans(family, adapter, span_table(spans))


def span(trace_id: str, span_id: str, version: int = 1, **payload: Any) -> Span:
    return Span(trace_id, span_id, payload, started_ns=version, version_ns=version)


@pytest.fixture
def connection(tmp_path: Path) -> Any:
    with LogStore(tmp_path / "logs.duckdb").unit() as opened:
        yield opened


def assembled(connection: duckdb.DuckDBPyConnection) -> dict[str, list[str]]:
    """Return the span ids of every trace to assemble, and mark them as done."""
    found: dict[str, list[str]] = {}
    for batch in iter_unassembled(connection):
        for trace in traces_in(batch.spans):
            found[trace.trace.trace_id] = [span.span_id for span in trace.trace.spans]
        mark_assembled(connection, batch)
    return found


def test_only_changed_traces_are_assembled_again(connection: duckdb.DuckDBPyConnection) -> None:
    append_spans(connection, [staged(span("a", "1"), span("a", "2"), span("b", "1"))], ingest_id=1)
    assert settle_spans(connection) == (3, 0)
    assert assembled(connection) == {"a": ["1", "2"], "b": ["1"]}
    append_spans(connection, [staged(span("a", "1"), span("b", "1", 2, late=True), span("c", "1"))], ingest_id=2)
    assert settle_spans(connection) == (1, 1)
    assert assembled(connection) == {"b": ["1"], "c": ["1"]}
    assert assembled(connection) == {}


def test_of_one_span_the_newest_state_stays_in_any_order_of_arrival(tmp_path: Path) -> None:
    states = [span("a", "1", 1, answer="Op"), span("a", "1", 2, answer="Open it"), span("a", "1", 2, answer="Open")]
    kept = set()
    for number, order in enumerate(itertools.permutations(states)):
        with LogStore(tmp_path / f"{number}.duckdb").unit() as connection:
            for state in order[:2]:
                append_spans(connection, [staged(state)], ingest_id=1)
            settle_spans(connection)
            append_spans(connection, [staged(order[2], order[0])], ingest_id=2)
            settle_spans(connection)
            kept.update(connection.execute("SELECT payload FROM spans").fetchall())
    assert kept == {('{"answer":"Open it"}',)}


def test_what_a_killed_run_left_is_taken_up_by_the_next(connection: duckdb.DuckDBPyConnection) -> None:
    append_spans(connection, [staged(span("a", "1"))], ingest_id=1)
    settle_spans(connection)
    append_spans(connection, [staged(span("b", "1"))], ingest_id=1)
    assert [batch.buckets for batch in iter_unassembled(connection)] == [1], "not marked, so it comes again"
    settle_spans(connection)
    assert assembled(connection) == {"a": ["1"], "b": ["1"]}


def test_adapters_of_one_family_share_a_trace_and_keep_their_own_state_of_a_span(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    append_spans(
        connection,
        [
            staged(span("a", "1", x=1)),
            staged(span("a", "1", x=2), adapter="phoenix"),
            staged(span("a", "9"), family="other"),
        ],
        ingest_id=1,
    )
    assert settle_spans(connection).new == 3
    traces = [trace for batch in iter_unassembled(connection) for trace in traces_in(batch.spans)]
    assert sorted((trace.family, len(trace.trace.spans)) for trace in traces) == [("other", 1), ("trace", 2)]


def test_payloads_that_json_libraries_quarrel_about_survive(connection: duckdb.DuckDBPyConnection) -> None:
    append_spans(connection, [staged(span("a", "1", number=2**70, text="lone \ud83d"))], ingest_id=1)
    settle_spans(connection)
    ((payload,),) = [
        [span.payload for span in trace.trace.spans]
        for batch in iter_unassembled(connection)
        for trace in traces_in(batch.spans)
    ]
    assert payload["text"] == "lone \ud83d"


def test_forgotten_traces_leave_nothing_behind(connection: duckdb.DuckDBPyConnection) -> None:
    append_spans(connection, [staged(span("a", "1"), span("b", "1"))], ingest_id=1)
    settle_spans(connection)
    append_spans(connection, [staged(span("a", "2"))], ingest_id=2)
    assert forget_traces(connection, ["a", "missing"]) == 1
    settle_spans(connection)
    assert assembled(connection) == {"b": ["1"]}

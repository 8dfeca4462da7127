"""Whatever is fed to a span adapter, it answers with outcomes and never with a traceback."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.adapters import get_adapter
from ingest.adapters.base import SpanAdapter
from tests.ingest.span_reading import read_values

NAMES = ["otlp", "langfuse", "langsmith", "phoenix", "mlflow"]
KEYS = st.sampled_from(
    [
        *("resourceSpans", "scopeSpans", "spans", "traceId", "spanId", "attributes", "key", "value", "stringValue"),
        *("context", "trace_id", "span_id", "parent_id", "span_kind", "start_time", "end_time", "events", "links"),
        *("context.trace_id", "context.span_id", "attributes.retrieval.documents", "annotator_kind", "result"),
        *("id", "type", "input", "output", "metadata", "usage_details", "name", "data_type", "subject", "observations"),
        *("run_type", "inputs", "outputs", "extra", "feedback_stats", "score", "run_id", "dotted_order", "error"),
        *("info", "data", "trace", "request_id", "assessments", "trace_metadata", "tags", "status", "timestamp"),
        *(
            "resourceLogs",
            "scopeLogs",
            "logRecords",
            "body",
            "eventName",
            "resource",
            "retrieval.documents.0.document.id",
        ),
    ]
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(
        ["RETRIEVER", "chain", "LLM", '{"a": [1', '[{"id": 1}]', "2026-11-30", "af518c1b9a5127c24c013351cd5f7514"]
    ),
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=5)),
    max_leaves=14,
)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(values=st.lists(JSON, max_size=3))
def test_any_json_value_gives_outcomes(name: str, values: list[Any]) -> None:
    adapter = get_adapter(name)
    assert isinstance(adapter, SpanAdapter)
    assert 0 <= adapter.detects(values) <= 1
    read_values(adapter, values)


@settings(max_examples=60)
@given(message=st.binary(max_size=200))
def test_any_bytes_give_outcomes(message: bytes) -> None:
    adapter = get_adapter("otlp")
    assert isinstance(adapter, SpanAdapter)
    assert 0 <= adapter.detects([message]) <= 1
    read = read_values(adapter, [message])
    assert read.rejects or read.skips or read.interactions


@pytest.mark.parametrize("name", NAMES)
def test_no_adapter_claims_plain_application_logs(name: str) -> None:
    rows = [
        {"ts": "2026-11-30", "query": "x", "reply": "y", "sources": [{"chunk": "c1"}], "session_id": "s"},
        {},
        3,
        None,
    ]
    assert get_adapter(name).detects(rows) == 0

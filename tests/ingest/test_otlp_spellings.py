"""One batch in every spelling of OTLP gives the same interaction."""

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from ingest.adapters.otlp import ADAPTER
from ingest.traces.identity import hex_id
from tests.ingest.span_reading import read_values

IDS = ("traceId", "spanId", "parentSpanId")


def walked(value: Any, change: Callable[[str, Any], tuple[str, Any]]) -> Any:
    """Return `value` with every key and its value changed, from the outside in."""
    if isinstance(value, list):
        return [walked(item, change) for item in value]
    if not isinstance(value, dict):
        return value
    changed = (change(key, held) for key, held in value.items())
    return {key: walked(held, change) for key, held in changed}


def upper_with_numbers(key: str, held: Any) -> tuple[str, Any]:
    if key in IDS:
        return key, held.upper()
    return key, int(held) if key.endswith("UnixNano") else held


def from_protobuf_json(key: str, held: Any) -> tuple[str, Any]:
    if key in IDS:
        return key, base64.b64encode(bytes.fromhex(held)).decode()
    return (key, "SPAN_KIND_INTERNAL") if key == "kind" else (key, held)


def snake(key: str, held: Any) -> tuple[str, Any]:
    name = re.sub(r"(?<=[a-z])([A-Z])", lambda found: "_" + found[1].lower(), key)
    return name, {
        **held,
        "bytes_value": None,
        "array_value": None,
    } if key == "value" and "stringValue" in held else held


def old_scopes(key: str, held: Any) -> tuple[str, Any]:
    return ("instrumentationLibrarySpans" if key == "scopeSpans" else key), held


def console(batch: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the spans as the SDK's console exporter writes them."""
    spans = []
    for span in batch["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        attributes = {pair["key"]: next(iter(pair["value"].values())) for pair in span["attributes"]}
        context = {"trace_id": "0x" + span["traceId"], "span_id": "0x" + span["spanId"], "trace_state": "[]"}
        parent = "0x" + span["parentSpanId"] if span.get("parentSpanId") else None
        times = {"start_time": int(span["startTimeUnixNano"]), "end_time": int(span["endTimeUnixNano"])}
        status = {"status_code": "OK" if span["status"].get("code") == 1 else "UNSET"}
        resource = {"attributes": {"service.name": "support-bot"}}
        spans.append({"name": span["name"], "context": context, "parent_id": parent, "status": status, **times})
        spans[-1] |= {
            "kind": "SpanKind.INTERNAL",
            "attributes": attributes,
            "events": [],
            "links": [],
            "resource": resource,
        }
    return spans


def protobuf(batch: dict[str, Any]) -> bytes:
    """Return the batch as a serialised message."""
    from google.protobuf.json_format import ParseDict

    in_base64 = walked(batch, from_protobuf_json)
    content: bytes = ParseDict(in_base64, TracesData(), ignore_unknown_fields=True).SerializeToString()
    return content


SPELLINGS: dict[str, Callable[[dict[str, Any]], list[Any]]] = {
    "upper-case hex and times as numbers": lambda batch: [walked(batch, upper_with_numbers)],
    "protobuf's JSON": lambda batch: [walked(batch, from_protobuf_json)],
    "snake case with nulls": lambda batch: [walked(batch, snake)],
    "old scope names": lambda batch: [walked(batch, old_scopes)],
    "wrapped in a trace": lambda batch: [{"trace": batch}],
    "batches": lambda batch: [{"batches": batch["resourceSpans"]}],
    "console exporter": console,
    "protobuf": lambda batch: [protobuf(batch)],
    "length-prefixed protobuf": lambda batch: [
        b"".join(len(part).to_bytes(4, "big") + part for part in [protobuf(batch)] * 2)
    ],
    "lone spans": lambda batch: batch["resourceSpans"][0]["scopeSpans"][0]["spans"],
}


@pytest.fixture(scope="module")
def batch(shared_folder: Path) -> dict[str, Any]:
    lines = (shared_folder / "logs" / "otlp_openinference_full.jsonl").read_text(encoding="utf-8").splitlines()
    found: dict[str, Any] = json.loads(lines[0])
    spans = found["resourceSpans"][0]["scopeSpans"][0]["spans"]
    found["resourceSpans"][0]["scopeSpans"][0]["spans"] = [
        span for span in spans if span["traceId"] == spans[0]["traceId"]
    ]
    return found


@pytest.mark.parametrize("name", SPELLINGS)
def test_every_spelling_gives_the_same_interaction(name: str, batch: dict[str, Any]) -> None:
    values = SPELLINGS[name](batch)
    assert ADAPTER.detects(values) > 0.8
    expected = read_values(ADAPTER, [batch])
    found = read_values(ADAPTER, values)
    plain = found.only._replace(metadata=None)
    assert plain == expected.only._replace(metadata=None)
    assert [vote.target_id for vote in found.votes][:1] == [vote.target_id for vote in expected.votes]


def test_log_events_that_say_nothing_of_a_turn_are_skipped() -> None:
    records = [{"timeUnixNano": "1", "body": {"stringValue": "started"}, "traceId": "a" * 32, "spanId": "b" * 16}]
    message = {"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}
    assert read_values(ADAPTER, [message]).skips == ["log events that hold no question, answer or vote"]


def test_ids_that_went_through_a_wrong_reader_are_brought_back() -> None:
    trace_id = "3335587ffa2ec06c0e8b5554256f4589"
    assert hex_id(base64.b64decode(trace_id)) == trace_id

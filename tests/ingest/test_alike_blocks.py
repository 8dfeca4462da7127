"""Spans that are written alike, read as columns by their bytes, are what the other readers make of them."""

import itertools
import json
import random
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingest import storing
from ingest.adapters.otlp import OtlpAdapter
from ingest.columnar import Tables
from ingest.merging import merge
from ingest.reading.blocks import LinePart
from ingest.reading.unwrapping import Layers
from ingest.reading_jobs import RowReader, StagedBlock, Way
from ingest.settings import PrivacySettings
from ingest.spans.packs import loosened
from ingest.spans.rows import together
from tests.ingest.alike_traces import SPELLINGS, as_lines, usual_trace
from tests.ingest.test_fast_reading import assert_same_store
from tests.ingest.test_trace_assembly import batch, span
from tests.ingest.test_usual_lines import assert_same_both_ways, store_after

pytest.importorskip("ingest.compiled.spans", reason="the extension is not built here")
PLAIN = PrivacySettings(redact=False)


@pytest.mark.parametrize("spelling", SPELLINGS, ids=["escaped", "unicode", "compact"])
@pytest.mark.parametrize("oddity", [0.0, 0.1], ids=["plain", "odd"])
def test_usual_traces_give_the_same_store_as_read_span_by_span(
    oddity: float, spelling: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = random.Random(3)  # noqa: S311 - made-up traces
    traces = [usual_trace(source, number, oddity=oddity) for number in range(300)]
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"\n".join(as_lines(traces, 9 if not oddity else 3, **spelling)))
    watched = assert_same_both_ways(log, tmp_path, monkeypatch, PLAIN)
    assert watched.alike == 300 if not oddity else 20 < watched.alike < 300


def test_they_do_with_redaction_and_only_traces_that_need_it_are_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = random.Random(4)  # noqa: S311 - made-up traces
    traces = [usual_trace(source, number, oddity=0.03) for number in range(300)]
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"\n".join(as_lines(traces, 3)))
    watched = assert_same_both_ways(log, tmp_path, monkeypatch)
    assert 100 < watched.alike < 300


def test_a_trace_that_spreads_over_lines_and_other_spans_is_put_together_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = random.Random(5)  # noqa: S311 - made-up traces
    traces = [usual_trace(source, number, oddity=0.0) for number in range(200)]
    for number, trace in enumerate(traces):
        if number % 7 == 0:
            trace[0] |= {"status": {"code": 2, "message": "timed out"}}
        if number % 5 == 0:
            trace[1] |= {"parentSpanId": ""}
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"\n".join(as_lines(traces, 4)))
    assert assert_same_both_ways(log, tmp_path, monkeypatch, PLAIN).alike > 20


def test_roots_with_a_blank_parent_and_several_scopes_in_a_line_are_read_as_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = random.Random(6)  # noqa: S311 - made-up traces
    lines = []
    for number in range(0, 90, 3):
        three = [usual_trace(source, number + at, oddity=0.0) for at in range(3)]
        for trace in three:
            trace[2] = dict(itertools.islice(trace[2].items(), 2)) | {"parentSpanId": ""} | trace[2]
        resources = [batch(*trace, service__name=f"bot {at}")["resourceSpans"][0] for at, trace in enumerate(three)]
        resources[0]["scopeSpans"].append({"scope": {"name": "other"}, "spans": []})
        lines.append(json.dumps({"resourceSpans": resources}).encode())
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"\n".join(lines))
    assert assert_same_both_ways(log, tmp_path, monkeypatch, PLAIN).alike == 90


def test_groups_of_whole_row_groups_give_the_store_that_one_group_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = random.Random(8)  # noqa: S311 - made-up traces
    traces = [usual_trace(source, number, oddity=0.0) for number in range(300)]
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"\n".join(as_lines(traces, 9)))
    whole = store_after(log, tmp_path / "whole", PLAIN)
    sizes: list[int] = []

    def watched_merge(connection: Any, group: list[Tables], **options: Any) -> Any:
        sizes.append(sum(tables.size for tables in group))
        return merge(connection, group, **options)

    monkeypatch.setattr(storing, "merge", watched_merge)
    monkeypatch.setattr(storing, "_ROW_GROUP", 97)
    monkeypatch.setattr("ingest.reading_jobs._ALIKE_PART_BYTES", 200_000)
    assert_same_store(whole, store_after(log, tmp_path / "parts", PLAIN))
    assert sizes == [97, 97, 97, 9]


class Read(NamedTuple):
    """What a block became, in an order of its own."""

    spans: dict[str, list[Any]]
    interactions: list[Any]
    links: list[Any]
    account: Any


def read_block(content: bytes, *, alike: bool) -> Read:
    reader = RowReader(Way("otlp", None, PLAIN, b"salt"))
    if not alike:
        reader._alike = None
    block = reader.read_lines(
        LinePart("log", "", 0, len(content), content, Layers(), has_prefixes=False, partitions={})
    )
    payloads: dict[str, list[bytes]] = {}
    for row in loosened(block.traces.combine_chunks()).to_pylist():
        payloads.setdefault(row["trace_id"], []).append(row["payload"])
    torn = {trace_id for trace_id, rows in payloads.items() if len(rows) > 1}
    return Read(
        {trace_id: [tuple(entry) for entry in together(rows)] for trace_id, rows in payloads.items()},
        *turns(block.made, torn),
        account_of(block),
    )


def turns(made: Tables | None, torn: set[str]) -> tuple[list[Any], list[Any]]:
    if made is None:
        return [], []
    ids = made.interactions.column("interaction_id").to_pylist()
    kept = [row for row in made.interactions.to_pylist() if row["interaction_id"].removeprefix("trace:") not in torn]
    links: list[dict[str, Any]] = [{**row, "row": ids[row["row"]]} for row in made.links.to_pylist()]
    return sorted(kept, key=repr), sorted((row for row in links if row["row"][6:] not in torn), key=repr)


def account_of(block: StagedBlock) -> Any:
    rest = block.rest
    rejects = sorted((reject.line, reject.reason) for reject in rest.rejects)
    texts = sorted(map(repr, block.tables.texts.to_pylist()))
    return rest.read, rest.lines, rest.quarantined, rest.skips, rejects, texts


@example(seed=2, at=0.205078125, length=0, put=b"\\")
@example(seed=0, at=1.0, length=0, put=b"\\")
@given(
    seed=st.integers(0, 30),
    at=st.floats(0, 1),
    length=st.integers(0, 30),
    put=st.one_of(
        st.binary(max_size=6), st.sampled_from([b"null", b'"', b"{}", b"[]", b"1", b"\\", b"\\u0000", b"\n"])
    ),
)
def test_a_damaged_block_is_read_as_span_by_span(seed: int, at: float, length: int, put: bytes) -> None:
    source = random.Random(seed)  # noqa: S311 - made-up traces
    content = b"\n".join(as_lines([usual_trace(source, number, oddity=0.01) for number in range(4)], 6))
    start = int(at * len(content))
    content = content[:start] + put + content[start + length :]
    assert read_block(content, alike=True) == read_block(content, alike=False)


def test_a_log_of_another_convention_is_soon_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[bytes] = []
    monkeypatch.setattr("ingest.alike.blocks.BlockReader.read", lambda _, content: looked.append(content))
    reader = RowReader(Way("otlp", None, PLAIN, b"salt"))
    content = json.dumps(batch(span("1", gen_ai__operation__name="chat"))).encode()
    for _ in range(20):
        reader.read_lines(LinePart("log", "", 0, len(content), content, Layers(), has_prefixes=False, partitions={}))
    assert 0 < len(looked) < 10


@pytest.mark.parametrize("part", ["resource", "scope"])
def test_a_line_with_a_part_that_is_no_json_is_left_whole(part: str) -> None:
    source = random.Random(9)  # noqa: S311 - made-up traces
    one, two, three = (usual_trace(source, number, oddity=0.0) for number in range(3))
    bad: Any = batch(*one, service__name="one")
    bad["resourceSpans"] += batch(*two, service__name="two")["resourceSpans"]
    bad["resourceSpans"][1][part if part == "resource" else "scopeSpans"] = "~"
    line = json.dumps(bad).replace('"~"', "{1}" if part == "resource" else '[{"scope": {1}, "spans": []}]')
    content = "\n".join([line, json.dumps(batch(*three, service__name="three"))]).encode()
    found = read_block(content, alike=True)
    assert found == read_block(content, alike=False)
    assert len(found.interactions) == 1


def test_of_a_line_only_the_traces_that_are_odd_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(10)  # noqa: S311 - made-up traces
    traces = [usual_trace(source, number, oddity=0.0) for number in range(8)]
    traces[3][1] |= {"status": {"code": 2, "message": "timed out"}}
    lines: list[bytes] = []
    read_lines = OtlpAdapter.read_lines

    def watched(adapter: OtlpAdapter, some: Any) -> Any:
        lines.extend(some)
        return read_lines(adapter, some)

    monkeypatch.setattr(OtlpAdapter, "read_lines", watched)
    content = b"\n".join(as_lines(traces, 24))
    read_block(content, alike=True)
    (left,) = lines
    assert left.count(b'"traceId"') == left.count(traces[3][0]["traceId"].encode()) == 3


FIELDS: tuple[dict[str, Any], ...] = (
    *({"kind": "SPAN_KIND_INTERNAL"}, {"kind": 3}, {"kind": None}, {"kind": 1.5}, {"flags": 256}, {"flags": "x"}),
    *({"traceState": "a=b"}, {"events": []}, {"events": [{"name": "x"}]}, {"links": []}, {"links": None}),
    *({"droppedAttributesCount": 0}, {"droppedAttributesCount": 2}, {"droppedEventsCount": 4}),
    *({"status": {}}, {"status": {"code": 1, "message": "fine"}}, {"status": {"code": 2}}, {"status": None}),
    *({"startTimeUnixNano": 1796000000000000000}, {"startTimeUnixNano": "0"}, {"startTimeUnixNano": "1796000000"}),
    *({"endTimeUnixNano": "0"}, {"endTimeUnixNano": None}, {"endTimeUnixNano": "9999999999999999999"}),
    *({"endTimeUnixNano": 1796000000000000000}, {"name": ""}, {"name": "rerank"}, {"name": None}, {"name": 'a "b"'}),
    *({"parentSpanId": ""}, {"parentSpanId": None}, {"parentSpanId": "0" * 16}, {"parentSpanId": "F" * 16}),
    *({"spanId": "0" * 16}, {"spanId": "1"}, {"traceId": "A" * 32}, {"traceId": "0" * 32}, {"other": 1}),
)
VALUES: tuple[Any, ...] = (
    *(
        {"intValue": 5},
        {"intValue": "5"},
        {"intValue": "05"},
        {"intValue": "x"},
        {"intValue": -3},
        {"intValue": "7" * 30},
    ),
    *({"doubleValue": 1}, {"doubleValue": 1.0}, {"doubleValue": 1e-9}, {"doubleValue": 1e300}, {"doubleValue": "0.5"}),
    *({"doubleValue": -0.0}, {"boolValue": True}, {"boolValue": "true"}, {}, None, {"arrayValue": {"values": []}}),
    *({"stringValue": ""}, {"stringValue": "content='printed' additional_kwargs={}"}, {"stringValue": "user-1"}),
    *({"stringValue": None}, {"stringValue": "x", "intValue": 1}, {"bytesValue": "AAAA"}),
)
KEYS = (
    *("metadata", "tag.tags", "llm.model_name", "llm.response.model_name", "llm.cost.total", "output.mime_type"),
    *("llm.input_messages.1.message.content", "llm.input_messages.1.message.role", "llm.invocation_parameters"),
    *("retrieval.documents.0.document.score", "retrieval.documents.7.document.id", "user.id", "gen_ai.request.model"),
)


@st.composite
def reshaped(draw: st.DrawFn) -> bytes:
    """Return lines of traces in which some spans have other fields and values, in another order."""
    source = random.Random(draw(st.integers(0, 30)))  # noqa: S311 - made-up traces
    traces = [usual_trace(source, number, oddity=0.0) for number in range(4)]
    for made in draw(st.lists(st.sampled_from([made for trace in traces for made in trace]), max_size=4)):
        made.update(draw(st.sampled_from([{}, *FIELDS])))
        if draw(st.booleans()):
            made["attributes"].append({"key": draw(st.sampled_from(KEYS)), "value": draw(st.sampled_from(VALUES))})
        if draw(st.booleans()):
            attribute = draw(st.sampled_from(made["attributes"]))
            attribute["value"] = draw(st.sampled_from(VALUES))
        if draw(st.booleans()):
            made["attributes"] = draw(st.permutations(made["attributes"]))
        if draw(st.booleans()):
            fields = [(name, made[name]) for name in draw(st.permutations(list(made)))]
            made.clear()
            made.update(fields)
    return draw(st.sampled_from([b"\n", b"\r\n"])).join(as_lines(traces, 6, **draw(st.sampled_from(SPELLINGS))))


@given(content=reshaped())
def test_spans_with_other_fields_and_values_are_read_as_span_by_span(content: bytes) -> None:
    assert read_block(content, alike=True) == read_block(content, alike=False)

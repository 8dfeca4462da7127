"""Spans that are written alike, read as columns by their bytes, are what the other readers make of them."""

import itertools
import json
import random
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.columnar import Tables
from ingest.reading.blocks import LinePart
from ingest.reading.unwrapping import Layers
from ingest.reading_jobs import RowReader, StagedBlock, Way
from ingest.settings import PrivacySettings
from ingest.trace_rows import together
from tests.ingest.test_trace_assembly import batch, span
from tests.ingest.test_usual_lines import assert_same_both_ways

PLAIN = PrivacySettings(redact=False)
QUESTIONS = (
    *(
        "Where is it?",
        "Wo ist es, bitte? Grüße",
        "日本語の質問",
        'two\nlines, "quoted" and \\ back',
        "refund?",
        "null",
        "",
    ),
    *('{"question": "inside?"}', '[{"role": "user", "content": "in a list"}]', " padded ", "tab\there", "\u3000wide"),
    *("mail ann@corp.example", "user-1 asks", "{not json", "redacted-by-litellm", "a slash \\/ and \u20ac"),
)
ANSWERS = ("There.", "Dort, wo Sie stehen.", 'It says "no".\n', "no", "{}", '{"answer": "that"}', "ok \U0001f600", "")


def usual_trace(source: random.Random, number: int, *, oddity: float) -> list[dict[str, Any]]:
    """Return a chain, a retriever and a model call as most applications write them, now and then with an odd value."""

    def pick(usual: str, others: tuple[str, ...]) -> str:
        return others[source.randrange(len(others))] if source.random() < oddity else usual

    question = pick(f"How do I get refund {number}?", QUESTIONS)
    answer = pick(f"Write to us, number {number}.", ANSWERS)
    whose: dict[str, Any] = {
        "trace_id": f"{number + 1:032x}",
        "session.id": pick(f"s{number // 3}", (" s1 ", "", "ann@corp.example", "é")),
        "user.id": f"user-{number % 5}",
    }
    documents: dict[str, Any] = {
        f"retrieval.documents.{rank}.document.{name}": value
        for rank in range(2 + number % 2)
        for name, value in {
            "id": pick(f"k{(number + rank) % 9}", ("k1", "é1", " k2", "")),
            "content": pick(f"passage {(number + rank) % 9} of ours", ("", 'with "quotes" and \\', "Grüße", "null")),
            "score": (number + rank) / 7 if source.random() > oddity else source.choice([1.0, 1e-7, 123456789012.5]),
            "metadata": pick('{"doc_id": "d1"}', ('{"source": "a\\"b"}', "{}", "none", '{"n": 1}')),
        }.items()
    }
    model: dict[str, Any] = {
        "llm.model_name": pick("scripted", ("unknown", " m ", "")),
        "llm.token_count.prompt": 12 + number,
        "llm.cost.total": 0.25,
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": question,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": pick(answer, ("Write to us, number", answer + " More.", "")),
    }
    texts: dict[str, Any] = {"input.value": question, "output.value": answer}
    documents["input.value"] = pick(question, ("condensed query", "refund"))
    return [
        span("2", "1", at=1, openinference__span__kind="RETRIEVER", **whose, **documents),
        span("3", "1", at=2, openinference__span__kind="LLM", **whose, **model),
        span("1", lasting=5, openinference__span__kind="CHAIN", **whose, **texts),
    ]


def as_lines(traces: list[list[dict[str, Any]]], a_line: int, **spelling: Any) -> list[bytes]:
    spans = [made for trace in traces for made in trace]
    some = (spans[first : first + a_line] for first in range(0, len(spans), a_line))
    return [json.dumps(batch(*part, service__name="bot"), **spelling).encode() for part in some]


SPELLINGS: tuple[dict[str, Any], ...] = ({}, {"ensure_ascii": False}, {"separators": (",", ":")})


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
    for row in block.traces.to_pylist():
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
    monkeypatch.setattr("ingest.alike.reading.quoted", looked.append)
    reader = RowReader(Way("otlp", None, PLAIN, b"salt"))
    content = json.dumps(batch(span("1", gen_ai__operation__name="chat"))).encode()
    for _ in range(20):
        reader.read_lines(LinePart("log", "", 0, len(content), content, Layers(), has_prefixes=False, partitions={}))
    assert len(looked) < 10

"""Values that tools and databases write in ways of their own mean what they mean elsewhere."""

import json
from pathlib import Path
from typing import Any

import pytest

from ingest.adapters.mapping_file import parse_mapping
from ingest.adapters.mapping_paths import compile_path
from ingest.adapters.phoenix import ADAPTER as PHOENIX
from ingest.loading import ingest
from ingest.log_store import LogStore
from ingest.traces.identity import moment_of, nanoseconds
from ingest.warm_files import keep_files_warm, let_all_go
from tests.ingest.ingest_support import rows, write_lines
from tests.ingest.span_reading import read_values


def test_a_path_that_compares_unlike_values_leads_nowhere_instead_of_failing() -> None:
    assert compile_path("status >= `400` && message").get({"status": "500", "message": "x"}) is None
    assert compile_path("sum(numbers)").get({"numbers": ["a"]}) is None


def test_a_path_looks_into_json_texts_whatever_its_form(tmp_path: Path, store: LogStore) -> None:
    mapping = parse_mapping(
        "source: s\ninteractions: {id: id, question: last_user(messages), answer: 'reply.choices[0].text'}\n", "a test"
    )
    record = {"messages": json.dumps([{"role": "user", "content": "q?"}]), "reply": '{"choices": [{"text": "a"}]}'}
    ingest([write_lines(tmp_path / "log", [{"id": 1, **record}])], store=store, mapping=mapping, workers=1)
    assert rows(store, "SELECT question, answer FROM interactions") == [("q?", "a")]


def test_a_zone_may_be_hours_alone_as_databases_write_it() -> None:
    assert moment_of(nanoseconds("2026-11-30 00:04:33.808+00")) == moment_of(nanoseconds("2026-11-30T00:04:33.808Z"))
    assert nanoseconds("2026-11-30 02:00:00+02") == nanoseconds("2026-11-30 00:00:00-0000")


def test_documents_of_a_phoenix_frame_may_be_python_literals_inside_json() -> None:
    span = {
        "context.trace_id": "a" * 32,
        "context.span_id": "b" * 16,
        "span_kind": "CHAIN",
        "start_time": "2026-11-30T00:00:00Z",
        "attributes.input.value": "where?",
        "attributes.output.value": "there",
    }
    found = "[{'document.id': 'k1', 'document.content': 'text', 'document.score': 0.5}]"
    below = {"context.span_id": "c" * 16, "parent_id": "b" * 16, "span_kind": "RETRIEVER"}
    made = read_values(PHOENIX, [span, span | below | {"attributes.retrieval.documents": found}]).only
    assert [(chunk.chunk_id, chunk.text, chunk.score) for chunk in made.retrieved] == [("k1", "text", 0.5)]


def otlp_span(number: int, parent: int, kind: str, **attributes: Any) -> dict[str, Any]:
    stated = {"openinference.span.kind": kind, **{key.replace("_", "."): value for key, value in attributes.items()}}
    return {
        "traceId": "d" * 32,
        "spanId": f"{number:016x}",
        "parentSpanId": f"{parent:016x}" if parent else "",
        "name": kind,
        "startTimeUnixNano": str(10**18 + number),
        "endTimeUnixNano": str(10**18 + 100),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in stated.items()],
    }


def test_a_step_that_searches_without_a_retriever_hands_on_its_passages(tmp_path: Path, store: LogStore) -> None:
    found = {"context": [{"id": "k1", "page_content": "text", "metadata": {"source": "d"}, "type": "Document"}]}
    spans = [
        otlp_span(1, 0, "CHAIN", input_value='{"question": "where?"}', output_value='{"answer": "there"}'),
        otlp_span(2, 1, "CHAIN", input_value='{"question": "where?"}', output_value=json.dumps(found)),
    ]
    log = write_lines(tmp_path / "log", [{"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}])
    ingest([log], store=store, workers=1)
    assert rows(store, "SELECT question, answer, chunk_id, doc_id FROM interactions JOIN retrieved USING (number)") == [
        ("where?", "there", "k1", "d")
    ]


def test_answers_of_a_haystack_answer_builder_are_read(tmp_path: Path, store: LogStore) -> None:
    documents = [{"id": "k1", "content": "text", "score": 0.5, "meta": {"file_path": "d.md"}}]
    answer = {"data": "there", "query": "where?", "documents": documents, "meta": {"model": "m"}}
    report = ingest(
        [write_lines(tmp_path / "log", [{"answer_builder": {"answers": [answer]}}])], store=store, workers=1
    )
    assert report.files[0].format == "haystack"
    assert rows(store, "SELECT question, answer, model FROM interactions") == [("where?", "there", "m")]
    assert rows(store, "SELECT chunk_id, doc_id FROM retrieved") == [("k1", "d.md")]


def test_values_that_mongodb_wraps_are_taken_out(tmp_path: Path, store: LogStore) -> None:
    mapping = parse_mapping(
        "source: s\ninteractions: {id: _id, asked_at: at, question: q, input_tokens: n, cost: usd}\n", "a test"
    )
    moment = {"$date": {"$numberLong": "1793609970123"}}
    record = {"q": "q?", "n": {"$numberInt": "12"}, "usd": {"$numberDecimal": "0.5"}}
    log = [
        {"_id": {"$oid": "6748f0"}, "at": moment, **record},
        {"_id": {"$oid": "6748f1"}, "at": {"$date": "2026-11-02T08:59:30.123Z"}, **record},
    ]
    ingest([write_lines(tmp_path / "log", log)], store=store, mapping=mapping, workers=1)
    found = "SELECT interaction_id, epoch_ms(asked_at), input_tokens, cost FROM interactions ORDER BY 1"
    assert rows(store, found) == [("s:6748f0", 1793609970123, 12, 0.5), ("s:6748f1", 1793609970123, 12, 0.5)]


def test_a_root_span_of_phoenix_may_leave_its_parent_out() -> None:
    span = {"name": "ask", "context": {"trace_id": "a" * 32, "span_id": "b" * 16}, "span_kind": "CHAIN"}
    attributes = {"input.value": "q?", "output.value": "a"}
    made = read_values(PHOENIX, [span | {"start_time": "2026-11-02T08:00:00Z", "attributes": attributes}]).only
    assert (made.question, made.answer) == ("q?", "a")


def test_an_object_with_a_huge_number_is_a_text_where_a_text_is_wanted(tmp_path: Path, store: LogStore) -> None:
    mapping = parse_mapping("source: s\ninteractions: {id: id, question: q}\n", "a test")
    (tmp_path / "log").write_text('{"id": "1", "q": {"n": 1' + "0" * 30 + "}}\n", encoding="utf-8")
    ingest([tmp_path / "log"], store=store, mapping=mapping, workers=1)
    assert rows(store, "SELECT question FROM interactions") == [('{"n": 1' + "0" * 30 + "}",)]


def test_a_number_too_large_to_be_exact_is_kept_as_near_as_can_be(tmp_path: Path, store: LogStore) -> None:
    mapping = parse_mapping("source: s\ninteractions: {id: id, question: q, latency_ms: took}\n", "a test")
    log = [{"id": "1", "q": "q?", "took": -(10**18)}, {"id": "2", "q": "q?", "took": 12}]
    report = ingest([write_lines(tmp_path / "log", log)], store=store, mapping=mapping, workers=1)
    assert report.quarantined == 0
    assert rows(store, "SELECT latency_ms FROM interactions ORDER BY 1") == [(-1e18,), (12.0,)]


@pytest.mark.parametrize("is_warm", [False, True], ids=["closed", "kept open"])
def test_a_log_store_that_was_deleted_is_made_anew(
    is_warm: bool,  # noqa: FBT001 - a parameter of the test
    tmp_path: Path,
    store: LogStore,
) -> None:
    mapping = parse_mapping("source: s\ninteractions: {id: id, question: q}\n", "a test")
    if is_warm:
        keep_files_warm()
    try:
        for _ in range(3):  # a file made anew may get the inode of the deleted one
            ingest([write_lines(tmp_path / "log", [{"id": "1", "q": "q?"}])], store=store, mapping=mapping, workers=1)
            assert rows(store, "SELECT count(*) FROM interactions") == [(1,)]
            store.path.unlink()
    finally:
        let_all_go()


def test_conversations_of_one_session_stand_side_by_side_and_one_that_grew_is_the_same(
    tmp_path: Path, store: LogStore
) -> None:
    mapping = parse_mapping(
        "source: s\ninteractions: {turns: {list: m}, session_id: chat, question: user.content,"
        " answer: assistant.content}\n",
        "a test",
    )
    talk = [{"role": role, "content": f"{role} {number}"} for number in (1, 2) for role in ("user", "assistant")]
    log = [{"chat": "c", "m": talk[:2]}, {"chat": "c", "m": talk}, {"chat": "c", "m": talk[2:]}]
    ingest([write_lines(tmp_path / "log", log)], store=store, mapping=mapping, workers=1)
    found = rows(store, "SELECT question, count(*) FROM interactions GROUP BY ALL ORDER BY ALL")
    assert found == [("user 1", 1), ("user 2", 2)]

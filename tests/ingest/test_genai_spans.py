"""GenAI spans of frameworks, and what their tools gave back in the wrappings of protocols."""

import json
from typing import Any

import pytest

from ingest.adapters.otlp import ADAPTER
from ingest.traces.documents import chunks_of_tool
from ingest.traces.tool_results import plain_result
from tests.ingest.span_reading import read_values
from tests.ingest.test_trace_assembly import batch, span

PASSAGES = [{"id": "c1", "text": "one", "score": 0.5}, {"id": "c2", "text": "two", "score": 0.25}]
AS_JSON = json.dumps(PASSAGES)


@pytest.mark.parametrize(
    "wrapped",
    [
        AS_JSON,
        str(PASSAGES),
        [{"json": passage} for passage in PASSAGES],
        [{"json": PASSAGES}],
        [{"text": AS_JSON}],
        {"content": [{"type": "text", "text": AS_JSON}], "isError": False},
        {"content": [{"type": "text", "text": "two passages"}], "structuredContent": {"result": PASSAGES}},
        {"content": [{"type": "text", "text": json.dumps(passage)} for passage in PASSAGES]},
        [{"toolResult": {"toolUseId": "t1", "status": "success", "content": [{"json": PASSAGES}]}}],
        [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": AS_JSON}]}],
        {"type": "json", "value": PASSAGES},
        [{"type": "tool_call_response", "id": "t1", "response": PASSAGES}],
    ],
)
def test_passages_are_found_in_every_wrapping(wrapped: Any) -> None:
    found = chunks_of_tool("search_docs", wrapped)
    assert [(chunk.chunk_id, chunk.text, chunk.score) for chunk in found] == [("c1", "one", 0.5), ("c2", "two", 0.25)]


def test_texts_in_blocks_are_passages_of_their_own() -> None:
    found = chunks_of_tool(
        "search_docs", {"content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}
    )
    assert [chunk.text for chunk in found] == ["one", "two"]


@pytest.mark.parametrize(
    "value", [None, 3, "words [in brackets", [], {}, [1, {"json": 2}], {"content": "one"}, PASSAGES]
)
def test_what_is_not_wrapped_stays_as_it_is(value: Any) -> None:
    assert plain_result(value) == value


def test_results_wrapped_without_end_are_left() -> None:
    value: Any = "one"
    for _ in range(50):
        value = [{"json": value}]
    assert chunks_of_tool("search_docs", value) == []


def test_a_text_beside_a_score_is_the_passage_whatever_its_name() -> None:
    (found,) = chunks_of_tool("getInformation", [{"name": "one", "similarity": 0.5}])
    assert (found.text, found.score, found.id_origin) == ("one", 0.5, "text_hash")


def test_the_message_that_a_tool_chose_is_its_result() -> None:
    chosen = {"name": "gen_ai.choice", "attributes": [{"key": "message", "value": {"stringValue": AS_JSON}}]}
    tool = span("2", "1", gen_ai__operation__name="execute_tool", gen_ai__tool__name="retrieve") | {"events": [chosen]}
    agent = span(
        "1",
        gen_ai__operation__name="invoke_agent",
        gen_ai__input__messages=json.dumps([{"role": "user", "content": "where is it?"}]),
        gen_ai__output__messages=json.dumps([{"role": "assistant", "content": "there"}]),
    )
    assert [chunk.chunk_id for chunk in read_values(ADAPTER, [batch(agent, tool)]).only.retrieved] == ["c1", "c2"]


@pytest.mark.parametrize("reasons", ["cancelled", ["cancelled"], '["cancelled"]'])
def test_a_model_that_was_stopped_cut_its_answer_however_the_reasons_are_spelled(reasons: Any) -> None:
    agent = span(
        "1",
        gen_ai__operation__name="chat",
        gen_ai__input__messages=json.dumps([{"role": "user", "content": "where is it?"}]),
        gen_ai__output__messages=json.dumps([{"role": "assistant", "content": "the"}]),
        gen_ai__response__finish_reasons=reasons,
    )
    assert read_values(ADAPTER, [batch(agent)]).only.stream_cut

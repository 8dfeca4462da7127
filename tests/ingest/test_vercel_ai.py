"""Spans of Vercel's AI SDK, as its versions write them."""

import json
from typing import Any

from ingest.adapters.otlp import ADAPTER
from tests.ingest.span_reading import read_values
from tests.ingest.test_trace_assembly import batch, span

PASSAGES = json.dumps([{"id": "c1", "text": "Refunds take a week.", "score": 0.75}])
GIVEN: dict[str, Any] = {"ai__telemetry__metadata__sessionId": "s1", "ai__telemetry__metadata__userId": "u1"}


def call(*, operation: str = "ai.generateText", **fields: Any) -> dict[str, Any]:
    asked = json.dumps({"system": "Be short.", "messages": [{"role": "user", "content": "how long for a refund?"}]})
    texts: dict[str, Any] = {"ai__prompt": asked, "ai__response__text": "A week."} | GIVEN | fields
    return span("1", ai__operationId=operation, **texts)


def step(span_id: str, *, operation: str = "ai.generateText.doGenerate", **fields: Any) -> dict[str, Any]:
    asked = json.dumps([{"role": "user", "content": [{"type": "text", "text": "how long for a refund?"}]}])
    model: dict[str, Any] = {"ai__model__id": "m1", "gen_ai__request__model": "m1", "gen_ai__usage__input_tokens": 7}
    return span(span_id, "1", ai__operationId=operation, ai__prompt__messages=asked, **(model | GIVEN | fields))


def tool(name: str = "getInformation", result: str = PASSAGES) -> dict[str, Any]:
    return span(
        "4",
        "1",
        ai__operationId="ai.toolCall",
        ai__toolCall__name=name,
        ai__toolCall__args='{"question": "refund time"}',
        ai__toolCall__result=result,
        **GIVEN,
    )


def test_a_call_with_a_retrieving_tool_is_one_interaction_with_its_passages_and_tokens() -> None:
    chosen = step("2", ai__usage__outputTokens=3)
    said = step("3", at=2, ai__usage__outputTokens=4, ai__response__text="A week.")
    made = read_values(ADAPTER, [batch(call(), chosen, said, tool())]).only
    assert (made.question, made.answer, made.session_id, made.user_id) == (
        "how long for a refund?",
        "A week.",
        "s1",
        "u1",
    )
    assert [(chunk.chunk_id, chunk.text, chunk.score) for chunk in made.retrieved] == [
        ("c1", "Refunds take a week.", 0.75)
    ]
    assert (made.model, made.input_tokens, made.output_tokens) == ("m1", 14, 7)


def test_a_streamed_call_and_a_plain_prompt_are_read() -> None:
    asked: dict[str, Any] = {"ai__prompt": json.dumps({"system": "Be short.", "prompt": "where is it?"})}
    made = read_values(ADAPTER, [batch(call(operation="ai.streamText", **asked))]).only
    assert (made.question, made.answer) == ("where is it?", "A week.")


def test_an_object_is_the_answer_where_no_text_was_generated() -> None:
    produced: dict[str, Any] = {
        "ai__response__text": "",
        "ai__response__object": '{"answer": "A week.", "confidence": 0.9}',
    }
    assert read_values(ADAPTER, [batch(call(operation="ai.generateObject", **produced))]).only.answer == "A week."


def test_context_that_version_seven_adds_to_genai_spans_names_session_and_user() -> None:
    messages = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "where is it?"}]}])
    replied = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "there"}]}])
    agent = span(
        "1",
        gen_ai__operation__name="invoke_agent",
        gen_ai__input__messages=messages,
        gen_ai__output__messages=replied,
        ai__settings__context__sessionId="s1",
        ai__settings__context__userId="u1",
        ai__settings__context__tenant="t1",
    )
    made = read_values(ADAPTER, [batch(agent)]).only
    assert (made.question, made.answer, made.session_id, made.user_id) == ("where is it?", "there", "s1", "u1")
    assert made.metadata is not None
    assert made.metadata["tenant"] == "t1"


def test_a_tool_that_looks_nothing_up_gives_no_passages() -> None:
    assert read_values(ADAPTER, [batch(call(), tool(name="sendMail"))]).only.retrieved == ()


def test_calls_without_texts_are_said_to_have_capture_off() -> None:
    silent = call(ai__prompt="", ai__response__text="")
    assert read_values(ADAPTER, [batch(silent)]).skips == ["content capture is off"]

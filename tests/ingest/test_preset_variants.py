"""The shipped mappings read what other versions, calls and dumps of their tools hold."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ingest.loading import ingest
from ingest.log_store import LogStore
from tests.ingest.ingest_support import rows, write_lines

ASKED = {"role": "user", "content": "Where is my invoice?"}
REPLY = {"role": "assistant", "content": "Under Billing."}
CHOICES: dict[str, Any] = {"choices": [{"index": 0, "message": REPLY, "finish_reason": "stop"}]}
COMPLETION: dict[str, Any] = {
    "id": "c1",
    "object": "chat.completion",
    "created": 1_793_609_970,
    "model": "m",
    **CHOICES,
}
SPOKEN = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Under Billing."}]}
DECLINED = {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot help."}]}
RESPONSE: dict[str, Any] = {"id": "r1", "object": "response", "created_at": 1_793_609_970, "output": [SPOKEN]}
CALL: dict[str, Any] = {"litellm_call_id": "l1", "call_type": "aresponses", "custom_llm_provider": "x"}
TOOL_CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "t", "function": {"name": "search"}}]}
REQUEST: dict[str, Any] = {"request_id": "h1", "request_created_at": "2026-11-02T09:00:00Z", "request_path": "/v1"}
SEARCHED = {"segment_id": "s1", "document_id": "d1", "content": "Invoices", "score": 0.8}
DIFY: dict[str, Any] = {"id": "m1", "conversation_id": "c1", "query": ASKED["content"], "answer": REPLY["content"]}
CITED = {"document": ["Invoices"], "metadata": [{"chunk_id": "s1"}]}
CHAT: dict[str, Any] = {"u": {"id": "u", "parentId": None, **ASKED}}
CHAT |= {"a": {"id": "a", "parentId": "u", **REPLY, "citations": [CITED]}}
STORED = {"text": "Under Billing.", "sources": [{"id": "s1", "text": "Invoices", "title": "kb", "score": 0.8}]}


class Variant(NamedTuple):
    """A record, the format its content tells, and what it says."""

    form: str
    record: Any
    answer: str | None = "Under Billing."
    chunks: tuple[str, ...] = ()
    vote: int | None = None


VARIANTS = {
    "a Responses call through LiteLLM": Variant("litellm", {**CALL, "messages": [ASKED], "response": RESPONSE}),
    "a LiteLLM call that ends in a tool call": Variant(
        "litellm",
        {**CALL, "messages": [ASKED], "response": {"object": "chat.completion", "choices": [{"message": TOOL_CALL}]}},
        answer=None,
    ),
    "Anthropic through Helicone": Variant(
        "helicone",
        {**REQUEST, "request_body": {"system": "Be brief.", "messages": [ASKED]}}
        | {
            "response_body": {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "text", "text": "Under Billing."}],
            }
        },
    ),
    "Gemini through Helicone": Variant(
        "helicone",
        {**REQUEST, "request_body": {"contents": [{"role": "user", "parts": [{"text": ASKED["content"]}]}]}}
        | {"response_body": {"candidates": [{"content": {"role": "model", "parts": [{"text": "Under Billing."}]}}]}},
    ),
    "Responses through Helicone": Variant(
        "helicone", {**REQUEST, "request_body": {"input": ASKED["content"]}, "response_body": RESPONSE}
    ),
    "a completion beside a page of messages": Variant(
        "openai_completions", {"completion": COMPLETION, "messages": {"object": "list", "data": [ASKED]}}
    ),
    "a completion beside its request": Variant(
        "openai_completions", {"request": {"messages": [ASKED]}, "response": COMPLETION}
    ),
    "a page of completions with their input": Variant(
        "openai_completions", {"object": "list", "data": [{**COMPLETION, "input": [ASKED]}], "has_more": False}
    ),
    "a response beside a page of input items": Variant(
        "openai_responses", {"response": RESPONSE, "input_items": {"data": [{"type": "message", **ASKED}]}}
    ),
    "a response that declines": Variant(
        "openai_responses", {**RESPONSE, "input": [ASKED], "output": [DECLINED]}, answer="I cannot help."
    ),
    "Dify's table of messages": Variant(
        "dify",
        {**DIFY, "inputs": "{}", "message_metadata": json.dumps({"retriever_resources": [SEARCHED]})},
        chunks=("s1",),
    ),
    "Dify's console": Variant(
        "dify", {**DIFY, "inputs": {}, "feedbacks": [{"rating": "dislike", "from_source": "user"}]}, vote=-1
    ),
    "citations of an older Open WebUI": Variant(
        "open_webui", {"id": "c1", "chat": {"history": {"messages": CHAT}}}, chunks=("s1",)
    ),
    "a Haystack pipeline with messages and a file for a source": Variant(
        "haystack",
        {
            "query": ASKED["content"],
            "outputs": {
                "retriever": {"documents": [{"id": "s1", "content": "Invoices", "source": "kb.md"}]},
                "llm": {"replies": [{"role": "assistant", "content": [{"text": "Under Billing."}]}]},
            },
        },
        chunks=("s1",),
    ),
    "AnythingLLM's table of chats": Variant(
        "anythingllm_chats",
        {"id": 1, "workspaceId": 1, "prompt": ASKED["content"], "response": json.dumps(STORED), "feedbackScore": True}
        | {"createdAt": 1_793_609_970_000},
        chunks=("s1",),
        vote=1,
    ),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_gives_its_turn(name: str, tmp_path: Path, store: LogStore) -> None:
    variant = VARIANTS[name]
    report = ingest([write_lines(tmp_path / "log", [variant.record])], store=store, workers=1)
    assert (report.files[0].format, report.quarantined) == (variant.form, 0)
    told = rows(store, "SELECT question, answer, feedback FROM interactions")
    assert told == [("Where is my invoice?", variant.answer, variant.vote)]
    assert rows(store, "SELECT chunk_id FROM retrieved ORDER BY rank") == [(chunk,) for chunk in variant.chunks]


def test_embeddings_through_helicone_are_no_questions(tmp_path: Path, store: LogStore) -> None:
    body = {"request_body": {"input": "Where?"}, "response_body": {"object": "list"}}
    record = {**REQUEST, **body, "request_path": "/v1/embeddings"}
    report = ingest([write_lines(tmp_path / "log", [record])], store=store, workers=1)
    assert (report.interactions.new, report.skipped) == (0, {"left out by where": 1})

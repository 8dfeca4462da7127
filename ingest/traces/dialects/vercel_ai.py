"""Vercel's AI SDK for JavaScript: calls such as `generateText`, their steps and their tools, in `ai.` attributes.

From version 7 on these attributes are optional, and most of what they say stands in GenAI attributes.
"""

from typing import Any

from ingest.traces.dialects.raw_span import DialectFacts, RawSpan
from ingest.traces.dialects.values import (
    PROMPT_VERSION_KEYS,
    SESSION_KEYS,
    USER_KEYS,
    first_of,
    kept_metadata,
    model_in,
    name_in,
    under,
)
from ingest.traces.documents import chunks_of_tool
from ingest.traces.facts import SpanFacts
from ingest.traces.numbers import whole
from ingest.traces.texts import answer_in, parsed, question_in, said

_GIVEN = ("ai.telemetry.metadata.", "ai.settings.context.")
"""What the application adds: up to version 6, and from 7 on."""
_STEPS = (".doGenerate", ".doStream")
_CALLS = frozenset({"ai.generateText", "ai.streamText", "ai.generateObject", "ai.streamObject"})


def read(span: RawSpan) -> DialectFacts | None:
    """Return what a span of the AI SDK says; None when it has none of its attributes."""
    attributes = span.attributes
    if not any(key.startswith("ai.") for key in attributes):
        return None
    given = under(attributes, *_GIVEN)
    facts = SpanFacts(
        kind=_kind_of(attributes),
        session_id=name_in(given, SESSION_KEYS),
        prompt_version=name_in(given, PROMPT_VERSION_KEYS),
        metadata=kept_metadata(given),
    )
    if facts.kind == "tool":
        _read_tool(facts, attributes)
    elif facts.kind in {"chain", "llm"}:
        _read_call(facts, attributes)
    facts.is_silent = facts.kind in {"", "chain", "llm"} and facts.question is None and facts.answer is None
    return DialectFacts(facts, name_in(given, USER_KEYS))


def _kind_of(attributes: dict[str, Any]) -> str:
    operation = str(attributes.get("ai.operationId", ""))
    if operation == "ai.toolCall":
        return "tool"
    if operation.endswith(_STEPS):
        return "llm"
    if operation.startswith("ai.embed"):
        return "embedding"
    return "chain" if operation in _CALLS else ""


def _read_tool(facts: SpanFacts, attributes: dict[str, Any]) -> None:
    facts.query = question_in(attributes.get("ai.toolCall.args"))
    facts.chunks = chunks_of_tool(str(attributes.get("ai.toolCall.name", "")), attributes.get("ai.toolCall.result"))


def _read_call(facts: SpanFacts, attributes: dict[str, Any]) -> None:
    facts.question = question_in(_asked(attributes))
    facts.answer = said(first_of(attributes, "ai.response.text", "ai.result.text")) or answer_in(
        first_of(attributes, "ai.response.object", "ai.result.object")
    )
    facts.is_cut = attributes.get("ai.response.finishReason") == "error"
    if facts.kind == "llm":
        facts.model = model_in(attributes, ("ai.response.model", "ai.model.id"))
        facts.input_tokens = whole(first_of(attributes, "ai.usage.inputTokens", "ai.usage.promptTokens"))
        facts.output_tokens = whole(first_of(attributes, "ai.usage.outputTokens", "ai.usage.completionTokens"))


def _asked(attributes: dict[str, Any]) -> Any:
    """Return the prompt or the messages of a call; what it says of the system is no question."""
    asked = parsed(first_of(attributes, "ai.prompt.messages", "ai.prompt"))
    return (asked.get("messages") or asked.get("prompt")) if isinstance(asked, dict) else asked

"""OpenTelemetry's GenAI conventions, from indexed prompts to messages in one attribute, and their log events."""

from typing import Any

from ingest.interaction import FeedbackEvent
from ingest.traces.dialects.raw_span import DialectFacts, RawSpan
from ingest.traces.dialects.values import SESSION_KEYS, USER_KEYS, first_of, model_in, name_in
from ingest.traces.documents import chunks_in, chunks_of_tool, iter_numbered
from ingest.traces.errors import error_line
from ingest.traces.facts import SpanFacts
from ingest.traces.identity import TRACE_SOURCE, moment_of
from ingest.traces.numbers import decimal, whole
from ingest.traces.texts import answer_in, parsed, question_in, said
from ingest.traces.votes import scorer_kind, vote_value

_KIND_OF_OPERATION = {
    "chat": "llm",
    "text_completion": "llm",
    "completion": "llm",
    "generate_content": "llm",
    "responses": "llm",
    "embeddings": "embedding",
    "embedding": "embedding",
    "retrieval": "retriever",
    "retrieve": "retriever",
    "vector_db_retrieve": "retriever",
    "rerank": "reranker",
    "execute_tool": "tool",
    "invoke_agent": "agent",
    "create_agent": "agent",
    "invoke_workflow": "chain",
    "execute_task": "chain",
}
_MODEL_KEYS = ("gen_ai.response.model", "gen_ai.request.model")
_SESSION_KEYS = ("gen_ai.conversation.id", "session.id", "langfuse.session.id")
_USER_KEYS = ("user.id", "enduser.id", "enduser.pseudo.id")
_TOOL_RESULTS = ("gen_ai.tool.call.result", "tool_response", "gcp.vertex.agent.tool_response")
_TOOL_ARGUMENTS = ("gen_ai.tool.call.arguments", "tool_arguments", "gcp.vertex.agent.tool_call_args")
"""As the conventions, Pydantic AI before them and Google's ADK spell them."""
_CUT_REASONS = frozenset({"error", "cancelled", "canceled", "aborted", "incomplete"})
_ASKED_EVENTS = frozenset({"gen_ai.user.message", "gen_ai.content.prompt"})
_CONTENT_EVENTS = frozenset(
    {"gen_ai.client.inference.operation.details", "gen_ai.client.operation.details", "gen_ai.content.completion"}
)


def read(span: RawSpan) -> DialectFacts | None:
    """Return what a span in GenAI attributes says; None when it has none."""
    attributes = span.attributes
    kind = _kind_of(attributes)
    if not kind:
        return None
    facts = SpanFacts(kind=kind, session_id=name_in(attributes, _SESSION_KEYS), metadata=_metadata(span))
    if kind == "embedding":
        return DialectFacts(facts, name_in(attributes, _USER_KEYS))
    _read_content(facts, attributes)
    for name, event in span.events:
        _read_event(facts, name, event, event)
    if kind in {"retriever", "reranker", "tool"}:
        facts.query = name_in(attributes, ("gen_ai.retrieval.query.text", "gen_ai.rerank.query", "db.query.text"))
        facts.chunks = chunks_in(attributes.get("gen_ai.retrieval.documents"))
    if kind == "tool":
        called = name_in(attributes, ("gen_ai.tool.name",)) or span.name
        facts.chunks = facts.chunks or chunks_of_tool(called, _result_of_tool(span))
        facts.query = facts.query or question_in(first_of(attributes, *_TOOL_ARGUMENTS))
    facts.is_silent = kind in {"llm", "agent", "chain"} and facts.question is None and facts.answer is None
    return DialectFacts(facts, name_in(attributes, _USER_KEYS))


def _result_of_tool(span: RawSpan) -> Any:
    """Return what a tool gave back; Strands Agents writes it as the message that the tool chose."""
    chosen = next((event.get("message") for name, event in span.events if name == "gen_ai.choice"), None)
    return first_of(span.attributes, *_TOOL_RESULTS) or chosen


def _kind_of(attributes: dict[str, Any]) -> str:
    operation = attributes.get("gen_ai.operation.name")
    if isinstance(operation, str) and operation:
        return _KIND_OF_OPERATION.get(operation.lower(), "chain")
    request = attributes.get("llm.request.type")
    if isinstance(request, str):
        return {"embedding": "embedding", "rerank": "reranker"}.get(request, "llm")
    if any(key in attributes for key in ("gen_ai.request.model", "gen_ai.response.model", "gen_ai.prompt.0.content")):
        return "llm"
    if "gen_ai.retrieval.documents" in attributes:
        return "retriever"
    return "chain" if any(key.startswith("gen_ai.") for key in attributes) else ""


def _read_content(facts: SpanFacts, attributes: dict[str, Any]) -> None:
    asked = attributes.get("gen_ai.input.messages") or attributes.get("pydantic_ai.all_messages")
    replied = attributes.get("gen_ai.output.messages") or attributes.get("final_result")
    facts.question = question_in(asked) or _last_prompt(attributes)
    facts.answer = answer_in(replied) or _last_completion(attributes)
    facts.question = _variable(attributes, facts.question)
    facts.prompt_version = name_in(attributes, ("gen_ai.prompt.version", "gen_ai.prompt_template.version"))
    facts.is_cut = _is_cut(attributes)
    if facts.kind != "llm":
        return
    facts.model = model_in(attributes, _MODEL_KEYS)
    facts.input_tokens = whole(first_of(attributes, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"))
    facts.output_tokens = whole(first_of(attributes, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"))
    facts.cost = decimal(attributes.get("gen_ai.usage.cost"))


def _variable(attributes: dict[str, Any], asked: str | None) -> str | None:
    """Return the prompt variable that holds the question when the message asked is a prompt built around it."""
    variable = name_in(attributes, ("gen_ai.prompt.variable.question", "gen_ai.prompt.variable.query"))
    if variable is not None and (asked is None or variable in asked):
        return variable
    return asked


def _last_prompt(attributes: dict[str, Any]) -> str | None:
    found = None
    for _, prompt in iter_numbered(attributes, "gen_ai.prompt."):
        if str(prompt.get("role", "user")).lower() in {"user", "human"}:
            found = question_in(prompt.get("content")) or found
    return found


def _last_completion(attributes: dict[str, Any]) -> str | None:
    found = None
    for _, completion in iter_numbered(attributes, "gen_ai.completion."):
        found = answer_in(completion.get("content")) or found
    return found


def _is_cut(attributes: dict[str, Any]) -> bool:
    reasons = parsed(attributes.get("gen_ai.response.finish_reasons"))
    stated = reasons if isinstance(reasons, list) else [reasons]
    return bool(stated) and any(isinstance(reason, str) and reason.lower() in _CUT_REASONS for reason in stated)


def _metadata(span: RawSpan) -> dict[str, Any]:
    service = span.resource.get("service.name")
    return {"service": service} if service else {}


def _read_event(facts: SpanFacts, name: str, attributes: dict[str, Any], body: Any) -> None:
    """Take the texts of one log or span event; a later user message counts."""
    if name in _ASKED_EVENTS:
        facts.question = question_in(_content(body, attributes, "gen_ai.prompt")) or facts.question
    elif name == "gen_ai.choice":
        facts.answer = answer_in(_message(body)) or facts.answer
        reason = body.get("finish_reason") if isinstance(body, dict) else None
        facts.is_cut = facts.is_cut or (isinstance(reason, str) and reason.lower() in _CUT_REASONS)
    elif name in _CONTENT_EVENTS:
        facts.question = facts.question or question_in(attributes.get("gen_ai.input.messages"))
        facts.answer = facts.answer or answer_in(
            attributes.get("gen_ai.output.messages") or attributes.get("gen_ai.completion")
        )


def _content(body: Any, attributes: dict[str, Any], fallback: str) -> Any:
    if isinstance(body, dict) and "content" in body:
        return body["content"]
    return body if isinstance(body, str) else attributes.get(fallback)


def _message(body: Any) -> Any:
    if not isinstance(body, dict):
        return body
    message = body.get("message", body)
    return {"role": "assistant", **message} if isinstance(message, dict) else message


def read_log(record: RawSpan, body: Any) -> DialectFacts | None:
    """Return what a log event of a span says (its name in `record.name`); None when it carries no content.

    Such an event is a piece of the span it is bound to, and stands for it while the span itself is missing.
    """
    facts = SpanFacts(kind="llm", of=record.span_id)
    facts.session_id = name_in(record.attributes, (*_SESSION_KEYS, *SESSION_KEYS))
    if record.name in _CONTENT_EVENTS:
        details = record.attributes if not isinstance(body, dict) else {**body, **record.attributes}
        facts.kind = _kind_of(details) or "llm"
        _read_content(facts, details)
        facts.query = name_in(details, ("gen_ai.retrieval.query.text",))
        facts.chunks = chunks_in(details.get("gen_ai.retrieval.documents"))
        facts.error = error_line(None, details.get("error.type"))
    else:
        _read_event(facts, record.name, record.attributes, body)
    if not (facts.question or facts.answer or facts.query or facts.chunks):
        return None
    return DialectFacts(facts, name_in(record.attributes, (*_USER_KEYS, *USER_KEYS)))


def evaluation(record: RawSpan) -> FeedbackEvent | None:
    """Return the vote in a `gen_ai.evaluation.result` event, bound to the trace it was recorded in."""
    attributes = record.attributes
    name = name_in(attributes, ("gen_ai.evaluation.name",)) or "evaluation"
    label = attributes.get("gen_ai.evaluation.score.label") or attributes.get("gen_ai.evaluation.label")
    value = vote_value(attributes.get("gen_ai.evaluation.score.value"), label)
    session_id = name_in(attributes, _SESSION_KEYS)
    target = record.trace_id or session_id
    if value is None or not target:
        return None
    return FeedbackEvent(
        source=TRACE_SOURCE,
        target_kind="interaction" if record.trace_id else "session",
        target_id=target,
        name=name,
        value=value,
        scorer_kind=scorer_kind(attributes.get("gen_ai.evaluation.source"), name),
        comment=said(attributes.get("gen_ai.evaluation.explanation")),
        given_at=moment_of(record.start_ns),
        event_id=f"{record.trace_id}:{record.span_id}:{name}:{record.start_ns}",
    )

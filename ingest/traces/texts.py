"""Find what the user asked and what the assistant said inside the inputs and outputs that tools log."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from ingest.literals import literal

_MISSING = frozenset({"", "null", "__REDACTED__", "redacted-by-litellm", "default-message-value", "{}", "[]"})
_MISSING_STARTS = frozenset({*(marker[:1] for marker in _MISSING), "<"})
_UNREAD_STREAM = re.compile(r"<(?:async_)?(?:generator|coroutine)\b[^<>]*>|<[\w.]+ object at 0x[0-9a-fA-F]+>")
"""What Python prints for a stream that nobody had read when the span was written, or for any object without a text."""
SPACES = frozenset(character for character in map(chr, range(0x3001)) if character.isspace())
UNPLAIN_STARTS = _MISSING_STARTS | SPACES | {"{", "["}
"""What a text begins with that may be blank, hide its content, or be the JSON of an object or a list."""
_DEEPEST = 8
_LONGEST_BLANK = 200
_REPR_TEXT = re.compile(
    r"""(?:ChatMessage\(.{0,80}?text=|StopEvent\(result=|(?:(?:AI|Human)Message(?:Chunk)?\()?content=)"""
    r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\[.*?\](?=,? additional_kwargs=))[,)\s]""",
    re.DOTALL,
)
_STOPPED = "StopEvent(result="
PRINTED_STARTS = ("content=", "HumanMessage", "AIMessage", "ChatMessage(", "StopEvent(")
"""What a text begins with that is the Python repr of a message, or of what ends a workflow."""
_USER_ROLES = frozenset({"user", "human", "humanmessage", "humanmessagechunk"})
_ASSISTANT_ROLES = frozenset({"assistant", "ai", "aimessage", "aimessagechunk", "model", "bot", "chatbot"})
_OTHER_ROLES = frozenset(
    {"system", "developer", "tool", "function", "systemmessage", "toolmessage", "functionmessage", "chatmessage"}
)
_ROLES = _USER_ROLES | _ASSISTANT_ROLES | _OTHER_ROLES
_SILENT_PARTS = frozenset(
    {"reasoning", "thinking", "redacted_thinking", "tool_use", "tool_call", "tool_calls", "tool_call_response"}
    | {"tool_result", "function_call", "image", "image_url", "input_image", "audio", "input_audio", "file"}
)
_QUESTION_KEYS = (
    *("question", "user_question", "query", "user_query", "user_input", "user_message", "query_str", "query_text"),
    *("input", "prompt", "message", "messages", "text", "input_text", "human_input", "chat_input", "search_query", "q"),
    *("inputs", "query_bundle", "content", "kwargs", "kwds", "args", "data", "body", "request", "value", "parts"),
)
_ANSWER_KEYS = (
    *("answer", "final_answer", "output_text", "output", "response", "result", "reply", "replies", "answers"),
    *("completion", "completions", "generated_text", "generation", "final_output", "response_text", "return_values"),
    *("text", "message", "messages", "content", "generations", "choices", "candidates", "outputs", "data", "body"),
    *("value", "parts"),
)
_NOT_SPEECH = frozenset(
    {"session", "session_id", "sessionid", "user", "user_id", "userid", "conversation_id", "thread_id", "id", "uuid"}
    | {"trace_id", "run_id", "request_id", "tags", "metadata", "config", "configurable", "callbacks", "name", "type"}
    | {"model", "model_name", "temperature", "locale", "language", "lang", "tenant", "tenant_id", "role", "status"}
    | {"context", "contexts", "documents", "docs", "chunks", "sources", "source_documents", "source_nodes", "nodes"}
    | {"chat_history", "history", "memory", "system", "system_prompt", "instructions", "template", "tools", "usage"}
    | {"finish_reason", "stop_reason", "scratchpad", "agent_scratchpad", "intermediate_steps", "timestamp"}
    | {"object", "system_fingerprint", "service_tier", "provider", "modelversion", "modelid", "version"}
    | {"error", "errors", "exception", "traceback", "stack_trace", "created_at"}
    | {"ev", "start_event", "init_state"}  # of a workflow of LlamaIndex: printed events that start a step
)


def said(value: Any) -> str | None:
    """Return `value` when it is a text that says something, None for blanks and for what hides content."""
    if not isinstance(value, str):
        return None
    if value[:1] not in _MISSING_STARTS and not value[:1].isspace():
        return value  # nearly every text, told by its first character
    if value.strip() in _MISSING or _UNREAD_STREAM.fullmatch(value.strip()):
        return None
    return None if value[0] == "{" and len(value) < _LONGEST_BLANK and _is_blank_object(value) else value


def _is_blank_object(text: str) -> bool:
    found = parsed(text)
    return isinstance(found, dict) and all(inner in ("", None, [], {}) for inner in found.values())


def parsed(value: Any) -> Any:
    """Return the JSON object or array that a text spells, else `value` itself."""
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "["}:
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
    return value


def unquoted(value: Any) -> Any:
    """Return what a text spells as JSON of any kind, a quoted string too, else `value` itself."""
    if isinstance(value, str) and value[:1] == '"':
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
    return parsed(value)


def question_in(value: Any) -> str | None:
    """Return the last user message inside `value`: a text, messages in any spelling, or the arguments of a call."""
    return _question(value, 0)


def answer_in(value: Any) -> str | None:
    """Return the last assistant text inside `value`: a text, messages, a provider's response, or a returned object."""
    return _answer(value, 0)


def _question(value: Any, depth: int) -> str | None:
    found = parsed(value)
    if isinstance(found, str):
        return said(_unwrapped(found))
    if depth > _DEEPEST:
        return None
    text = None
    if isinstance(found, dict):
        text = _question_of_object(found, depth)
    elif isinstance(found, list):
        text = _question_of_list(found, depth)
    return text if text or not depth else said(value)  # inside a message, JSON that asks nothing is the text itself


def _question_of_object(value: dict[str, Any], depth: int) -> str | None:
    role = role_of(value)
    if role in _ROLES:
        return _question(content_of(value), depth + 1) if role in _USER_ROLES else None
    for key in _QUESTION_KEYS:
        if key in value and (text := _question(value[key], depth + 1)):
            return text
    return _only_text(value) or _first(_question(inner, depth + 1) for inner in _containers(value))


def _question_of_list(value: list[Any], depth: int) -> str | None:
    messages = list(messages_in(value))
    if messages:
        return _first(_question_of_object(message, depth + 1) for message in reversed(messages))
    if all(isinstance(inner, str) and inner.startswith(PRINTED_STARTS) for inner in value):
        # Printed messages, of which the user's comes last.
        return _first(_question(inner, depth + 1) for inner in reversed(value))
    return _first(_question(inner, depth + 1) for inner in value)


def _answer(value: Any, depth: int) -> str | None:
    found = parsed(value)
    if isinstance(found, str):
        return _answer_of_result(found, depth) if found.startswith(_STOPPED) else said(_unwrapped(found))
    if depth > _DEEPEST:
        return None
    if isinstance(found, dict):
        return _answer_of_object(found, depth)
    if isinstance(found, list):
        return _answer_of_list(found, depth)
    return None


def _answer_of_result(text: str, depth: int) -> str | None:
    """Return the answer in the printed end of a workflow; what was shortened so that it cannot be read holds none."""
    try:
        result = literal(text[len(_STOPPED) :].rstrip().removesuffix(")"))
    except ValueError:
        inner = _unwrapped(text)
        return said(inner) if inner is not text else None
    return _answer(result, depth + 1)


def _unwrapped(text: str) -> str:
    """Return the text inside the Python repr of a message object, as pipelines log what JSON cannot hold."""
    found = _REPR_TEXT.match(text) if text.startswith(PRINTED_STARTS) else None
    if found is None:
        return text
    try:
        inner = literal(found[1])
    except ValueError:
        return text
    return inner if isinstance(inner, str) else content_of({"content": inner}) or text


def _answer_of_object(value: dict[str, Any], depth: int) -> str | None:
    role = role_of(value)
    if role in _ROLES:
        return content_of(value) if role in _ASSISTANT_ROLES else None
    if value.get("type") in _SILENT_PARTS:
        return None
    if "json_dict" in value and (text := said(value.get("raw"))):
        return text  # what a crew or a task of CrewAI returns, its messages beside it
    for key in _ANSWER_KEYS:
        if key in value and (text := _answer(value[key], depth + 1)):
            return text
    inner = _first(_answer(held, depth + 1) for held in _containers(value))
    return inner or _only_text({key: text for key, text in value.items() if key not in _QUESTION_KEYS})


def _answer_of_list(value: list[Any], depth: int) -> str | None:
    messages = list(messages_in(value))
    if messages:
        return _first(content_of(message) for message in reversed(messages) if role_of(message) in _ASSISTANT_ROLES)
    if value and all(isinstance(inner, str) for inner in value):
        return said("".join(_unwrapped(part) for part in value))
    if value and all(isinstance(inner, dict) and _is_text_part(inner) for inner in value):
        return content_of({"content": value})
    return _first(_answer(inner, depth + 1) for inner in value)


def role_of(message: dict[str, Any]) -> str:
    """Return the lower-case role of a chat message in any spelling, '' when `message` is none."""
    role = message.get("role") or message.get("_role")
    if isinstance(role, dict):  # an enum written as an object
        role = role.get("value")
    if not role and message.get("lc") and isinstance(message.get("id"), list) and message["id"]:
        role = message["id"][-1]
    if not role and ("content" in message or "data" in message):
        role = message.get("type")
    return role.rpartition(".")[2].lower() if isinstance(role, str) else ""


def content_of(message: dict[str, Any]) -> str | None:
    """Return the text of a chat message: a string, or its text parts one a line."""
    held = message.get("kwargs") if message.get("lc") else message.get("data")
    inside = held if isinstance(held, dict) else message
    for key in ("content", "parts", "_content", "text", "contents", "blocks"):
        content = inside.get(key)
        if isinstance(content, str):
            return said(content)
        if isinstance(content, dict):
            return content_of(content)
        if isinstance(content, list) and content:
            return said("\n".join(_part_texts(content)))
    return said(inside.get("refusal"))


def messages_in(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the chat messages of a list, of a list of lists, or of [role, text] pairs."""
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict) and role_of(item) in _ROLES:
            yield item
        elif isinstance(item, list):
            yield from _messages_of_inner_list(item)


def _messages_of_inner_list(item: list[Any]) -> Iterator[dict[str, Any]]:
    if len(item) == 2 and all(isinstance(part, str) for part in item) and item[0].lower() in _ROLES:  # noqa: PLR2004
        yield {"role": item[0], "content": item[1]}
    else:
        yield from (part for part in item if isinstance(part, dict) and role_of(part) in _ROLES)


def _part_texts(parts: list[Any]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict) and part.get("type") not in _SILENT_PARTS:
            text = part.get("text") or part.get("content") or part.get("refusal")
            text = text.get("value") if isinstance(text, dict) else text
            if isinstance(text, str):
                yield text


def _is_text_part(part: dict[str, Any]) -> bool:
    return part.get("type") in {"text", "output_text", "input_text"} or part.get("type") in _SILENT_PARTS


def _only_text(value: dict[str, Any]) -> str | None:
    texts = [text for key, text in value.items() if key.lower() not in _NOT_SPEECH and said(text)]
    return texts[0] if len(texts) == 1 else None


def _containers(value: dict[str, Any]) -> Iterator[Any]:
    for key, inner in value.items():
        if isinstance(inner, dict | list) and key.lower() not in _NOT_SPEECH:
            yield inner


def _first(texts: Iterable[str | None]) -> str | None:
    return next((text for text in texts if text), None)

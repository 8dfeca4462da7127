"""Proposes the shape of logs of conversations: a list of messages in a record, or a record a message."""

from typing import Any

from ingest.suggesting.field_names import FIELD_NAMES
from ingest.suggesting.lines import field_line, quoted, retrieved_line
from ingest.suggesting.log_fields import (
    FITS,
    LogField,
    are_chunks,
    are_ids,
    are_texts,
    are_times,
    best_field,
    fields_of,
)

_ROLE_KEYS = ("role", "sender", "author", "type", "from", "speaker")
_TEXT_KEYS = ("content", "text", "message", "body", "value", "parts")
_USER_ROLES = frozenset({"user", "human"})
_ROLES = _USER_ROLES | {"assistant", "ai", "bot", "model", "gpt", "chatbot", "system", "developer", "tool", "function"}
_MESSAGE_IDS = ("message_id", "msg_id", "id", "uuid")
_PARENT_IDS = ("parent_id", "parent", "reply_to", "in_reply_to", "parent_message_id")


def conversation(fields: list[LogField]) -> list[str] | None:
    """Recognise a record that is a whole conversation, or a request to a model: a list of messages with a role each."""
    for field in fields:
        talks = [value for value in field.values if isinstance(value, list)]
        items = [item for value in talks for item in value]
        keys = _message_keys(items)
        if keys is None:
            continue
        if keys == ("role", "content") and sum(_ends_asking(talk) for talk in talks) > len(talks) / 2:
            return _request(field, fields)
        return _turns(field, keys, fields_of(items[:500]), fields)
    return None


def _turns(field: LogField, keys: tuple[str, str], inner: list[LogField], fields: list[LogField]) -> list[str]:
    role, body = keys
    lines = ["interactions:", f"  turns: {{list: {quoted(field.path)}, role: {quoted(role)}}}"]
    named = _lines_of(("session_id",), fields) or _own_id(fields)
    lines.extend([*named, *_lines_of(("user_id", "model"), fields)])
    if at := best_field(inner, FIELD_NAMES["asked_at"], are_times):
        lines.append(f"  asked_at: user.{at.path}")
    else:
        lines.extend(_lines_of(("asked_at",), fields))
    return [*lines, f"  question: user.{body}", f"  answer: assistant.{body}"]


def _own_id(fields: list[LogField]) -> list[str]:
    """Return the line that makes the id of a conversation its session."""
    native = best_field([field for field in fields if field.depth == 0], FIELD_NAMES["id"], are_ids)
    return [f"  session_id: {quoted(native.path)}"] if native is not None else []


def _request(field: LogField, fields: list[LogField]) -> list[str]:
    """Map a call of a model: the question is the last message of the user, the answer stands elsewhere."""
    named = ("id", "session_id", "user_id", "asked_at")
    rest = ("model", "latency_ms", "input_tokens", "output_tokens", "cost", "error")
    choices = next((other for other in fields if other.names[0] == "choices"), None)
    answer = [f"  answer: '{choices.path}[0].message.content'"] if choices else _lines_of(("answer",), fields)
    asked = f"  question: last_user({field.path})"
    return ["interactions:", *_lines_of(named, fields), asked, *answer, *_lines_of(rest, fields)]


def _lines_of(names: tuple[str, ...], fields: list[LogField]) -> list[str]:
    found = ((name, best_field(fields, FIELD_NAMES[name], FITS.get(name, are_texts))) for name in names)
    return [field_line(name, field, fields) for name, field in found if field is not None]


def _ends_asking(talk: list[Any]) -> bool:
    return bool(talk) and str(talk[-1].get("role")).lower() in _USER_ROLES


def _message_keys(items: list[Any]) -> tuple[str, str] | None:
    objects = [item for item in items if isinstance(item, dict)]
    if not objects or len(objects) < len(items):
        return None
    for role in _ROLE_KEYS:
        if all(str(item.get(role, "")).lower() in _ROLES for item in objects):
            body = next((key for key in _TEXT_KEYS if any(key in item for item in objects)), None)
            return (role, body) if body else None
    return None


def messages(fields: list[LogField]) -> list[str] | None:
    """Recognise records that are one message each: a role, a text and a session."""
    by_name = {field.names[0]: field for field in fields if field.depth == 0}
    role = next((by_name[key] for key in _ROLE_KEYS if key in by_name and _are_roles(by_name[key].values)), None)
    body = _first_of(by_name, _TEXT_KEYS)
    session = best_field(fields, FIELD_NAMES["session_id"], are_ids)
    if role is None or body is None or session is None:
        return None
    at = best_field(fields, FIELD_NAMES["asked_at"], are_times)
    native, parent = _first_of(by_name, _MESSAGE_IDS), _first_of(by_name, _PARENT_IDS)
    stated = {"session": session, "role": role, "time": at, "message_id": native, "parent_id": parent}
    parts = [f"{name}: {quoted(field.path)}" for name, field in stated.items() if field is not None]
    lines = ["interactions:", f"  messages: {{{', '.join(parts)}}}"]
    if native is not None:
        lines.extend([f"  id: user.{native.path}", f"  aliases: [assistant.{native.path}]"])
    lines.append(f"  session_id: user.{session.path}")
    lines.extend([f"  asked_at: user.{at.path}"] if at else [])
    lines.extend([f"  question: user.{body.path}", f"  answer: assistant.{body.path}"])
    chunks = best_field(fields, FIELD_NAMES["retrieved"], are_chunks)
    if chunks is not None:
        lines.append(retrieved_line(chunks, fields).replace("list: ", "list: assistant."))
    return lines


def _first_of(by_name: dict[str, LogField], names: tuple[str, ...]) -> LogField | None:
    return next((by_name[name] for name in names if name in by_name), None)


def _are_roles(values: list[Any]) -> bool:
    return all(isinstance(value, str) and value.lower() in _ROLES for value in values)

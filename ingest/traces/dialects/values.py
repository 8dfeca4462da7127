"""Take single values out of attributes: names, JSON objects."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import orjson

from ingest.traces.texts import said

SESSION_KEYS = ("session_id", "conversation_id", "thread_id", "sessionId", "conversationId", "threadId", "chat_id")
USER_KEYS = ("user_id", "userId", "end_user", "end_user_id", "user")
PROMPT_VERSION_KEYS = ("prompt_version", "prompt_tag", "promptVersion")
NO_MODELS = frozenset({"unknown", "None"})
"""What instrumentations write where they know no model."""
_KEPT_ELSEWHERE = frozenset({*SESSION_KEYS, *USER_KEYS})
_LONGEST_METADATA = 2_000


def name_in(attributes: Mapping[str, Any], keys: Iterable[str]) -> str | None:
    """Return the first of `keys` that names something, as text."""
    for key in keys:
        value = attributes.get(key)
        if value is not None and (name := _name(value)) is not None:
            return name
    return None


def _name(value: Any) -> str | None:
    if isinstance(value, str):
        text = said(value)
        return text.strip() if text is not None else None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return None


def first_of(values: Mapping[str, Any], *keys: str) -> Any:
    """Return the value of the first of `keys` that has one."""
    return next((value for key in keys if (value := values.get(key)) is not None), None)


def under(attributes: Mapping[str, Any], *prefixes: str) -> dict[str, Any]:
    """Return what stands under keys that begin with one of `prefixes`, by the rest of the key; the last one counts."""
    return {
        key[len(prefix) :]: value for prefix in prefixes for key, value in attributes.items() if key.startswith(prefix)
    }


def model_in(attributes: Mapping[str, Any], keys: Iterable[str]) -> str | None:
    """Return the first of `keys` that names a model."""
    name = name_in(attributes, keys)
    return None if name in NO_MODELS else name


def object_in(value: Any) -> dict[str, Any]:
    """Return a dict that may be written as JSON text; {} when it is none."""
    if value is None:
        return {}
    if isinstance(value, dict):
        return value
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        try:
            found = orjson.loads(value)
        except orjson.JSONDecodeError:
            return {}
        return found if isinstance(found, dict) else {}
    return {}


def kept_metadata(metadata: Mapping[str, Any], *, without: Collection[str] = ()) -> dict[str, Any]:
    """Return the entries worth keeping beside an interaction: no session, user or tool-made keys, nothing long."""
    if not metadata:
        return {}
    return {
        key: value
        for key, value in metadata.items()
        if key not in _KEPT_ELSEWHERE
        and key not in without
        and not key.startswith(
            ("ls_", "lc_", "LANGSMITH_", "langgraph_", "checkpoint", "resourceAttributes", "scope", "attributes")
        )
        and value is not None
        and not (isinstance(value, str) and len(value) > _LONGEST_METADATA)
        and not isinstance(value, bytes)
    }

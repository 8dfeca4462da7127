"""Looks through what log collectors and log stores wrap around the records of a program: Docker, Splunk and others."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ingest.reading.parsing import parse_line

_TEXT_KEYS = (
    *("log", "message", "msg", "textPayload", "MESSAGE", "line", "@message", "_raw", "Line", "Message", "LogMessage"),
    *("LogEntry", "short_message", "full_message"),
)
_OBJECT_KEYS = ("jsonPayload", "_source")
_DOCKER_SPLITS_AT = 16_000
_DEEPEST = 4
_MOST_WAYS = 60
_HELD_BY = 0.2
"""What share of records a key must be in to be looked into."""


class Wrapper(NamedTuple):
    """The key that holds the record, as JSON text or as an object, and the records of a sample."""

    key: str
    """Of a wrapper in a wrapper: their keys, joined by dots."""
    values: list[Any]


def wrapper_of(sample: list[Any]) -> Wrapper | None:
    """Return what the records of a sample are wrapped in, None when they stand for themselves."""
    objects = [value for value in sample if isinstance(value, dict)]
    for key in (*_TEXT_KEYS, *_OBJECT_KEYS):
        holding = sum(isinstance(value.get(key), str if key in _TEXT_KEYS else dict) for value in objects)
        if not objects or holding < len(objects) * 0.8:
            continue
        values = [value for value in _records(key, objects) if isinstance(value, dict)]
        pieces = sum(is_piece(key, value) for value in objects)
        if values and len(values) >= max(1, (holding - pieces) * 0.3):
            return Wrapper(key, values)
    return None


def possible_wrappers(sample: list[Any]) -> Iterator[Wrapper]:
    """Yield whatever in the records of a sample holds objects, or texts that are objects, the outermost first."""
    waiting = [Wrapper("", [value for value in sample if isinstance(value, dict)])]
    for _ in range(_MOST_WAYS):
        if not waiting:
            return
        around = waiting.pop(0)
        inside = list(_held_in(around))
        yield from inside
        if around.key.count(".") < _DEEPEST - 2:
            waiting.extend(inside)


def _held_in(around: Wrapper) -> Iterator[Wrapper]:
    keys = dict.fromkeys(key for value in around.values for key in value)
    for key in keys:
        if not isinstance(key, str) or not key or "." in key:
            continue
        found = [held for value in around.values if isinstance(held := opened(value.get(key)), dict) and held]
        if found and len(found) >= len(around.values) * _HELD_BY:
            yield Wrapper(f"{around.key}.{key}" if around.key else key, found)


def opened(value: Any) -> Any:
    """Return the object that a text spells, also behind a logging prefix, else `value` itself."""
    if type(value) is not str or "{" not in value:
        return value
    parsed = parse_line(value.encode("utf-8", "replace"))
    return value if parsed.fault else parsed.value


def _records(key: str, wrappers: Iterable[dict[str, Any]]) -> Iterator[Any]:
    pending: dict[Any, str] = {}
    for wrapper in wrappers:
        inner = wrapper.get(key)
        if not isinstance(inner, str):
            yield inner
            continue
        whole = pending.pop(line_of(wrapper), "") + inner
        if is_piece(key, wrapper):
            pending[line_of(wrapper)] = whole
        else:
            yield parse_line(whole.encode("utf-8", "replace")).value


def line_of(wrapper: dict[str, Any]) -> tuple[str, str]:
    """Return what tells whose line a piece is of: the pieces of two streams may alternate."""
    return str(wrapper.get("stream")), str(wrapper.get("partial_id"))


def is_piece(key: str, wrapper: dict[str, Any]) -> bool:
    """Return whether a wrapper holds a piece of a line that a later one goes on with.

    Docker splits lines above 16 KB and ends but the last piece; log collectors mark pieces by keys of their own.
    """
    inner = wrapper.get(key)
    if not isinstance(inner, str) or inner.endswith("\n"):
        return False
    if "logtag" in wrapper:
        return bool(wrapper["logtag"] == "P")
    if str(wrapper.get("partial_message")).lower() == "true":
        return str(wrapper.get("partial_last")).lower() != "true"
    if key != "log" or "stream" not in wrapper or len(inner) * 4 < _DOCKER_SPLITS_AT:
        return False
    return len(inner.encode("utf-8", "replace")) >= _DOCKER_SPLITS_AT

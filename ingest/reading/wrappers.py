"""Looks through what log collectors wrap around the records of a program: Docker, CloudWatch, journald and others."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ingest.reading.parsing import parse_line

_TEXT_KEYS = ("log", "message", "msg", "textPayload", "MESSAGE", "line", "@message")
_OBJECT_KEYS = ("jsonPayload", "_source")
_DOCKER_SPLITS_AT = 16_000


class Wrapper(NamedTuple):
    """The key that holds the record, as JSON text or as an object, and the records of a sample."""

    key: str
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


def _records(key: str, wrappers: Iterable[dict[str, Any]]) -> Iterator[Any]:
    pending = ""
    for wrapper in wrappers:
        inner = wrapper.get(key)
        if not isinstance(inner, str):
            yield inner
        elif is_piece(key, wrapper):
            pending += inner
        else:
            yield parse_line((pending + inner).encode("utf-8", "replace")).value
            pending = ""


def is_piece(key: str, wrapper: dict[str, Any]) -> bool:
    """Return whether a wrapper holds a piece of a line: Docker splits those above 16 KB, and ends but the last one."""
    inner = wrapper.get(key)
    is_cut = isinstance(inner, str) and len(inner) >= _DOCKER_SPLITS_AT and not inner.endswith("\n")
    return is_cut and key == "log" and "stream" in wrapper

"""The fields of a log: their paths, values and names, and which of them may be what of an interaction."""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

from ingest.adapters.mapping_paths import parsed_json
from ingest.normalising import instant, number, of_mongo

_DEEPEST = 3
_FITTING = 0.8
_PLAIN_KEY = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$")
_CLOCK = re.compile(
    r"^\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?: ?[AaPp]\.?[Mm]\.?)?(?: ?(?:UTC|GMT|Z|[+-]\d\d:?\d\d))?$"
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_EMPTY_NAMES = frozenset({"text", "content", "value", "body", "message", "id", "string", "name", "data"})
"""Names that say nothing without the one above them, as in `user.id` and `input.text`."""
Parsed = TypeVar("Parsed")
Fits = Callable[[list[Any]], bool]


class LogField(NamedTuple):
    """A field of a log: where it stands, and its values that are not null."""

    path: str
    values: list[Any]
    depth: int

    @property
    def names(self) -> tuple[str, ...]:
        """What it is called, the closest name first, in snake case."""
        keys = [_snake(key.strip('"')) for key in self.path.split(".")]
        if len(keys) > 1 and keys[-1] in _EMPTY_NAMES:
            return (f"{keys[-2]}_{keys[-1]}", keys[-2], keys[-1])
        return (keys[-1],)


def _snake(name: str) -> str:
    return _HUMP.sub("_", name).replace("-", "_").replace(" ", "_").lower()


def fields_of(records: list[dict[str, Any]]) -> list[LogField]:
    """Return the fields of records, looking into nested objects."""
    gathered: dict[str, list[Any]] = {}
    for record in records:
        for path, value in _leaves(record, "", 0):
            gathered.setdefault(path, []).append(value)
    return [
        LogField(path, [value for value in values if value is not None], path.count("."))
        for path, values in gathered.items()
    ]


def _leaves(record: dict[str, Any], prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
    for key, value in record.items():
        name = key if _PLAIN_KEY.match(str(key)) else f'"{key}"'
        path = f"{prefix}.{name}" if prefix else name
        held = of_mongo(
            parsed_json(value)
        )  # a path looks into JSON texts too, and values are read out of what wraps them
        if isinstance(held, dict) and depth < _DEEPEST:
            yield from _leaves(held, path, depth + 1)
        else:
            yield path, held if isinstance(held, list) or isinstance(value, dict) else value


def best_field(fields: list[LogField], names: tuple[str, ...], fits: Fits) -> LogField | None:
    """Return the field with the likeliest of `names` whose values fit; of several the least nested one."""
    for place in range(3):
        for name in names:
            named = [field for field in fields if field.names[place : place + 1] == (name,)]
            if matching := [field for field in named if field.values and fits(field.values)]:
                return min(matching, key=lambda field: field.depth)
    return None


def field_ending(fields: list[LogField], names: tuple[str, ...], fits: Fits) -> LogField | None:
    """Return the field whose name ends in the likeliest of `names` and whose values fit."""
    for name in names:
        ending = f"_{name}"
        for field in fields:
            if field.names[0].endswith(ending) and field.values and fits(field.values):
                return field
    return None


def are_texts(values: list[Any]) -> bool:
    """Return whether nearly all values may be texts."""
    return _nearly_all(values, lambda value: isinstance(value, str))


def are_ids(values: list[Any]) -> bool:
    """Return whether nearly all values may be ids: texts or whole numbers."""
    return _nearly_all(values, lambda value: isinstance(value, (str, int)) and not isinstance(value, bool))


def are_times(values: list[Any]) -> bool:
    """Return whether nearly all values may be times."""
    return _nearly_all(values[:50], lambda value: read_as(value, instant) is not None)


def with_clock(days: LogField, fields: list[LogField]) -> LogField:
    """Return a field of times joined with the one that holds the time of day, where each is a field of its own."""
    if not _nearly_all(days.values, lambda value: isinstance(value, str) and ":" not in value):
        return days
    for field in fields:
        if len(field.values) == len(days.values) and _nearly_all(field.values, _is_clock):
            values = [f"{day} {clock}" for day, clock in zip(days.values, field.values, strict=True)]
            return LogField(f"join(' ', [{days.path}, {field.path}])", values, days.depth)
    return days


def _is_clock(value: Any) -> bool:
    return isinstance(value, str) and _CLOCK.match(value.strip()) is not None


def are_numbers(values: list[Any]) -> bool:
    """Return whether nearly all values may be numbers."""
    is_flag = all(isinstance(value, bool) for value in values)
    return not is_flag and _nearly_all(values[:50], lambda value: read_as(value, number) is not None)


def read_as(value: Any, parse: Callable[[Any], Parsed | None]) -> Parsed | None:
    """Return what `parse` makes of a value, None where it makes nothing of it."""
    try:
        return parse(value)
    except (ValueError, TypeError, OverflowError, ArithmeticError):
        return None


def _nearly_all(values: list[Any], fits: Callable[[Any], bool]) -> bool:
    """Return whether at least `_FITTING` of the values fit: one odd record hides no field."""
    return sum(map(fits, values)) >= len(values) * _FITTING


def are_chunks(values: list[Any]) -> bool:
    """Return whether nearly all values may be lists of passages."""
    return _nearly_all(values, lambda value: isinstance(value, list)) and any(values)


def are_votes(values: list[Any]) -> bool:
    """Return whether nearly all values may be votes: words, numbers or yes and no."""
    return _nearly_all(values, lambda value: isinstance(value, (str, int, float, bool)))


FITS: dict[str, Fits] = {
    "id": are_ids,
    "session_id": are_ids,
    "user_id": are_ids,
    "asked_at": are_times,
    "retrieved": are_chunks,
    "feedback": are_votes,
    **dict.fromkeys(("latency_ms", "input_tokens", "output_tokens", "cost"), are_numbers),
}
"""What the values of a field of an interaction must be, where that is not text."""

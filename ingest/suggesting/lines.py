"""The lines of a proposed mapping file."""

import re
from typing import Any

from ingest.feedback import label_vote
from ingest.normalising import instant, number
from ingest.suggesting.field_names import CHUNK_NAMES
from ingest.suggesting.log_fields import (
    LogField,
    are_chunks,
    are_ids,
    are_numbers,
    are_texts,
    best_field,
    fields_of,
    read_as,
)
from ingest.written_times import order_seen

_YAML_WORDS = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
_FASTEST_MS = 100
"""The slowest answer of a log takes longer than that."""
_PLAIN = re.compile(r"^[A-Za-z_][\w.-]*$")


def field_line(name: str, field: LogField, fields: list[LogField]) -> str:
    """Return the line that maps a field of an interaction; `fields` are all those of the log."""
    if name == "retrieved":
        return retrieved_line(field, fields)
    if name == "feedback" and are_texts(field.values):
        if all(label_vote(str(value)) is not None for value in field.values):  # words that need no explanation
            return f"  feedback: {quoted(field.path)}"
        remark = "  # say 1 for up and -1 for down"
        return f"  feedback: {{path: {quoted(field.path)}, map: {{{_vote_map(field.values)}}}}}{remark}"
    if name == "asked_at" and _is_naive(field.values):
        remark = "# the times carry no zone: say theirs"
        if order_seen(field.values).is_open:
            remark += ", and `date_order: dmy` where the day comes first"
        return f"  asked_at: {{path: {quoted(field.path)}, timezone: UTC}}  {remark}"
    if name == "latency_ms" and _are_seconds(field):
        return f"  latency_ms: {{path: {quoted(field.path)}, unit: s}}  # taken for seconds by their size"
    return f"  {name}: {quoted(field.path)}"


def _are_seconds(field: LogField) -> bool:
    largest = max((found for value in field.values if (found := read_as(value, number)) is not None), default=0.0)
    return "ms" not in field.names[0].split("_") and largest < _FASTEST_MS


def _is_naive(values: list[Any]) -> bool:
    found = [read_as(value, instant) for value in values[:20]]
    return any(entry is not None and entry.is_naive for entry in found)


def _vote_map(values: list[Any]) -> str:
    seen = sorted(set(map(str, values)))[:10]
    return ", ".join(f"{quoted(value)}: {label_vote(value) or 0}" for value in seen)


def retrieved_line(field: LogField, fields: list[LogField]) -> str:
    """Return the line that maps a list of passages: of objects, of texts, or one of several parallel arrays."""
    items = [item for value in field.values if isinstance(value, list) for item in value]
    if items and all(isinstance(item, dict) for item in items):
        inner = fields_of(items[:500])
        parts = [f"list: {quoted(field.path)}"]
        for name, names in CHUNK_NAMES.items():
            if best := best_field(inner, names, are_numbers if name == "score" else are_ids):
                parts.append(f"{name}: {quoted(best.path)}")
        return f"  retrieved: {{{', '.join(parts)}}}"
    return _arrays_line(field, fields)


def _arrays_line(field: LogField, fields: list[LogField]) -> str:
    lists = [other for other in fields if other is not field and are_chunks(other.values)]
    parts = ["arrays: true", f"text: {quoted(field.path)}"]
    for name, hints in (("chunk_id", ("id", "ids")), ("score", ("score", "scores", "similarity", "distances"))):
        match = next((other for other in lists if any(hint in other.names[0] for hint in hints)), None)
        if match is not None:
            parts.append(f"{name}: {quoted(match.path)}")
    return f"  retrieved: {{{', '.join(parts)}}}"


def quoted(written: str) -> str:
    """Return a text as YAML, in quotes where it would be read as something else."""
    is_plain = _PLAIN.match(written) and written.lower() not in _YAML_WORDS
    return written if is_plain else "'" + written.replace("'", "''") + "'"

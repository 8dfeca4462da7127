"""Reads what log stores and databases answer, in the forms in which they pack records: Loki, CloudWatch and others."""

from collections.abc import Callable, Iterator
from typing import Any

Record = dict[str, Any]


def answers(value: Record) -> Iterator[tuple[str, list[Record]]]:
    """Yield the name of each form in which a document holds records, and the records."""
    for name, read in _FORMS.items():
        if records := read(value):
            yield name, records


def _streams(value: Record) -> list[Record]:
    """Read Loki's streams: labels, and pairs of a time and a line."""
    held = value.get("data")
    places = (value.get("streams"), value.get("result"), held.get("result") if isinstance(held, dict) else None)
    streams = next((place for place in places if isinstance(place, list)), [value])
    return [record for stream in streams if isinstance(stream, dict) for record in _lines_of(stream)]


def _lines_of(stream: Record) -> Iterator[Record]:
    labels, pairs = stream.get("stream"), stream.get("values")
    if not isinstance(labels, dict) or not isinstance(pairs, list):
        return
    for pair in pairs:
        if isinstance(pair, list) and len(pair) > 1 and isinstance(pair[1], str):
            yield {"timestamp": pair[0], "line": pair[1], "labels": labels}


def _field_pairs(value: Record) -> list[Record]:
    """Read the results of CloudWatch Logs Insights: rows of pairs of a field and its value."""
    rows = value.get("results")
    if not isinstance(rows, list):
        return []
    return [
        {str(pair["field"]): pair.get("value") for pair in row}
        for row in rows
        if isinstance(row, list) and row and all(isinstance(pair, dict) and "field" in pair for pair in row)
    ]


def _tables(value: Record) -> list[Record]:
    """Read the tables of Azure's log queries, in both spellings of their keys."""
    tables = value.get("tables") or value.get("Tables")
    records: list[Record] = []
    for table in tables if isinstance(tables, list) else []:
        columns, rows = (_either(table, key, key.capitalize()) for key in ("columns", "rows"))
        if isinstance(columns, list) and isinstance(rows, list):
            names = [str(_either(column, "name", "ColumnName")) for column in columns]
            records.extend(dict(zip(names, row, strict=False)) for row in rows if isinstance(row, list))
    return records


def _either(value: Any, *keys: str) -> Any:
    return next((value[key] for key in keys if isinstance(value, dict) and key in value), None)


def _named_fields(value: Record) -> list[Record]:
    """Read Splunk's `json_rows` and `json_cols`: names of fields beside rows or columns."""
    fields, rows, columns = value.get("fields"), value.get("rows"), value.get("columns")
    if not isinstance(fields, list) or not fields:
        return []
    names = [str(field.get("name") if isinstance(field, dict) else field) for field in fields]
    if isinstance(columns, list) and len(columns) == len(names) and all(isinstance(cells, list) for cells in columns):
        rows = [list(row) for row in zip(*columns, strict=False)]
    if not isinstance(rows, list):
        return []
    return [dict(zip(names, row, strict=False)) for row in rows if isinstance(row, list)]


def _typed_attributes(value: Record) -> list[Record]:
    """Read DynamoDB's items, in which each value stands under its type: an export, a scan, or a stream's new image."""
    image = value.get("dynamodb")
    items = value.get("Items")
    listed = items if isinstance(items, list) else [value.get("Item"), image and _either(image, "NewImage"), value]
    found = [item for item in listed if isinstance(item, dict) and len(item) > 1 and all(map(_is_typed, item.values()))]
    return [{name: _untyped(held) for name, held in item.items()} for item in found]


def _is_typed(value: Any) -> bool:
    return isinstance(value, dict) and len(value) == 1 and not _TYPES.isdisjoint(value)


def _untyped(value: Any) -> Any:
    if not _is_typed(value):
        return value
    ((kind, held),) = value.items()
    if kind == "M" and isinstance(held, dict):
        return {name: _untyped(inner) for name, inner in held.items()}
    if kind == "L" and isinstance(held, list):
        return [_untyped(inner) for inner in held]
    return None if kind == "NULL" else held


_TYPES = frozenset({"S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS"})
_FORMS: dict[str, Callable[[Record], list[Record]]] = {
    "<streams>": _streams,
    "<field pairs>": _field_pairs,
    "<tables>": _tables,
    "<named fields>": _named_fields,
    "<typed attributes>": _typed_attributes,
}

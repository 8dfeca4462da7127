"""CSV for a spreadsheet: a row an item, lists as JSON, and no cell that a spreadsheet would run."""

import csv
import io
import json
from typing import Any

from evalsets.errors import BadInputError
from evalsets.eval_set import EvalSet, wire_item
from evalsets.exchange.base import EVERYTHING, ExchangeFormat, Files, Foreign, Texts, main_file
from evalsets.items import Item

_COLUMNS = tuple(name for name in Item.model_fields if name != "label_digest")
_RUNS = ("=", "+", "-", "@", "\t", "\r")
_CELL_LIMIT = 100_000_000


def _write(eval_set: EvalSet, _texts: Texts) -> dict[str, bytes]:
    stream = io.StringIO(newline="")
    table = csv.writer(stream, lineterminator="\r\n")
    table.writerow(_COLUMNS)
    for item in eval_set.items:
        wire = wire_item(item)
        table.writerow([_cell(wire.get(column, "")) for column in _COLUMNS])
    return {"set.csv": b"\xef\xbb\xbf" + stream.getvalue().encode()}


def _cell(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    # A leading apostrophe keeps a spreadsheet from running the cell as a formula; it is taken off when read.
    return f"'{text}" if text.startswith((*_RUNS, "'")) else text


def _read(files: Files) -> list[Foreign]:
    name, raw = main_file(files)
    csv.field_size_limit(_CELL_LIMIT)
    table = csv.DictReader(io.StringIO(raw.decode("utf-8-sig"), newline=""), strict=True)
    if "question" not in (table.fieldnames or ()):
        raise BadInputError(f"{name} has no column 'question'; its columns are {', '.join(table.fieldnames or ())}.")
    unknown = sorted(set(table.fieldnames or ()) - set(Item.model_fields))
    if unknown:
        raise BadInputError(
            f"{name} has the unknown column(s) {', '.join(unknown)}; the columns are {', '.join(_COLUMNS)}."
        )
    return [_case(row) for row in table]


def _case(row: dict[str, str]) -> Foreign:
    values = {column: _value(column, text) for column, text in row.items() if text}
    question, expected = str(values.pop("question", "")), str(values.pop("expected", ""))
    return Foreign(question=question, expected=expected, fields=values)


def _value(column: str, text: str) -> Any:
    plain = text[1:] if text.startswith("'") and text[1:].startswith((*_RUNS, "'")) else text
    is_text = isinstance(Item.model_fields[column].get_default(call_default_factory=True), str)
    if is_text or column in {"id", "question", "mode", "added_on", "source", "split", "last_reviewed_on"}:
        return plain
    try:
        return json.loads(plain)
    except json.JSONDecodeError:
        return [part.strip() for part in plain.split(";") if part.strip()]


FORMAT = ExchangeFormat("csv", "set.csv", "CSV", "expected", _write, _read, EVERYTHING)

"""Reads ids that are numbers beyond 64 bits to the last digit: rounded by the fast parsers, two would become one."""

import json
from collections.abc import Iterator
from typing import Any

from ingest.adapters.mapping_file import FieldSpec, MappingFile
from ingest.adapters.mapping_paths import Getter, compile_path
from ingest.staging import Rows

_ROUNDED = 2.0**63
_IDS = ("id", "session_id", "user_id")


class ExactIds:
    """Finds records whose ids were rounded, and parses these anew."""

    def __init__(self, mapping: MappingFile) -> None:
        """Compile the paths of the mapping that lead to ids."""
        self._ids = [compile_path(path).get for path in dict.fromkeys(_paths(mapping))]
        shape = mapping.interactions.retrieved if mapping.interactions is not None else None
        self._chunks: tuple[Getter, Getter] | None = None
        if shape is not None and shape.list and shape.chunk_id:
            self._chunks = (compile_path(shape.list).get, compile_path(shape.chunk_id).get)

    def restored(self, rows: Rows) -> Rows:
        """Return the records with every digit of their ids, as far as their text is still there."""
        wrong = [row for row, raw in enumerate(rows.raws) if raw is not None and self._is_rounded(rows.values[row])]
        if not wrong:
            return rows
        values = list(rows.values)
        for row in wrong:
            values[row] = _parsed(rows.raws[row] or b"", values[row])
        return rows._replace(values=values)

    def _is_rounded(self, record: Any) -> bool:
        if any(_is_large(get(record)) for get in self._ids):
            return True
        if self._chunks is None:
            return False
        found, chunk_id = self._chunks[0](record), self._chunks[1]
        return type(found) is list and any(_is_large(chunk_id(chunk)) for chunk in found)


def _paths(mapping: MappingFile) -> Iterator[str]:
    section, votes = mapping.interactions, mapping.feedback
    if section is not None:
        specs = (getattr(section, name) for name in _IDS)
        yield from (spec.path for spec in specs if isinstance(spec, FieldSpec) and spec.path)
        yield from section.aliases
    if votes is not None:
        yield votes.target


def _is_large(value: Any) -> bool:
    return type(value) is float and abs(value) >= _ROUNDED


def _parsed(raw: bytes, rounded: Any) -> Any:
    start = raw.find(b"{")
    try:
        found = json.loads(raw[start:], parse_constant=lambda _name: None, strict=False)
    except (ValueError, RecursionError):
        return rounded
    return found if isinstance(found, dict) else rounded

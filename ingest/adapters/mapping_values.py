"""Values of mapped fields over a block of records, and which mapped paths lead nowhere."""

from typing import Any

from ingest.adapters.mapping_file import FieldSpec
from ingest.adapters.mapping_paths import compile_path
from ingest.staging import StagedRows, declared_vote

MS_IN = {"s": 1000.0, "us": 1e-3, "ns": 1e-6}


def path_values(written: str, records: list[Any], out: StagedRows) -> list[Any]:
    """Return the value of one path in every record; notes whether the path leads anywhere in any of them."""
    if not written:
        return [None] * len(records)
    path = compile_path(written)
    if path.chain is not None and len(path.chain) == 1:
        key = path.chain[0]
        values = [record.get(key) for record in records]
    else:
        get = path.get
        values = [get(record) for record in records]
    if written not in out.found_paths:
        _note_presence(written, values, records, out)
    return values


def _note_presence(written: str, values: list[Any], records: list[Any], out: StagedRows) -> None:
    path = compile_path(written)
    if any(value is not None for value in values) or any(path.is_in(record) for record in records):
        out.found_paths.add(written)
    elif records:
        out.missing_paths.add(written)


def field_values(spec: FieldSpec | None, records: list[Any], out: StagedRows) -> list[Any]:
    """Return the value of a mapped field in every record, as logged or as its `map` says."""
    if spec is None or (spec.const is not None and not spec.path):
        return [spec and spec.const] * len(records)
    values = path_values(spec.path, records, out)
    if spec.map:
        return [mapped_value(spec, value) for value in values]
    if spec.const is not None:
        return [spec.const if value is None else value for value in values]
    return values


def mapped_value(spec: FieldSpec, value: Any) -> Any:
    """Return what the `map` of a field says a value means: None for a value it does not list."""
    if value is None:
        return None
    written = str(value).lower() if isinstance(value, bool) else str(value)
    return _folded(spec).get(written.strip().lower())


def vote_values(spec: FieldSpec, records: list[Any], out: StagedRows) -> list[Any]:
    """Return the votes of a field; what its `map` says is declared, so no scale is inferred for it."""
    values = field_values(spec, records, out)
    return list(map(declared_vote, values)) if spec.map else values


def _folded(spec: FieldSpec) -> dict[str, Any]:
    return {str(key).lower(): meaning for key, meaning in spec.map.items()}


def note_naive_times(out: StagedRows, name: str, file: str, count: int) -> None:
    """Caution that times of a field came without a zone."""
    if count:
        message = f"{name} has times without a zone, read as UTC; say `timezone:` in the mapping if that is wrong"
        out.caution("naive_times", message, file=file, count=count)

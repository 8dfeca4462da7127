"""The eval set as a file: canonical bytes and hash, JSON Schema, and loading that names every fault at once."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from evalsets.errors import BadInputError, FaultsError
from evalsets.eval_set import SCHEMA_VERSION, EvalSet, complete_item
from evalsets.items import Item

__all__ = ["EvalSet", "canonical_bytes", "compute_hash", "find_faults", "load", "parse", "schema_bytes", "sealed"]

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
ESSENTIAL_FIELDS = ("id", "question", "gold_chunk_ids", "expected", "mode", "added_on", "source")


def canonical_bytes(eval_set: EvalSet) -> bytes:
    """Return the one byte form of a set: UTF-8 JSON, keys sorted, items by id, empty fields left out."""
    return _dump(wire_form(eval_set))


def wire_form(eval_set: EvalSet) -> dict[str, Any]:
    """Return the set as the JSON-ready values of its file: defaults left out, but never the seven essential fields."""
    wire: dict[str, Any] = eval_set.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    wire |= {"schema_version": SCHEMA_VERSION, "version": eval_set.version, "items": wire.get("items", [])}
    for item in (*wire["items"], *(entry["item"] for entry in wire.get("retired", ()))):
        complete_item(item)
    return wire


def _dump(wire: Any) -> bytes:
    # The same bytes as json.dumps with sorted keys and an indent of two, thirty times as fast on large sets.
    return orjson.dumps(wire, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def compute_hash(eval_set: EvalSet) -> str:
    """Return `sha256:` and the digest of the canonical bytes without the hash itself."""
    return _digest(canonical_bytes(eval_set.changed(content_hash="")))


def _digest(content: bytes) -> str:
    return "sha256:" + hashlib.sha256(content).hexdigest()


def content_hash_of(raw: bytes) -> str:
    """Return the hash that the bytes of a set file claim, without building the set."""
    return str(orjson.loads(raw).get("content_hash", ""))


def sealed(eval_set: EvalSet) -> EvalSet:
    """Return the set with its content hash filled in."""
    return eval_set.changed(content_hash=compute_hash(eval_set))


def schema_bytes() -> bytes:
    """Return the JSON Schema of a set file, for editors and for other languages."""
    schema = EvalSet.model_json_schema(by_alias=True) | {"title": "Errata eval set"}
    return _dump(schema)


def set_file_path(path: Path) -> Path:
    """Return the set file meant by a path: the file itself, or NAME/NAME.json for the folder of a set."""
    return path / f"{path.name}.json" if path.is_dir() else path


def load(path: Path | str) -> EvalSet:
    """Load a set file, the folder of a set, or a plain JSON list of items (version 0, named after its file).

    Raises FaultsError that lists every fault: unknown keys, wrong values, duplicate ids, broken hashes.
    """
    file = set_file_path(Path(path))
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise BadInputError(f"cannot read the eval set {str(file)!r}: {error.strerror}. Name a set file.") from error
    return parse(raw, where=str(file), name=file.stem)


def parse(raw: bytes, *, where: str, name: str = "unnamed") -> EvalSet:
    """Read the bytes of a set file or a plain list; `where` names them in errors."""
    wire, faults = _parse_json(raw, where)
    if isinstance(wire, list):
        wire = {"name": name, "items": wire}
    elif not isinstance(wire, dict):
        raise BadInputError(f"{where} holds {type(wire).__name__}; an eval set is an object, or a list of items.")
    eval_set, model_faults = _validated(wire)
    faults += model_faults + (_surrogate_faults(wire) if _SURROGATE.search(raw) else [])
    if eval_set is not None:
        faults += find_faults(eval_set, known_hash=_hash_of_wire(wire))
    else:
        faults += _duplicate_id_faults(_raw_ids(wire))
    if faults or eval_set is None:
        raise FaultsError(f"{where} has {len(faults)} fault(s); mend them and try again:", faults)
    return eval_set


def _hash_of_wire(wire: dict[str, Any]) -> str:
    # A file in its one byte form hashes as it was read; for any other the model is asked.
    try:
        return _digest(_dump({name: value for name, value in wire.items() if name != "content_hash"}))
    except TypeError:
        return ""


def find_faults(eval_set: EvalSet, *, known_hash: str = "") -> list[str]:
    """Return what contradicts itself in a set: duplicate ids, dangling references, a broken hash.

    `known_hash` spares hashing the set again when it is the one that the set claims.
    """
    faults = _duplicate_id_faults([item.id for item in eval_set.items] + [r.item.id for r in eval_set.retired])
    faults += [
        f"known_failing names {id_!r}, which is no item of the set" for id_ in sorted(_dangling_known_failing(eval_set))
    ]
    for item in eval_set.items:
        faults += _item_faults(item)
    is_known = eval_set.content_hash in {"", known_hash}
    if not is_known and eval_set.content_hash != (actual := compute_hash(eval_set)):
        faults.append(
            f"content_hash is {eval_set.content_hash!r} but the content hashes to {actual!r}: "
            "the file was changed after it was frozen; freeze a new version instead"
        )
    return faults


def _dangling_known_failing(eval_set: EvalSet) -> frozenset[str]:
    return eval_set.known_failing_ids - eval_set.by_id.keys()


def _item_faults(item: Item) -> list[str]:
    gold = set(item.gold_chunk_ids)
    is_repeating = len(gold) < len(item.gold_chunk_ids)
    repeated = [id_ for id_, count in Counter(item.gold_chunk_ids).items() if count > 1] if is_repeating else []
    return [
        *(f"item {item.id!r}: gold_chunk_ids holds {id_!r} twice" for id_ in repeated),
        *(
            f"item {item.id!r}: gold_chunks describes {chunk.chunk_id!r}, which is not in gold_chunk_ids"
            for chunk in item.gold_chunks
            if chunk.chunk_id not in gold
        ),
        *([f"item {item.id!r}: a gold chunk id is empty"] if "" in gold else []),
    ]


def _duplicate_id_faults(ids: Iterable[str]) -> list[str]:
    counts = Counter(ids)
    return [f"id {id_!r} stands {count} times; an id names one item" for id_, count in counts.items() if count > 1]


def _raw_ids(wire: dict[str, Any]) -> list[str]:
    items = wire.get("items")
    rows = items if isinstance(items, list) else []
    return [row["id"] for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)]


def _parse_json(raw: bytes, where: str) -> tuple[Any, list[str]]:
    faults: list[str] = []

    def no_repeats(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            faults.extend(f"key {key!r} stands {n} times in one object" for key, n in counts.items() if n > 1)
        return made

    def no_constants(word: str) -> None:
        faults.append(f"{word} is not JSON; leave the field out instead")

    try:
        wire = json.loads(raw.decode("utf-8-sig"), object_pairs_hook=no_repeats, parse_constant=no_constants)
    except UnicodeDecodeError as error:
        raise BadInputError(f"{where} is not UTF-8 (byte {error.start}); save it as UTF-8.") from error
    except json.JSONDecodeError as error:
        raise BadInputError(f"{where} is not JSON: {error.msg} at line {error.lineno}.") from error
    except RecursionError as error:
        raise BadInputError(f"{where} is nested too deeply to be an eval set.") from error
    return wire, faults


def _validated(wire: dict[str, Any]) -> tuple[EvalSet | None, list[str]]:
    try:
        return EvalSet.model_validate(wire), []
    except ValidationError as error:
        return None, [_fault_text(wire, dict(fault)) for fault in error.errors(include_url=False)]


def _fault_text(wire: dict[str, Any], fault: dict[str, Any]) -> str:
    place = _place(wire, fault["loc"])
    match fault["type"]:
        case "extra_forbidden":
            return f"{place}: unknown key; the keys are {', '.join(_known_keys(fault['loc']))}"
        case "missing":
            return f"{place}: missing"
        case "enum":
            return f"{place} = {fault['input']!r}: must be {fault['ctx']['expected']}"
        case _:
            return f"{place} = {_shortened(fault['input'])}: {fault['msg']}"


def _place(wire: dict[str, Any], loc: tuple[int | str, ...]) -> str:
    if len(loc) > 1 and loc[0] == "items" and isinstance(loc[1], int):
        row = wire["items"][loc[1]]
        id_ = row.get("id") if isinstance(row, dict) else None
        return ".".join([f"item {id_!r}" if id_ else f"item number {loc[1] + 1}", *map(str, loc[2:])])
    return ".".join(map(str, loc))


def _known_keys(loc: tuple[int | str, ...]) -> list[str]:
    depth_of_item_key = 3
    if len(loc) == 1:
        return [field.alias or name for name, field in EvalSet.model_fields.items()]
    return list(Item.model_fields) if loc[0] == "items" and len(loc) == depth_of_item_key else ["in the schema"]


def _shortened(value: object, limit: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _surrogate_faults(wire: dict[str, Any]) -> list[str]:
    # A lone surrogate passes as a Python string and would then block every later write of the set as UTF-8.
    return [
        f"{path}: holds half of a surrogate pair; no UTF-8 file can hold it" for path in _surrogate_places(wire, "")
    ]


def _surrogate_places(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
            yield path
    elif isinstance(value, list):
        for position, entry in enumerate(value):
            yield from _surrogate_places(entry, f"{path}[{position}]")
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield from _surrogate_places(entry, f"{path}.{key}".lstrip("."))

"""What a format of another tool is to us: how a set is written in it, how it is read back, and what gets lost."""

import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from pydantic import ValidationError

from evalsets.errors import BadInputError, FaultsError
from evalsets.eval_set import EvalSet, wire_item
from evalsets.items import Item, Mode, Source
from evalsets.line_reading import numbered_lines

OWN_KEY = "errata"
"""Where a format has room for metadata, the whole item stands under this key, so that it comes back unharmed."""
ESSENTIAL = frozenset({"question", "gold_chunk_ids", "expected"})
_SLUG_WORDS = 6

Files = Mapping[str, bytes]
Texts = Mapping[str, str]
"""Texts of gold chunks by chunk id, where they are known."""


class Foreign(NamedTuple):
    """A case as another tool holds it; `own` is our own item, where it travelled along."""

    question: str
    expected: str = ""
    gold_chunk_ids: Sequence[str] = ()
    facts: Sequence[str | Sequence[str]] = ()
    forbidden: Sequence[str] = ()
    tags: Sequence[str] = ()
    id: str = ""
    own: Mapping[str, Any] | None = None
    fields: Mapping[str, Any] | None = None
    """Further fields of ours that the format names itself."""


class ExchangeFormat(NamedTuple):
    """One format: `write` gives file names and bytes, the first of them the main one; `read` gives cases back."""

    name: str
    main_file: str
    tool: str
    expected_is: str
    """What the expected answer is called there."""
    write: Callable[[EvalSet, Texts], dict[str, bytes]]
    read: Callable[[Files], list[Foreign]] | None
    keeps: frozenset[str]
    """Fields of an item that survive; all of them where the item travels along."""


class Defaults(NamedTuple):
    """What an imported case is taken for where its tool does not say."""

    added_on: date
    mode: Mode = Mode.CONTROL
    source: Source = Source.SYNTHETIC


def lost_fields(eval_set: EvalSet, form: ExchangeFormat) -> list[str]:
    """Say what a set holds that the format cannot: each field with how many items use it."""
    lost = []
    for field, info in Item.model_fields.items():
        if field in form.keeps or field in {"id", "added_on", "source", "label_digest"}:
            continue
        default = info.get_default(call_default_factory=True)
        count = sum(getattr(item, field) != default for item in eval_set.items)
        if count:
            lost.append(f"{field} of {count} item(s)")
    if eval_set.retired:
        lost.append(f"{len(eval_set.retired)} retired item(s)")
    if eval_set.known_failing:
        lost.append(f"{len(eval_set.known_failing)} entries of known_failing")
    return lost


def to_items(cases: Iterable[Foreign], defaults: Defaults) -> list[Item]:
    """Return cases as items of ours; what a person changed in the other tool wins over what travelled along.

    Raises FaultsError that names every case that cannot be an item, and every id that two cases share.
    """
    items: list[Item] = []
    faults: list[str] = []
    for number, case in enumerate(cases, start=1):
        try:
            items.append(_to_item(case, defaults))
        except ValidationError as error:
            faults += [f"case {number} ({case.question[:60]!r}): {_told(fault)}" for fault in error.errors()]
    counts = Counter(item.id for item in items)
    faults += [f"id {id_!r} stands for {count} cases" for id_, count in counts.items() if count > 1]
    if faults:
        raise FaultsError(f"{len(faults)} fault(s) keep the file from being imported:", faults)
    return items


def _told(fault: Any) -> str:
    return f"{'.'.join(map(str, fault['loc']))} = {fault['input']!r}: {fault['msg']}"


def _to_item(case: Foreign, defaults: Defaults) -> Item:
    base: dict[str, Any] = {"id": slug(case.question), "mode": defaults.mode, "source": defaults.source}
    base["added_on"] = defaults.added_on
    named = {
        "id": case.id,
        "gold_chunk_ids": tuple(case.gold_chunk_ids),
        "answer_facts": tuple(case.facts),
        "forbidden": tuple(case.forbidden),
        "tags": tuple(case.tags),
    }
    base |= {name: value for name, value in named.items() if value}
    base |= dict(case.fields or {}) | dict(case.own or {})
    base |= {"question": case.question, "expected": case.expected}
    return Item.model_validate(base)


def slug(question: str) -> str:
    """Return a readable id that depends on nothing but the question."""
    folded = unicodedata.normalize("NFKD", question).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", folded)[:_SLUG_WORDS]
    return "-".join([*words, hashlib.sha256(question.encode()).hexdigest()[:6]])


def own(item: Item) -> dict[str, Any]:
    """Return the metadata under which an item travels along."""
    return {OWN_KEY: wire_item(item)}


def travelled(metadata: Any) -> Mapping[str, Any] | None:
    """Return our own item out of another tool's metadata, or None."""
    found = metadata.get(OWN_KEY) if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else None


def json_lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Return rows as JSON lines."""
    return "".join(json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n" for row in rows).encode()


def json_document(value: Any) -> bytes:
    """Return a value as an indented JSON document."""
    return (json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()


def read_rows(raw: bytes, where: str) -> list[dict[str, Any]]:
    """Read JSON lines or a JSON list of objects; BadInputError when it is neither."""
    text = raw.decode("utf-8-sig")
    try:
        found = json.loads(text)
        rows = found if isinstance(found, list) else [found]
    except json.JSONDecodeError:
        rows = [_parsed(line, number, where) for number, line in numbered_lines(text)]
    strangers = [row for row in rows if not isinstance(row, dict)]
    if strangers:
        raise BadInputError(f"{where} holds {strangers[0]!r} where an object was expected.")
    return rows


def _parsed(line: str, number: int, where: str) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise BadInputError(f"{where} line {number} is not JSON: {error.msg}.") from error


def main_file(files: Files) -> tuple[str, bytes]:
    """Return the only file, or the first one."""
    name = next(iter(files))
    return name, files[name]


def texts_for(item: Item, texts: Texts) -> list[str]:
    """Return the known gold texts of an item in the order of its gold."""
    return [texts[id_] for id_ in item.gold_chunk_ids if id_ in texts]


def text_of(value: Any, *keys: str) -> str:
    """Return a text that may stand alone or under one of the keys of an object."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        found = next((value[key] for key in keys if isinstance(value.get(key), str)), None)
        return found if found is not None else next((each for each in value.values() if isinstance(each, str)), "")
    return "" if value is None else str(value)


EVERYTHING = frozenset(Item.model_fields)

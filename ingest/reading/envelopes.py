"""Finds the records inside one JSON value: the list of an envelope, or the rows of a data frame."""

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple

from ingest.adapters.mapping_paths import compile_path
from ingest.reading.documents import Entry
from ingest.reading.log_answers import answers
from ingest.reading.walking import iter_under

_ENVELOPE_KEYS = (
    *("data", "items", "records", "results", "rows", "logs", "value", "logEvents", "hits", "messages", "runs"),
    *("entries", "events", "documents", "interactions", "conversations", "export"),
)
_DEEPEST = 4
_EACH = "<each> "
_FRAME_START = "<"
"""No path begins with it: what does names an orient of a data frame."""
SURE_FRAMES = frozenset({"<split>", "<columns>", "<index>"})
"""Orients that are told by the document alone."""
ROW_LABEL = "index"
"""The key under which a row keeps its label: the JSON of a data frame has no name for it."""


class Reading(NamedTuple):
    """Records found inside a value, and where: a path, or the orient of a data frame."""

    place: str
    records: list[Any]

    @property
    def is_frame(self) -> bool:
        """Whether the records are the rows of a data frame."""
        return self.place.startswith(_FRAME_START)

    @property
    def is_usual(self) -> bool:
        """Whether the place alone tells that these are the records of an envelope or a data frame."""
        return self.place in SURE_FRAMES or self.place.rpartition(".")[2] in _ENVELOPE_KEYS


def readings(value: Any) -> Iterator[Reading]:
    """Yield the lists of records inside a value, the likeliest first: data frames, usual envelopes, any other list."""
    if not isinstance(value, dict):
        return
    yield from (Reading(name, records) for name, records in answers(value))
    yield from _frames(value)
    found = list(_lists(value, (), _DEEPEST))
    yield from sorted(found, key=lambda reading: (not reading.is_usual, -len(reading.records)))


def records_at(place: str, value: Any) -> list[Any] | None:
    """Return the records of a value at a place that `readings` named, or at a path; None when there are none."""
    if place.startswith(_EACH):
        key = place.removeprefix(_EACH)
        inner = value.get(key) if isinstance(value, dict) else None
        return [{key: [entry]} for entry in inner] if isinstance(inner, list) else None
    if place.startswith(_FRAME_START):
        packed = dict(answers(value)) if isinstance(value, dict) else {}
        frames = _frames(value) if isinstance(value, dict) else ()
        return packed.get(place) or next((reading.records for reading in frames if reading.place == place), None)
    inner = compile_path(place).get(value)
    return list(inner) if isinstance(inner, list) else None


def each_of(reading: Reading) -> Reading | None:
    """Return the entries of a list as documents that hold one entry each, for formats whose record is the document."""
    keys = keys_of(reading.place)
    if keys is None or len(keys) != 1:
        return None
    return Reading(f"{_EACH}{keys[0]}", [{keys[0]: [record]} for record in reading.records])


def can_stream(place: str) -> bool:
    """Return whether the records at a place can be given one by one while the document is read."""
    return place.startswith(_EACH) or keys_of(place) is not None


def streamed(place: str, stream: BinaryIO) -> Iterator[Entry]:
    """Yield the records at a place that `can_stream` of a document too large to be read at once."""
    if not place.startswith(_EACH):
        yield from iter_under(stream, keys_of(place) or ())
        return
    key = place.removeprefix(_EACH)
    for entry in iter_under(stream, (key,)):
        yield entry if entry.fault else entry._replace(value={key: [entry.value]})


def usual_place(value: Any) -> str:
    """Return where the records of an envelope or a data frame stand; empty when the value looks like a record."""
    return next((reading.place for reading in readings(value) if reading.is_usual), "")


def keys_of(place: str) -> tuple[str, ...] | None:
    """Return the keys a place leads through; None when it is no plain path of keys."""
    return None if place.startswith(_FRAME_START) or not place else compile_path(place).chain


def _lists(value: dict[str, Any], above: tuple[str, ...], depth: int) -> Iterator[Reading]:
    for key, inner in value.items():
        here = (*above, str(key))
        if isinstance(inner, list) and inner and all(isinstance(entry, dict) for entry in inner):
            yield Reading(".".join(map(_quoted, here)), inner)
        elif isinstance(inner, dict) and depth > 1:
            yield from _lists(inner, here, depth - 1)


def _quoted(key: str) -> str:
    if key.isidentifier() and key.isascii():
        return key
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _frames(document: dict[str, Any]) -> Iterator[Reading]:
    """Yield what pandas' orients split, columns and index may have meant; a table of one column may be either."""
    columns = document.get("columns", document.get("meta"))
    data = next((document[key] for key in ("data", "rows", "values") if key in document), None)
    if isinstance(columns, list) and isinstance(data, list) and all(isinstance(row, list) for row in data):
        names = [str(column.get("name") if isinstance(column, dict) else column) for column in columns]
        rows = [dict(zip(names, row, strict=False)) for row in data]
        labels = document.get("index")
        yield Reading("<split>", _labelled(labels, rows) if isinstance(labels, list) else rows)
        return
    inner = list(document.values())
    if not inner or not all(isinstance(value, dict) and value for value in inner):
        return
    shared, last = list(inner[0]), list(inner[-1])
    if len({tuple(value) for value in inner[:-1]}) > 1 or last != shared[: len(last)]:
        return  # the last one may be cut off, in the start of a document
    rows = _labelled(shared, [{name: column.get(key) for name, column in document.items()} for key in shared])
    if _are_row_numbers(document):
        yield Reading("<index>", inner)
    elif _are_row_numbers(inner[0]):
        yield Reading("<columns>", rows)
    else:
        yield Reading("<named columns>", rows)
        yield Reading("<named index>", _labelled(list(document), inner))


def _labelled(labels: list[Any], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with their labels, where these say more than which row it is."""
    if len(labels) != len(rows) or _are_row_numbers(labels):
        return rows
    return [{ROW_LABEL: label, **row} for label, row in zip(labels, rows, strict=True)]


def _are_row_numbers(labels: Iterable[Any]) -> bool:
    return all(str(label).isdigit() for label in labels)

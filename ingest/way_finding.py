"""Decides how a file is read: through the mapping or format that was named, else by what recognises its records."""

import hashlib
from collections.abc import Iterable
from typing import Any, NamedTuple

from evalsets.errors import BadInputError
from ingest.adapters import detect, get_adapter
from ingest.adapters.mapping import MappingAdapter
from ingest.adapters.mapping_file import MappingFile
from ingest.adapters.mapping_keys import keys_read
from ingest.adapters.mapping_paths import compile_path
from ingest.privacy import Redactor
from ingest.reading.envelopes import SURE_FRAMES
from ingest.reading.probing import Probe
from ingest.reading.reaches import Reach, likely_reaches, possible_reaches
from ingest.reading.unwrapping import Layers
from ingest.reading_jobs import Way
from ingest.settings import PrivacySettings
from ingest.staging import as_json

READER_VERSION = 3
"""Raise it when the same bytes would be read differently, so that files are read again."""
_SURE_ENOUGH = 0.3
_SURE_OF_ANY_LIST = 0.7
"""How sure a format must be of a list that stands under no usual name."""
_PACKED = {
    b"PK\x03\x04": "a zip archive or an Excel workbook: unpack it, or save it as CSV",
    b"BZh": "packed with bzip2: unpack it, or pack it with gzip or zstd",
    b"\xfd7zXZ": "packed with xz: unpack it, or pack it with gzip or zstd",
    b"ARROW1": "an Arrow file: write it as Parquet",
    b"SQLite format 3": "a SQLite database: write its tables as CSV, Parquet or JSON",
}
"""How files of other makes begin, and what to do with them."""


class FileWay(NamedTuple):
    """How one file is read."""

    way: Way
    format: str
    layers: Layers


class WayFinder:
    """Finds the way of each file of one ingest."""

    def __init__(self, *, mapping: MappingFile | None, named: str, privacy: PrivacySettings, salt: bytes) -> None:
        """Take what the user named: a mapping, a format, or nothing. Raises BadInputError for an unknown format."""
        Redactor(privacy, salt)
        self.mapping, self.privacy, self.salt = mapping, privacy, salt
        self.named = named
        if named and mapping is None:
            get_adapter(named)

    def find(self, found: Probe) -> FileWay | None:
        """Return how `found` is read, None when nothing recognises it."""
        if self.mapping is not None and found.container == "binary":
            return None
        if self.mapping is not None:
            digest = hashlib.sha256(self.mapping.model_dump_json().encode()).hexdigest()[:16]
            way = Way(f"mapping:{digest}", self.mapping, self.privacy, self.salt)
            return FileWay(way, self.mapping.source, _layers_of_mapping(self.mapping, found))
        if self.named:
            return self._by_adapter(self.named, found)
        best = _surest(likely_reaches(found)) or _surest(possible_reaches(found))
        return None if best is None else self._by_adapter(best.name, found, best.reach)

    def _by_adapter(self, name: str, found: Probe, reach: Reach | None = None) -> FileWay:
        adapter = get_adapter(name)
        way = Way(name, None, self.privacy, self.salt)
        if reach is None and isinstance(adapter, MappingAdapter):
            return FileWay(way, name, _layers_of_mapping(adapter.mapping, found))
        if reach is None:
            reach = max(
                likely_reaches(found),
                key=lambda reach: adapter.detects(reach.values),
                default=Reach(Layers(), []),
            )
        keep = keys_read(adapter.mapping) if isinstance(adapter, MappingAdapter) else frozenset[str]()
        return FileWay(way, name, reach.layers._replace(keep=keep))

    def assembly_way(self, adapter: str, mapping: MappingFile | None) -> Way:
        """Return the way to put staged spans together, whoever staged them."""
        return Way(adapter, mapping, self.privacy, self.salt)


class _Sure(NamedTuple):
    confidence: float
    name: str
    reach: Reach


def _surest(reaches: Iterable[Reach]) -> _Sure | None:
    """Return the format that is surest of the records on one of the ways, None when none is sure enough."""
    best: _Sure | None = None
    for reach in reaches:
        detections = detect(reach.values)
        sure = detections[0].confidence if detections else 0.0
        enough = _SURE_ENOUGH if reach.is_usual else _SURE_OF_ANY_LIST
        if sure >= enough and (best is None or sure > best.confidence):
            best = _Sure(sure, detections[0].name, reach)
    return best


def _layers_of_mapping(mapping: MappingFile, found: Probe) -> Layers:
    """Return the plainest way to records that the paths of a mapping lead into, as far as it does not say it itself."""
    keep = keys_read(mapping)
    if mapping.records or mapping.unwrap:
        unwrap = mapping.unwrap or found.unwrap
        is_inside = found.container != "lines" or not mapping.records
        return Layers("" if is_inside else unwrap, mapping.records, unwrap if is_inside else "", keep)
    reaches = list(likely_reaches(found))
    likely = next((reach for reach in reaches if _leads_into(mapping, reach.values)), None)
    possible = likely or next((reach for reach in possible_reaches(found) if _leads_into(mapping, reach.values)), None)
    unsure = (reach for reach in reaches if reach.layers.records in SURE_FRAMES or not reach.layers.records)
    return (possible or next(unsure)).layers._replace(keep=keep)


def _leads_into(mapping: MappingFile, values: list[Any]) -> bool:
    section, votes = mapping.interactions, mapping.feedback
    paths = [votes.target] if votes is not None and section is None else []
    if section is not None and section.messages is not None:
        paths = [section.messages.role, section.messages.session]
    elif section is not None:
        paths = [section.turns.list if section.turns else section.question.path]
    objects = [value for value in values if isinstance(value, dict)]
    if section is not None and section.trace:
        paths = [section.trace]
    return any(compile_path(path).get(value) is not None for value in objects for path in paths)


def way_digest(found: FileWay) -> str:
    """Return a digest of everything that decides what the same bytes are made into."""
    mapping = found.way.mapping.model_dump_json() if found.way.mapping else ""
    parts = [READER_VERSION, found.way.adapter, mapping, found.way.privacy.model_dump_json()]
    return hashlib.sha256(as_json([*parts, *found.layers[:3]]).encode()).hexdigest()[:32]


def unrecognised(found: Probe) -> BadInputError:
    """Return the error for a file that nothing recognises, which says what to do."""
    name = found.file.name
    head = found.sample[0] if found.container == "binary" and found.sample else b""
    for mark, what in _PACKED.items():
        if isinstance(head, bytes) and head.startswith(mark):
            return BadInputError(f"{name!r} is {what}.")
    if found.container in ("text", "binary"):
        return BadInputError(f"{name!r} holds no records that can be read as JSON, CSV or Parquet ({found.container}).")
    keys = sorted({key for value in found.sample if isinstance(value, dict) for key in value})[:12]
    return BadInputError(
        f"{name!r} is of no known format (its fields: {', '.join(map(str, keys)) or 'none'}). Describe it with"
        f" --mapping: `errata mapping suggest {name}` proposes one, `errata formats` lists what is read without."
    )

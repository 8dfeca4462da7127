"""Decides how a file is read: through the mapping or format that was named, else by what recognises its records."""

import hashlib
from typing import Any, NamedTuple

from evalsets.errors import BadInputError
from ingest.adapters import detect, get_adapter
from ingest.adapters.mapping import MappingAdapter
from ingest.adapters.mapping_file import MappingFile
from ingest.adapters.mapping_paths import compile_path
from ingest.privacy import Redactor
from ingest.reading.documents import frame_rows
from ingest.reading.probing import Probe, records_of_document
from ingest.reading_jobs import Way
from ingest.settings import PrivacySettings
from ingest.staging import as_json

READER_VERSION = 1
"""Raise it when the same bytes would be read differently, so that files are read again."""
_SURE_ENOUGH = 0.3


class FileWay(NamedTuple):
    """How one file is read."""

    way: Way
    format: str
    records: str
    """Path to the records in an envelope."""
    unfold: bool
    """Whether to look into envelopes and data frames."""


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
        if self.mapping is not None:
            return self._by_mapping(self.mapping, found)
        if self.named:
            return self._by_adapter(self.named, found)
        plain = detect(found.sample)
        unfolded = _unfolded_sample(found)
        inside = detect(unfolded) if unfolded is not None else []
        best = max([*plain[:1], *inside[:1]], key=lambda entry: entry.confidence, default=None)
        if best is None or best.confidence < _SURE_ENOUGH:
            return None
        return self._by_adapter(best.name, found, unfold=best not in plain[:1])

    def _by_mapping(self, mapping: MappingFile, found: Probe) -> FileWay:
        digest = hashlib.sha256(mapping.model_dump_json().encode()).hexdigest()[:16]
        way = Way(f"mapping:{digest}", mapping, self.privacy, self.salt)
        unfold = not mapping.records and not _fits_as_it_is(mapping, found)
        return FileWay(way, mapping.source, mapping.records, unfold)

    def _by_adapter(self, name: str, found: Probe, *, unfold: bool | None = None) -> FileWay:
        adapter = get_adapter(name)
        way = Way(name, None, self.privacy, self.salt)
        if isinstance(adapter, MappingAdapter):
            mapping = adapter.mapping
            return FileWay(way, name, mapping.records, not mapping.records and not _fits_as_it_is(mapping, found))
        if unfold is None:
            unfold = adapter.detects(found.sample) <= 0
        return FileWay(way, name, "", unfold)

    def assembly_way(self, adapter: str, mapping: MappingFile | None) -> Way:
        """Return the way to put staged spans together, whoever staged them."""
        return Way(adapter, mapping, self.privacy, self.salt)


def _unfolded_sample(found: Probe) -> list[Any] | None:
    if not found.is_one_document or not found.sample:
        return None
    return records_of_document(found.sample[0])[:40]


def _fits_as_it_is(mapping: MappingFile, found: Probe) -> bool:
    objects = [value for value in found.sample if isinstance(value, dict)]
    section = mapping.interactions
    if not found.is_one_document:
        return True
    if section is None or any(frame_rows(value) for value in objects):
        return False
    path = section.turns.list if section.turns else section.question.path
    return any(compile_path(path).get(value) is not None for value in objects)


def way_digest(found: FileWay) -> str:
    """Return a digest of everything that decides what the same bytes are made into."""
    mapping = found.way.mapping.model_dump_json() if found.way.mapping else ""
    parts = [READER_VERSION, found.way.adapter, mapping, found.way.privacy.model_dump_json(), found.records]
    return hashlib.sha256(as_json([*parts, found.unfold]).encode()).hexdigest()[:32]


def unrecognised(found: Probe) -> BadInputError:
    """Return the error for a file that nothing recognises, which says what to do."""
    name = found.file.name
    if found.container in ("text", "binary"):
        return BadInputError(f"{name!r} holds no records that can be read as JSON, CSV or Parquet ({found.container}).")
    keys = sorted({key for value in found.sample if isinstance(value, dict) for key in value})[:12]
    return BadInputError(
        f"{name!r} is of no known format (its fields: {', '.join(map(str, keys)) or 'none'}). Describe it with"
        f" --mapping: `errata mapping suggest {name}` proposes one, `errata formats` lists what is read without."
    )

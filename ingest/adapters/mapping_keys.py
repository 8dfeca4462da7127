"""Which keys of a record a mapping reads."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from ingest.adapters.mapping_file import FieldSpec, MappingFile, RetrievedSpec
from ingest.adapters.mapping_paths import compile_path

_OF_MESSAGES = frozenset({"user", "assistant"})


def keys_read(mapping: MappingFile) -> frozenset[str]:
    """Return the top-level keys that the paths of a mapping read, of interactions and of votes."""
    keys: set[str] = set()
    for written in (*_paths(mapping.interactions), *_paths(mapping.feedback)):
        path = compile_path(written)
        keys |= path.top_keys
        if path.chain and len(path.chain) > 1 and path.chain[0] in _OF_MESSAGES:
            keys.add(path.chain[1])
    return frozenset(keys)


def _paths(section: BaseModel | None) -> Iterator[str]:
    for name, value in section or ():
        if isinstance(value, FieldSpec):
            yield from filter(None, (value.path, value.start, value.end))
        elif isinstance(value, RetrievedSpec):
            own = (value.list,) if value.list else (value.chunk_id, value.doc_id, value.text, value.score)
            rows = (value.rows.group_by, value.rows.rank) if value.rows else ()
            yield from filter(None, (*own, *rows))
        elif name in {"target", "where", "trace"} and value:
            yield value
        elif isinstance(value, BaseModel):
            yield from _texts_of(value)


def _texts_of(section: BaseModel) -> Iterator[Any]:
    yield from (value for _, value in section if isinstance(value, str) and value)

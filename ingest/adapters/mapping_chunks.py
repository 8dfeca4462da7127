"""Retrieved chunks of mapped records as flat columns, with the fallback chain of chunk ids."""

from functools import lru_cache
from itertools import chain, repeat
from typing import Any

from evalsets.chunks import canonical_chunk_id, chunk_text_hash
from ingest.adapters.mapping_file import RetrievedSpec
from ingest.adapters.mapping_paths import compile_path
from ingest.adapters.mapping_values import path_values
from ingest.normalising import number_column, parsed_list, text, text_column
from ingest.staging import StagedRows

METADATA_IDS = ("chunk_id", "id", "_id", "node_id")
METADATA_DOCS = ("doc_id", "document_id", "file_id", "doc_uri", "source", "url")
"""Where the ids of a chunk stand in its `metadata` when no path is mapped, the first that is there."""
_PATHS = ("chunk_id", "doc_id", "text", "score")
_text_hash = lru_cache(maxsize=30_000)(chunk_text_hash)


class MappedChunks:
    """The chunks of a block of records: one entry a chunk, with the row it belongs to and its place in the list."""

    def __init__(
        self,
        spec: RetrievedSpec | None,
        records: list[Any],
        faults: dict[int, list[str]],
        out: StagedRows,
    ) -> None:
        """Read the chunks of `records`; what does not fit is noted in `faults` by row."""
        self.faults = faults
        self.rows: list[int] = []
        self.ranks: list[int] = []
        self.texts: dict[str, str] = {}
        self.columns: dict[str, list[Any]] = {}
        if spec is not None:
            lists = self._lists(spec, records, out)
            self._fill(_named_paths(spec) if spec.arrays else spec, lists, out)

    def _lists(self, spec: RetrievedSpec, records: list[Any], out: StagedRows) -> list[list[Any]]:
        if spec.arrays:
            return [_zipped(spec, record) for record in records]
        if spec.rows is not None:
            return [record.get("rows", []) for record in records]
        found = path_values(spec.list, records, out)
        return [
            value if type(value) is list else self._as_list(row, value, spec.list) for row, value in enumerate(found)
        ]

    def _as_list(self, row: int, value: Any, path: str) -> list[Any]:
        value = parsed_list(value)
        if isinstance(value, (list, tuple)):
            return list(value)
        if value is None or value == "":
            return []
        if isinstance(value, dict):
            return [value]
        self.faults.setdefault(row, []).append(f"retrieved: {path!r} holds no list but {str(value)[:60]!r}")
        return []

    def _fill(self, spec: RetrievedSpec, lists: list[list[Any]], out: StagedRows) -> None:
        flat = [item if type(item) is dict else {"text": item} for item in chain.from_iterable(lists)]
        self.rows = list(chain.from_iterable(repeat(row, len(items)) for row, items in enumerate(lists)))
        self.ranks = list(chain.from_iterable(range(len(items)) for items in lists))
        texts = text_column(path_values(spec.text, flat, out) if spec.text else list(map(_bare_text, flat)))
        hashes = [None if written is None else _text_hash(written) for written in texts]
        self.texts = {key: written for key, written in zip(hashes, texts, strict=True) if key and written}
        ids, origins = _chunk_ids(text_column(path_values(spec.chunk_id, flat, out)), flat, hashes)
        docs = text_column(path_values(spec.doc_id, flat, out)) if spec.doc_id else list(map(_bare_doc, flat))
        self.columns = {
            "chunk_id": ids,
            "doc_id": docs,
            "text_hash": hashes,
            "score": self._scores(spec, flat, out),
            "stage": [spec.stage] * len(flat),
            "id_origin": origins,
        }
        if None in ids:
            self._drop_empty(out)

    def _scores(self, spec: RetrievedSpec, flat: list[Any], out: StagedRows) -> list[Any]:
        scores = number_column(path_values(spec.score, flat, out), "retrieved score")
        for place, reason in scores.faults.items():
            self.faults.setdefault(self.rows[place], []).append(reason)
        return scores.values

    def _drop_empty(self, out: StagedRows) -> None:
        kept = [place for place, key in enumerate(self.columns["chunk_id"]) if key is not None]
        dropped = len(self.rows) - len(kept)
        out.caution("empty_chunk", "a retrieved chunk has neither id nor text and is left out", count=dropped)
        self.rows, self.ranks = [self.rows[p] for p in kept], [self.ranks[p] for p in kept]
        self.columns = {name: [column[p] for p in kept] for name, column in self.columns.items()}

    def emit(self, places: dict[int, int] | None, out: StagedRows) -> None:
        """Add the links of the rows that stay; `places` gives their new row numbers, None when none has moved."""
        if not self.rows:
            return
        out.texts.update(self.texts)
        if places is None:
            columns = {"row": self.rows, "rank": self.ranks, **self.columns}
        else:
            kept = [entry for entry, row in enumerate(self.rows) if row in places]
            columns = {"row": [places[self.rows[entry]] for entry in kept]}
            for name, column in {"rank": self.ranks, **self.columns}.items():
                columns[name] = [column[entry] for entry in kept]
        for name, column in columns.items():
            out.links[name].extend(column)


def _named_paths(spec: RetrievedSpec) -> RetrievedSpec:
    return spec.model_copy(update={name: name for name in _PATHS if getattr(spec, name)})


def _zipped(spec: RetrievedSpec, record: Any) -> list[dict[str, Any]]:
    arrays = {name: parsed_list(compile_path(path).get(record)) for name in _PATHS if (path := getattr(spec, name, ""))}
    lists = {name: array for name, array in arrays.items() if isinstance(array, (list, tuple))}
    longest = max(map(len, lists.values()), default=0)
    return [{name: array[place] for name, array in lists.items() if place < len(array)} for place in range(longest)]


def _bare_text(item: dict[str, Any]) -> Any:
    return item.get("text") or item.get("content") or item.get("page_content")


def _bare_doc(item: dict[str, Any]) -> str | None:
    return _first_in(item.get("metadata"), METADATA_DOCS)


def _first_in(metadata: Any, keys: tuple[str, ...]) -> str | None:
    if not isinstance(metadata, dict):
        return None
    return next((found for key in keys if (found := text(metadata.get(key)))), None)


def _chunk_ids(ids: list[str | None], flat: list[Any], hashes: list[str | None]) -> tuple[list[str | None], list[str]]:
    if None not in ids:
        return [key if key is None or key.isascii() else canonical_chunk_id(key) for key in ids], ["explicit"] * len(
            ids
        )
    found: list[str | None] = []
    origins = []
    for key, item, text_hash in zip(ids, flat, hashes, strict=True):
        in_metadata = None if key else _first_in(item.get("metadata"), METADATA_IDS)
        chosen = key or in_metadata or text_hash
        found.append(chosen and canonical_chunk_id(chosen))
        origins.append("explicit" if key else "metadata" if in_metadata else "text_hash")
    return found, origins

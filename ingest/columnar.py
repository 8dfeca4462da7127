"""Staged rows as Arrow tables, the form in which they travel between processes and into DuckDB."""

import hashlib
import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ingest.interaction import FeedbackEvent
from ingest.staging import INTERACTION_COLUMNS, LINK_COLUMNS, StagedRows

_TIME = pa.timestamp("us", "UTC")
COLUMN_TYPES: dict[str, Any] = {
    "asked_at": _TIME,
    "latency_ms": pa.float64(),
    "input_tokens": pa.int64(),
    "output_tokens": pa.int64(),
    "cost": pa.float64(),
    "stream_cut": pa.bool_(),
    "version_ns": pa.int64(),
    "row": pa.int32(),
    "rank": pa.int32(),
    "score": pa.float64(),
}
_REPEATED = {"source", "stage", "id_origin", "chunk_id", "doc_id", "text_hash", "model", "prompt_version"}
"""Columns of few values, sent once each with an index a row."""
_VOTE_SCHEMA = pa.schema(
    [
        ("event_key", pa.string()),
        ("source", pa.string()),
        ("target_kind", pa.string()),
        ("target_id", pa.string()),
        ("name", pa.string()),
        ("value_number", pa.float64()),
        ("value_text", pa.string()),
        ("scorer_kind", pa.string()),
        ("comment", pa.string()),
        ("given_at", _TIME),
    ]
)
_INT_LIMIT = 2**63
_NUMBER = re.compile(r"^-?\d+(\.\d+)?$")


class Tables(NamedTuple):
    """One block as Arrow tables; row numbers of `links` count within `interactions`."""

    interactions: pa.Table
    links: pa.Table
    texts: pa.Table
    votes: pa.Table
    aliases: pa.Table

    @property
    def size(self) -> int:
        """How many interactions there are."""
        return int(self.interactions.num_rows)

    def split(self, at: int) -> tuple["Tables", "Tables"]:
        """Return the first `at` interactions with all else that stands beside the links, and the others."""
        rows = self.links["row"]
        is_first = pa.compute.less(rows, pa.scalar(at, pa.int32()))
        moved = self.links.set_column(0, "row", pa.compute.subtract(rows, pa.scalar(at, pa.int32())))
        links = moved.filter(pa.compute.invert(is_first))
        first = self._replace(interactions=self.interactions.slice(0, at), links=self.links.filter(is_first))
        nothing = (table.slice(0, 0) for table in self[2:])
        return first, Tables(self.interactions.slice(at), links, *nothing)


def as_tables(rows: StagedRows) -> Tables:
    """Convert staged rows; texts that are no Unicode are mended, whole numbers beyond 64 bit become missing."""
    votes = [_vote_row(vote) for vote in rows.votes]
    return Tables(
        pa.table({name: _array(name, rows.columns[name]) for name in INTERACTION_COLUMNS}),
        pa.table({name: _array(name, rows.links[name]) for name in LINK_COLUMNS}),
        pa.table({"text_hash": _array("", list(rows.texts)), "text": _array("", list(rows.texts.values()))}),
        pa.Table.from_pylist(votes, schema=_VOTE_SCHEMA),
        pa.table({name: _array("", [entry[at] for entry in rows.aliases]) for at, name in enumerate(_ALIAS_COLUMNS)}),
    )


_ALIAS_COLUMNS = ("source", "alias", "interaction_id")


@cache
def no_rows() -> Tables:
    """Return tables of nothing."""
    return as_tables(StagedRows())


def _array(name: str, values: list[Any]) -> pa.Array:
    kind = COLUMN_TYPES.get(name, pa.string())
    try:
        array = pa.array(values, kind)
    except (pa.ArrowException, OverflowError, UnicodeEncodeError, ValueError, TypeError):
        array = pa.array([_mended(value, kind) for value in values], kind)
    return array.dictionary_encode() if name in _REPEATED else array


def _mended(value: Any, kind: Any) -> Any:
    if kind == pa.string():
        return None if value is None else str(value).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if kind == pa.int64() and isinstance(value, (int, float)):
        return int(value) if -_INT_LIMIT <= value < _INT_LIMIT else None
    return value


def _vote_row(vote: FeedbackEvent) -> dict[str, Any]:
    value = vote.value
    if isinstance(value, str) and _NUMBER.match(value.strip()):
        value = float(value)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    written = str(value).lower() if isinstance(value, bool) else value
    return {
        "event_key": _event_key(vote),
        "source": vote.source,
        "target_kind": vote.target_kind,
        "target_id": str(vote.target_id),
        "name": vote.name,
        "value_number": float(value) if is_number and value is not None else None,
        "value_text": None if is_number or written is None else str(written),
        "scorer_kind": vote.scorer_kind,
        "comment": vote.comment,
        "given_at": vote.given_at,
    }


def _event_key(vote: FeedbackEvent) -> str:
    if vote.event_id:
        return f"{vote.source}:{vote.event_id}"
    whole = "\x1f".join(map(str, vote))
    return hashlib.blake2b(whole.encode("utf-8", "replace"), digest_size=16).hexdigest()


def without(tables: Tables, ids: Collection[str]) -> Tables:
    """Return the tables without the interactions of these ids; their texts stay."""
    if not ids or not tables.size:
        return tables
    unwanted = pa.array(list(ids), pa.string())
    kept = pc.invert(pc.is_in(tables.interactions.column("interaction_id"), unwanted))
    rows = pc.subtract(pc.cumulative_sum(kept.cast(pa.int32())), 1).cast(pa.int32())
    links = tables.links.filter(kept.take(tables.links.column("row")))
    links = links.set_column(0, "row", rows.take(links.column("row")))
    aliases = tables.aliases.filter(pc.invert(pc.is_in(tables.aliases.column("interaction_id"), unwanted)))
    return tables._replace(interactions=tables.interactions.filter(kept), links=links, aliases=aliases)


def joined(blocks: Sequence[Tables]) -> Tables:
    """Return several blocks as one."""
    if len(blocks) == 1:
        return blocks[0]
    links, first = [], 0
    for block in blocks:
        rows = pc.add(block.links.column("row"), pa.scalar(first, pa.int32()))
        links.append(block.links.set_column(0, "row", rows))
        first += block.size
    interactions = pa.concat_tables(block.interactions for block in blocks)
    rest = (pa.concat_tables([block[at] for block in blocks]) for at in (2, 3, 4))
    return Tables(interactions, pa.concat_tables(links), *rest)


def drained(table: pa.Table) -> pa.RecordBatchReader:
    """Return the rows to be read once, each batch let go of after it; a table in a view stays until the commit."""
    return pa.RecordBatchReader.from_batches(table.schema, _popped(table.to_batches()))


def _popped(batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    batches.reverse()
    while batches:
        yield batches.pop()


def table_bytes(table: pa.Table) -> bytes:
    """Serialise one table for another process."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def table_of(content: bytes) -> pa.Table:
    """Read what `table_bytes` wrote."""
    return pa.ipc.open_stream(content).read_all()

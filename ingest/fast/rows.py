"""Normalises the rows of one slice column by column, and adds what the mapping reader made of the odd ones."""

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingest.adapters.mapping_columns import derived_ids
from ingest.adapters.mapping_file import NUMBER_FIELDS, FieldSpec, InteractionsSection
from ingest.adapters.mapping_values import MS_IN, mapped_value, note_naive_times
from ingest.columnar import COLUMN_TYPES
from ingest.fast.chunks import Links
from ingest.fast.columns import (
    Array,
    Mask,
    Normalised,
    either,
    integer_array,
    is_structure,
    number_array,
    only_chunk,
    rounded_ids,
    text_array,
    time_array,
    true_rows,
)
from ingest.interaction import FeedbackEvent
from ingest.normalising import integer, number, text
from ingest.privacy import Redactor
from ingest.reading_jobs import RowReader, StagedBlock
from ingest.staging import INTERACTION_COLUMNS, VOTE_FIELD, StagedRows, declared_vote


class FastRows:
    """One slice: a column a mapped field, the links of its chunks, and which rows are odd."""

    def __init__(self, section: InteractionsSection, table: pa.Table, links: Links | None) -> None:
        """Normalise every column of `table`, which has the fields as texts and `is_odd`."""
        self.section, self.links, self.size = section, links, table.num_rows
        self.specs = section.fields()
        self.naive: dict[str, Mask] = {}
        self.odd: Mask = true_rows(only_chunk(table["is_odd"]))
        self.columns: dict[str, Array] = {}
        for name, spec in self.specs.items():
            raw = only_chunk(table[name]) if spec.path else None
            found = self._normalised(name, spec, raw) if raw is not None else _repeated(name, spec, self.size)
            self.columns[name] = found.values
            self._mark(found.odd)
        if "id" not in self.columns:
            self.columns["id"] = self._derived_ids()
        for name in ("id", "question"):
            self._mark(true_rows(self.columns[name].is_null()))
        for name in ("id", "session_id", "user_id"):
            self._mark(rounded_ids(self.columns[name]) if name in self.columns else None)
        self._mark(links and links.odd)

    def _derived_ids(self) -> Array:
        nothing = [None] * self.size
        names = ("session_id", "asked_at", "question")
        return pa.array(derived_ids(*(self.columns[n].to_pylist() if n in self.columns else nothing for n in names)))

    def _mark(self, odd: Mask | None) -> None:
        if odd is not None:
            self.odd = either(self.odd, odd)

    def _normalised(self, name: str, spec: FieldSpec, raw: Array) -> Normalised:
        if name == VOTE_FIELD or spec.map:
            return Normalised(raw if name == VOTE_FIELD else _mapped(spec, raw), is_structure(raw))
        if name in ("asked_at", "updated_at"):
            return self._times(name, raw, spec)
        if name not in NUMBER_FIELDS:
            return text_array(raw)
        if name.endswith("tokens"):
            return integer_array(raw)
        values, odd = number_array(raw)
        factor = MS_IN.get(spec.unit) if name == "latency_ms" else None
        return Normalised(pc.multiply(values, factor) if factor else values, odd)

    def _times(self, name: str, raw: Array, spec: FieldSpec) -> Normalised:
        found = time_array(raw, unit=spec.unit, is_utc=spec.timezone == "UTC")
        if found.naive is not None and "timezone" not in spec.model_fields_set:
            self.naive[name] = found.naive
        return Normalised(found.values, found.odd)

    def found_paths(self) -> set[str]:
        """Return the mapped paths that lead somewhere."""
        found = {spec.path for name, spec in self.specs.items() if self.columns[name].null_count < self.size}
        shape = self.section.retrieved
        if self.links is not None and shape is not None and self.links.table.num_rows:
            found |= {shape.list, *(getattr(shape, name) for name in self.links.found)}
        return found - {""}

    def block(self, left: StagedRows, rest: Array | None, *, reader: RowReader, source: str, file: str) -> StagedBlock:
        """Return the clean rows, with those behind them that `left` holds of the odd ones, and one account of both.

        `rest` is what nothing maps, as JSON, row by row.
        """
        clean = ~self.odd if self.odd.any() else None
        columns = {name: _kept(column, clean) for name, column in self.columns.items()}
        if rest is not None:
            columns["metadata"] = _kept(rest, clean)
        size = len(columns["id"])
        left.votes.extend(self._votes(columns, source, reader.redactor))
        _protect(columns, reader.redactor)
        for name, naive in self.naive.items():
            note_naive_times(left, name, file, int((naive & ~self.odd).sum()))
        left.read += size
        left.redactions.update(reader.redactor.counts)
        reader.redactor.counts.clear()
        return _joined(_interactions(columns, source, size), self._clean_links(clean), reader.as_block(left))

    def _clean_links(self, clean: Mask | None) -> pa.Table | None:
        if self.links is None or clean is None:
            return self.links and self.links.table
        rows = self.links.table["row"].to_numpy()
        moved = (np.cumsum(clean) - 1).astype(np.int32)[rows]
        return self.links.table.set_column(0, "row", pa.array(moved)).filter(pa.array(clean[rows]))

    def _votes(self, columns: dict[str, Array], source: str, redactor: Redactor) -> Iterator[FeedbackEvent]:
        spec = self.section.feedback
        if spec is None:
            return
        picked = pc.indices_nonzero(columns[VOTE_FIELD].is_valid())
        names = ("id", VOTE_FIELD, "feedback_comment", "asked_at")
        values = [columns[name].take(picked).to_pylist() if name in columns else [None] * len(picked) for name in names]
        for native, value, said, given_at in zip(*values, strict=True):
            meant = declared_vote(mapped_value(spec, value)) if spec.map else value
            if meant is not None:
                vote = FeedbackEvent(source, "interaction", native, VOTE_FIELD, meant)
                key = f"in-record:{source}:{native}"
                yield vote._replace(comment=said and redactor.text(said), given_at=given_at, event_id=key)


def _repeated(name: str, spec: FieldSpec, size: int) -> Normalised:
    """Return a constant as a column."""
    kind = COLUMN_TYPES.get(name, pa.string())
    if name in NUMBER_FIELDS:
        value = integer(spec.const) if name.endswith("tokens") else number(spec.const)
        return Normalised(pa.array([value] * size, kind), None)
    return Normalised(pa.array([text(spec.const)] * size, kind), None)


def _mapped(spec: FieldSpec, raw: Array) -> Array:
    return _each_distinct(raw, lambda value: text(mapped_value(spec, value)))


def _each_distinct(column: Array, change: Callable[[str], str | None]) -> Array:
    encoded = column.dictionary_encode()
    return pa.array(list(map(change, encoded.dictionary.to_pylist())), pa.string()).take(encoded.indices)


def _protect(columns: dict[str, Array], redactor: Redactor) -> None:
    """Hash user ids and redact what people wrote."""
    if "user_id" in columns:
        columns["user_id"] = _each_distinct(columns["user_id"], redactor.hash_user)
    if "session_id" in columns and not redactor.is_off:
        named = pc.match_substring_regex(columns["session_id"], "[@+]")
        if pc.any(named).as_py():
            columns["session_id"] = _each_distinct(columns["session_id"], redactor.session)
    for name in ("question", "answer", "error"):
        if name in columns:
            columns[name] = redactor.array(columns[name])
    if "metadata" in columns:
        columns["metadata"] = redactor.json_array(columns["metadata"])


def _kept(column: Array, clean: Mask | None) -> Array:
    return column if clean is None else column.filter(pa.array(clean))


def _interactions(columns: dict[str, Array], source: str, size: int) -> pa.Table:
    named = {
        **columns,
        "interaction_id": pc.binary_join_element_wise(source, columns["id"], ":"),
        "source": pa.repeat(source, size),
        "stream_cut": pa.repeat(False, size),  # noqa: FBT003 - a value, not a switch
        "version_ns": pa.repeat(0, size),
    }
    if "updated_at" in columns:
        named["version_ns"] = pc.fill_null(pc.multiply(columns["updated_at"].cast(pa.int64()), 1000), 0)
    table = {name: _column(name, named.get(name), size) for name in INTERACTION_COLUMNS}
    return pa.table(table)


def _column(name: str, column: Array | None, size: int) -> Array:
    if column is None:
        column = pa.nulls(size, COLUMN_TYPES.get(name, pa.string()))
    return column.dictionary_encode() if name in ("source", "model", "prompt_version") else column


def _joined(interactions: pa.Table, links: pa.Table | None, left: StagedBlock) -> StagedBlock:
    tables = left.tables
    moved = pc.add(tables.links["row"], pa.scalar(interactions.num_rows, pa.int32()))
    behind = tables.links.set_column(0, "row", moved)
    joined = tables._replace(
        interactions=pa.concat_tables([interactions, tables.interactions]),
        links=behind if links is None else pa.concat_tables([links, behind]),
    )
    return left._replace(tables=joined)

"""Reads any log through a declarative mapping, column by column, so that a million records take seconds."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.adapters.base import Outcome, Record, Skip, Span, Trace
from ingest.adapters.exact_ids import ExactIds
from ingest.adapters.mapping_columns import MappedColumns
from ingest.adapters.mapping_file import InteractionsSection, MappingFile, load_preset
from ingest.adapters.mapping_paths import compile_path, holds
from ingest.adapters.mapping_shapes import expand_turns, span_shape
from ingest.adapters.mapping_votes import stage_votes, votes_among
from ingest.normalising import text
from ingest.staging import Block, Rows, StagedRows

_SAMPLE = 20


class MappingReader:
    """Turns blocks of records into staged rows as a mapping file says."""

    def __init__(self, mapping: MappingFile) -> None:
        """Take a mapping; its paths are compiled at first use and kept."""
        self.mapping = mapping
        self.shape = span_shape(mapping.interactions) if mapping.interactions else None
        self._exact_ids = ExactIds(mapping)

    @property
    def is_staged(self) -> bool:
        """Whether interactions are put together from several records."""
        return self.shape is not None

    def read(self, block: Block) -> StagedRows:
        """Stage one block; every record becomes an interaction, a vote, a span, a skip or a reject."""
        out = StagedRows(read=len(block.values))
        rows = self._take_votes(self._exact_ids.restored(_objects_only(block, out)), out)
        section = self.mapping.interactions
        if section is None:
            if rows.values:
                out.skips["not a vote"] += len(rows.values)
            return out
        rows = _left_by_where(section.where, rows, out)
        if self.shape is not None:
            spans = self.shape.spans(rows.file, rows.lines, rows.values)
            out.spans.extend(span._replace(user_id=self._user_of(span)) for span in spans)
        elif section.turns is not None:
            self._stage(section, _turn_rows(section, rows, out), out)
        else:
            self._stage(section, rows, out)
        return out

    def assemble(self, traces: Iterable[Trace]) -> StagedRows:
        """Stage the interactions of traces whose records were staged as spans."""
        out = StagedRows()
        if self.mapping.interactions is not None and self.shape is not None:
            records = [record for trace in traces for record in self.shape.records(trace)]
            self._stage(self.mapping.interactions, Rows.of("", records), out)
        return out

    def _user_of(self, span: Span) -> str | None:
        """Return whose record this is, so that the id is hashed before the span is kept."""
        section = self.mapping.interactions
        if section is None or section.user_id is None or not section.user_id.path or self.shape is None:
            return None
        get = compile_path(section.user_id.path).get
        alone = [*self.shape.records(Trace(span.trace_id, (span,))), {"user": span.payload, "assistant": span.payload}]
        return next((found for record in alone if (found := text(get(record)))), None)

    def _stage(self, section: InteractionsSection, rows: Rows, out: StagedRows) -> None:
        if rows.values:
            MappedColumns(self.mapping.source, section, rows, out).stage()

    def _take_votes(self, rows: Rows, out: StagedRows) -> Rows:
        section = self.mapping.feedback
        if section is None:
            return rows
        is_vote = votes_among(section, self.mapping.interactions, rows.file, rows.values)
        if not any(is_vote):
            return rows
        stage_votes(self.mapping.source, section, rows.only(is_vote), out)
        return rows.only([not vote for vote in is_vote])


def _objects_only(block: Block, out: StagedRows) -> Rows:
    rows = Rows(block.file, block.lines, block.values, block.raws)
    if all(type(value) is dict for value in block.values):
        return rows
    is_object = [type(value) is dict for value in block.values]
    for row, fits in enumerate(is_object):
        if not fits:
            out.rejects.append(rows.reject(row, f"not an object but {type(block.values[row]).__name__}"))
    return rows.only(is_object)


def _left_by_where(where: str, rows: Rows, out: StagedRows) -> Rows:
    if not where:
        return rows
    condition = compile_path(where)
    keep = [holds(condition, record) for record in rows.values]
    if all(keep):
        return rows
    out.skips["left out by where"] += keep.count(False)
    return rows.only(keep)


def _turn_rows(section: InteractionsSection, rows: Rows, out: StagedRows) -> Rows:
    if section.turns is None:
        return rows
    expanded = expand_turns(section.turns, rows.values)
    if expanded.empty:
        out.skips["conversation without a question"] += len(expanded.empty)
    lines = [rows.lines[row] for row in expanded.origins]
    return Rows(rows.file, lines, expanded.records, [rows.raws[row] for row in expanded.origins])


class MappingAdapter:
    """A mapping as an adapter of the registry; what a preset is."""

    def __init__(self, name: str, mapping: MappingFile) -> None:
        """Name the mapping as `--format` takes it."""
        self.name = name
        self.description = mapping.description or f"mapping of {mapping.source}"
        self.mapping = mapping
        self.reader = MappingReader(mapping)

    def detects(self, sample: Sequence[Any]) -> float:
        """Return the confidence the mapping declares when most of the sample's records look like its own."""
        records = [value for value in sample[:_SAMPLE] if isinstance(value, dict)]
        if self.mapping.detect is None or not records:
            return 0.0
        share = sum(map(self._looks_like, records)) / len(sample[:_SAMPLE])
        return self.mapping.detect.confidence * share if share >= 0.5 else 0.0  # noqa: PLR2004 - most of them

    def _looks_like(self, record: dict[str, Any]) -> bool:
        wanted = self.mapping.detect
        if wanted is None or not all(compile_path(path).is_in(record) for path in wanted.all):
            return False
        if wanted.any and not any(compile_path(path).is_in(record) for path in wanted.any):
            return False
        return not wanted.where or holds(compile_path(wanted.where), record)

    def read(self, records: Iterable[Record]) -> Iterator[Outcome]:
        """Yield the outcomes of records as objects."""
        found = list(records)
        file = found[0].file if found else ""
        block = Block(file, [r.line for r in found], [r.value for r in found], [r.raw for r in found])
        yield from _outcomes(self.reader.read(block))

    def assemble(self, trace: Trace) -> Iterator[Any]:
        """Yield the interactions of one trace."""
        yield from _outcomes(self.reader.assemble([trace]))


def _outcomes(rows: StagedRows) -> Iterator[Outcome]:
    yield from rows.interactions()
    yield from rows.votes
    yield from rows.spans
    yield from rows.rejects
    yield from (Skip(reason, count) for reason, count in rows.skips.items())
    yield from rows.cautions


def preset(name: str) -> MappingAdapter:
    """Return a shipped mapping as an adapter."""
    return MappingAdapter(name, load_preset(name))

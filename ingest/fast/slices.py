"""Reads slices of a log of plain fields with DuckDB; odd lines are left to the mapping reader."""

from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from ingest.adapters.mapping_file import InteractionsSection, MappingFile
from ingest.fast.chunks import ChunkReader, Links, PassageBook
from ingest.fast.columns import Array, only_chunk, with_members, without_nulls
from ingest.fast.plan import FastPlan
from ingest.fast.rows import FastRows
from ingest.reading.blocks import CUT_OFF, LinePart, read_part
from ingest.reading.slices import Written, write_part
from ingest.reading_jobs import RowReader, StagedBlock, Way
from ingest.staging import StagedRows

_MEMORY = "150MB"
_LARGEST_OBJECT = 4 << 20
_BUFFER = 2 * _LARGEST_OBJECT
_MOST_ODD = 0.5
"""Share of odd rows from which on the mapping reader reads the whole slice."""


class FastJob(NamedTuple):
    """All that reading one log fast takes."""

    plan: FastPlan
    mapping: MappingFile
    section: InteractionsSection
    way: Way
    found_paths: set[str]
    missing_paths: set[str]
    """Mapped paths that lead somewhere, or nowhere, in the first records."""


_FAULTS = (duckdb.Error, UnicodeError)
"""What DuckDB raises for lines it cannot read; its message may quote bytes that are no UTF-8."""


class _Mode(NamedTuple):
    """How the engine is asked to read: the columns it is told of, and whether it stops at what does not fit them."""

    columns: str
    is_strict: bool

    @property
    def options(self) -> str:
        size = f"maximum_object_size = {_LARGEST_OBJECT}"
        return f"format = 'newline_delimited', {size}, ignore_errors = {not self.is_strict}"


class SliceReader:
    """Reads slices with an engine of its own that works on one core; one reader a thread."""

    def __init__(self, job: FastJob, folder: Path, book: PassageBook) -> None:
        """Open the engine; `folder` takes the slice that is being read, `book` the passages of all readers."""
        self.job, self.plan = job, job.plan
        self.rows = RowReader(job.way)
        stage = job.section.retrieved.stage if job.section.retrieved else ""
        self.chunks = ChunkReader(stage, self.rows.redactor, book)
        self.place = folder / f"slice-{id(self)}.jsonl"
        self._modes = [
            _Mode(job.plan.typed_columns, is_strict=True),
            _Mode(job.plan.columns, is_strict=True),
            _Mode(job.plan.columns, is_strict=False),
        ]
        spill = str(folder / f"spill-{id(self)}")
        self.connection = duckdb.connect(config={"memory_limit": _MEMORY, "threads": 1, "temp_directory": spill})
        self.connection.execute("SET TimeZone = 'UTC'; SET enable_external_file_cache = false")

    def close(self) -> None:
        """Close the engine and remove the last slice."""
        self.connection.close()
        self.place.unlink(missing_ok=True)

    def read(self, part: LinePart) -> StagedBlock | None:
        """Return the staged block of one slice; None when the mapping reader has to read all of it."""
        if part.content is not None and part.content.startswith(CUT_OFF):
            return None
        written = write_part(part, self.place)
        for mode in list(self._modes):
            try:
                found = self._read(part, written, mode)
            except _FAULTS:
                continue
            if mode.is_strict:
                self._modes = self._modes[self._modes.index(mode) :]
            return found
        return None

    def _read(self, part: LinePart, written: Written, mode: _Mode) -> StagedBlock | None:
        table = self._table(self._query(mode))
        links = self._links(table, mode)
        rows = FastRows(self.job.section, table, links)
        rest = self._rests(mode, table, links, written) if self.plan.has_rest else None
        if rest is not None and len(rest) != table.num_rows:
            return None
        if self.plan.has_rest and self.plan.partitions:
            rest = with_members(rest, self.plan.partitions, table.num_rows)
        left = self._odd_rows(part, np.flatnonzero(rows.odd), table.num_rows)
        if left is None:
            return None
        left.lines = written.lines
        left.found_paths |= self.job.found_paths | rows.found_paths()
        left.missing_paths |= self.job.missing_paths
        source = self.job.mapping.source
        return rows.block(left, rest, reader=self.rows, source=source, file=part.file)

    @staticmethod
    def _source(mode: _Mode) -> str:
        return f"read_json($log, columns = {mode.columns}, {mode.options})"

    def _table(self, query: str, **values: Any) -> pa.Table:
        """Return the result in the order of the file."""
        found = self.connection.sql(query, params={"log": str(self.place), **values})
        table: pa.Table = found.to_arrow_table(1 << 20)
        return table

    def _query(self, mode: _Mode) -> str:
        plan = self.plan
        columns = [f"{sql} AS {name}" for name, sql in plan.fields.items()]
        columns.extend([f"{plan.links} AS links"] if plan.links else [])
        columns.extend([f"{plan.counted.between} AS between"] if plan.counted else [])
        odd = plan.is_odd if mode.is_strict else f"{plan.is_odd} OR {plan.is_missing}"
        return f"SELECT {', '.join(columns)}, {odd} AS is_odd FROM {self._source(mode)}"  # noqa: S608 - quoted names

    def _links(self, table: pa.Table, mode: _Mode) -> Links | None:
        if not self.plan.links:
            return None
        return self.chunks.read(only_chunk(table["links"]), lambda places: self._find_passages(places, mode))

    def _find_passages(self, places: Array, mode: _Mode) -> pa.Table:
        """Return the passages of the chunks at these places, counted through the lists of the slice at hand."""
        self.connection.register("wanted", pa.table({"place": places}))
        try:
            return self._table(
                "SELECT unnest(s) FROM (SELECT s, row_number() OVER () - 1 AS place"  # noqa: S608 - quoted names
                f" FROM (SELECT unnest({self.plan.passages}) AS s FROM {self._source(mode)}))"
                " WHERE place IN (SELECT place FROM wanted)"
            )
        finally:
            self.connection.unregister("wanted")

    def _rests(self, mode: _Mode, table: pa.Table, links: Links | None, written: Written) -> Array | None:
        """Return what nothing maps, row by row, when there is anything of the kind."""
        # Counting keys costs a fraction of reading them, and reading them far less than a text a line.
        if mode.is_strict and (written.valued_keys == self._mapped_keys(table, links) or not self._has_rests()):
            return None
        mapped = self.plan.mapped
        query = _REST.replace("{options}", mode.options)
        patch = orjson.dumps(dict.fromkeys(mapped)).decode()
        return without_nulls(only_chunk(self._table(query, mapped=mapped, patch=patch)["rest"]))

    def _mapped_keys(self, table: pa.Table, links: Links | None) -> int:
        """Return how many keys have a value that some path reads; -1 when the columns do not tell."""
        counted = self.plan.counted
        if counted is None:
            return -1
        found = sum(table.num_rows - table[name].null_count for name in counted.fields)
        found += pc.sum(table["between"]).as_py() or 0
        if links is not None:
            found += sum(links.given[name] for name in counted.parts)
        return int(found)

    def _has_rests(self) -> bool:
        try:
            return bool(self._table(_HAS_RESTS, mapped=self.plan.mapped)["has_rests"][0].as_py())
        except _FAULTS:
            return True

    def _odd_rows(self, part: LinePart, odd: Any, size: int) -> StagedRows | None:
        """Read odd rows with the mapping reader, by their place among the lines that are not blank."""
        if len(odd) > size * _MOST_ODD:
            return None
        if not len(odd):
            return StagedRows()
        wanted = set(odd.tolist())
        numbers: list[int] = []
        raws = []
        row = -1
        with self.place.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                if line.isspace():
                    continue
                row += 1
                if row in wanted:
                    numbers.append(number)
                    raws.append(line.rstrip(b"\r\n"))
        return self._read_lines(part, numbers, raws) if row + 1 == size else None

    def _read_lines(self, part: LinePart, numbers: list[int], raws: list[bytes]) -> StagedRows:
        read = read_part(part._replace(content=b"\n".join(raws)))
        block = read.block._replace(lines=[numbers[at - 1] for at in read.block.lines])
        rejects = [reject._replace(line=numbers[reject.line - 1]) for reject in read.rejects]
        cautions = [caution._replace(line=numbers[caution.line - 1]) for caution in read.cautions]
        return self.rows.staged(read._replace(block=block, rejects=rejects, cautions=cautions))


_HAS_RESTS = f"""
SELECT count(*) > 0 AS has_rests FROM (
    SELECT any_value(keys) AS keys FROM (
        SELECT json_keys(line) AS keys
        FROM read_csv(
            $log, columns = {{'line': 'VARCHAR'}}, header = FALSE, delim = chr(1), quote = '', escape = '',
            auto_detect = FALSE, parallel = FALSE, max_line_size = {_LARGEST_OBJECT}, buffer_size = {_BUFFER}
        )
    ) GROUP BY hash(keys)
) WHERE NOT list_has_all($mapped, keys)
"""  # noqa: S608 - two numbers of our own
_REST = """
SELECT CASE WHEN list_has_all($mapped, json_keys(json)) THEN NULL
    ELSE nullif(CAST(json_merge_patch(json, CAST($patch AS JSON)) AS VARCHAR), '{}') END AS rest
FROM read_json_objects($log, {options})
"""

"""Writes staged blocks to the log store in groups, one committed transaction each."""

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import duckdb

from ingest.adapters import family_of
from ingest.adapters.mapping_file import MappingFile
from ingest.columnar import Tables
from ingest.ingest_records import NotedFile, NotedReject, keep_mapping, write_file, write_rejects
from ingest.ingest_report import FileAccount, InteractionCounts
from ingest.log_store import MEMORY_LIMIT, LogStore
from ingest.merging import Merged, merge
from ingest.reading_jobs import StagedBlock
from ingest.spans.staging import ArrivingTraces, MadeTraces, take_traces
from ingest.way_finding import FileWay
from ingest.worker_processes import give_back_memory

GROUP_BYTES = 128 << 20
"""What a transaction gathers, about: more than the rows that DuckDB compresses together."""
_GROUP_PAYLOAD_BYTES = 64 << 20
"""What the payloads of spans in it may take besides."""
_ROW_GROUP = 122_880
"""Rows that DuckDB compresses together; others are compressed last in a transaction, and again when they fit others."""
_STORING_MEMORY = "200MB"
"""Enough for one thread, and the less the engine keeps the more is left for what is read meanwhile."""
_GROUP_REJECTS = 5_000


@dataclass(slots=True)
class _Group:
    """What is stored in one transaction."""

    tables: list[Tables] = field(default_factory=list)
    traces: ArrivingTraces | None = None
    rejects: list[NotedReject] = field(default_factory=list)
    files: list[NotedFile] = field(default_factory=list)
    mappings: dict[str, MappingFile] = field(default_factory=dict)
    rows: int = 0
    bytes: int = 0
    """Of memory, about."""

    def add(self, tables: Tables) -> None:
        """Gather the tables of a block."""
        self.tables.append(tables)
        self.rows += tables.size
        self.bytes += sum(table.nbytes for table in tables)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to store."""
        return not (self.tables or self.traces or self.rejects or self.files or self.mappings)

    @property
    def is_full(self) -> bool:
        """Whether it is large enough to be stored."""
        with_spans = self.traces is not None
        if self.bytes > GROUP_BYTES + with_spans * (GROUP_BYTES >> 3) or len(self.rejects) > _GROUP_REJECTS:
            return True  # of spans a little later, so that mostly a row group is full before
        if self.traces is not None:  # whose payloads take as much memory again while they are stored
            return self.rows >= _ROW_GROUP or self.traces.payload_bytes > _GROUP_PAYLOAD_BYTES
        return self.rows >= _ROW_GROUP and self.bytes * 2 > GROUP_BYTES

    def split_off_part(self) -> "_Group":
        """Leave as many rows as fill whole row groups and return the others; all stay when there are few."""
        left = self.rows % _ROW_GROUP if self.rows >= _ROW_GROUP and self.traces is None else 0
        parts: list[Tables] = []
        while left:
            last = self.tables.pop()
            if last.size > left:
                first, last = last.split(last.size - left)
                self.tables.append(first)
            parts.insert(0, last)
            left -= last.size
        later = _Group()
        for tables in parts:
            later.add(tables)
        if parts:  # A file is noted with its last rows.
            later.files, self.files = self.files, []
        return later


class _Written(NamedTuple):
    """What became of a group."""

    merged: Merged
    spans_new: int


class GroupWriter:
    """Gathers staged blocks and writes them group by group, one beside the reading of the next.

    The store is held only while a group is written.
    """

    def __init__(self, store: LogStore, ingest_id: int) -> None:
        """Start with nothing gathered."""
        self.store, self.ingest_id = store, ingest_id
        self.counts = InteractionCounts()
        self.votes = 0
        self.spans_new = 0
        self._group = _Group()
        self._thread = ThreadPoolExecutor(1)
        self._writing: Future[_Written] | None = None

    def __enter__(self) -> Self:
        """Keep the thread that writes."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let the group that is being written come to its end."""
        self._thread.shutdown(wait=True)

    def add(self, block: StagedBlock, way: FileWay | None) -> None:
        """Gather one block, and have the group written when it is large enough."""
        group = self._group
        group.add(block.tables)
        if way is not None:
            adapter = way.way.adapter
            group.rejects.extend(NotedReject(reject, way.format) for reject in block.rest.rejects)
            if way.way.mapping is not None and block.traces.num_rows:
                group.mappings[adapter] = way.way.mapping
            if block.traces.num_rows:
                family = adapter if way.way.mapping else family_of(adapter)
                self._add_traces(family, MadeTraces(block.traces, block.made))
        if self._group.is_full:
            self._hand_over()

    def _add_traces(self, family: str, traces: MadeTraces) -> None:
        """Gather traces; of those that more than fill a row group the ones that fill it are written at once."""
        if parts := traces.split(_ROW_GROUP - self._group.rows):
            self._gather_traces(family, parts[0])
            self._hand_over()
            traces = parts[1]
        self._gather_traces(family, traces)

    def _gather_traces(self, family: str, traces: MadeTraces) -> None:
        group = self._group
        if group.traces is None:
            group.traces = ArrivingTraces(self.store.path.parent)
        group.bytes += group.traces.add(family, *traces)
        group.rows += traces.made.size if traces.made is not None else 0

    def add_assembled(self, block: StagedBlock) -> None:
        """Gather interactions put together from staged spans; `write` stores them."""
        self._group.add(block.tables)
        self._group.rejects.extend(NotedReject(reject, "assembly") for reject in block.rest.rejects)

    def note_file(self, *, file_digest: str, way_digest: str, account: FileAccount) -> None:
        """Note that a file was read to its end, to be stored with or after its last rows."""
        self._group.files.append(NotedFile(file_digest, way_digest, account))

    def _hand_over(self) -> None:
        """Have what is gathered written on the thread, once the group before it is."""
        self.wait()
        full = self._group
        self._group = full.split_off_part()
        self._writing = self._thread.submit(self._stored, full)

    def _taken(self) -> _Group:
        group, self._group = self._group, _Group()
        return group

    def wait(self) -> None:
        """Wait until every group that was handed over is in the store; raises what its writing raised."""
        if self._writing is not None:
            self._count(self._writing.result())
            self._writing = None

    def _count(self, written: _Written) -> None:
        self.counts = self.counts.plus(written.merged.counts)
        self.votes += written.merged.votes
        self.spans_new += written.spans_new

    def _stored(self, group: _Group) -> _Written:
        with self.store.unit() as connection:
            written = self._committed(connection, group)
        give_back_memory()
        return written

    def flush_into(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Write what is gathered in one transaction; call `wait` before the store is opened for it."""
        if not self._group.is_empty:
            self._count(self._committed(connection, self._taken()))

    def _committed(self, connection: duckdb.DuckDBPyConnection, group: _Group) -> _Written:
        # Threads that insert side by side each leave a part of a row group, which is then compressed over again: twice
        # the work. The other cores read meanwhile.
        connection.execute("SET threads = 1")
        connection.execute(f"SET memory_limit = '{_STORING_MEMORY}'")
        connection.begin()
        try:
            written = self._merged(connection, group)
            connection.commit()
        except Exception:
            with suppress(duckdb.Error):  # a transaction that failed to commit is over already
                connection.rollback()
            raise
        finally:
            connection.execute("RESET threads")
            connection.execute(f"SET memory_limit = '{MEMORY_LIMIT}'")
        return written

    def write(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Write what is gathered inside the caller's transaction."""
        self._count(self._merged(connection, self._taken()))

    def _merged(self, connection: duckdb.DuckDBPyConnection, group: _Group) -> _Written:
        with_spans = group.traces is not None
        spans = self._take_traces(connection, group)
        merged = Merged(InteractionCounts(), 0)
        if group.tables:
            merged = merge(connection, group.tables, ingest_id=self.ingest_id, with_spans=with_spans)
        write_rejects(connection, group.rejects, ingest_id=self.ingest_id)
        for name, mapping in group.mappings.items():
            keep_mapping(connection, name, mapping)
        for noted in group.files:
            write_file(connection, noted, ingest_id=self.ingest_id)
        return _Written(merged, spans)

    def _take_traces(self, connection: duckdb.DuckDBPyConnection, group: _Group) -> int:
        """Store the traces of a group, move what was made of them to its tables, and return how many spans are new."""
        traces, group.traces = group.traces, None
        if traces is None:
            return 0
        taken = take_traces(connection, traces, ingest_id=self.ingest_id)
        group.tables.extend(taken.made)
        return taken.spans

"""Reads a large log of plain fields slice by slice on threads, each with an engine of its own; the order is kept."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from itertools import chain
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple, Self

import pyarrow as pa

from ingest.adapters.mapping import MappingReader
from ingest.adapters.mapping_file import MappingFile
from ingest.fast.chunks import PassageBook
from ingest.fast.plan import fast_plan
from ingest.fast.slices import FastJob, SliceReader
from ingest.reading.blocks import LinePart
from ingest.reading.probing import Probe
from ingest.reading.slices import smaller_parts
from ingest.reading_jobs import StagedBlock, Way
from ingest.spooling import scratch_folder
from ingest.staging import Block
from ingest.worker_processes import step_behind

SLICE_BYTES = 24 << 20
_WAITING_SLICES = 2
_WAITING_CONTENTS = 1
"""How many slices are read ahead: fewer when their bytes have to be kept in memory."""
_MOST_FAILURES = 3
SlowReader = Callable[[Iterable[LinePart]], Iterator[StagedBlock]]


class SizedBlock(NamedTuple):
    """A staged block and how many bytes of the file it came from; 0 when that is not known."""

    block: StagedBlock
    size: int


def fast_job(mapping: MappingFile, found: Probe, way: Way) -> FastJob | None:
    """Return what reading a log fast takes, None when the mapping reader has to do it all."""
    plan = fast_plan(mapping, found, way.privacy)
    if plan is None or mapping.interactions is None:
        return None
    size = len(found.sample)
    seen = MappingReader(mapping).read(Block("", [0] * size, found.sample, [None] * size))
    return FastJob(plan, mapping, mapping.interactions, way, seen.found_paths, seen.missing_paths)


def read_fast(
    parts: Iterator[LinePart], job: FastJob, *, folder: Path, workers: int, slow: SlowReader
) -> Iterator[SizedBlock]:
    """Yield the blocks of slices in order; `slow` reads those that the engine cannot.

    When it turns out that it cannot read most of them, `slow` reads the rest.
    """
    failures = successes = 0
    with ExitStack() as stack:
        ahead = stack.enter_context(_Ahead(job, stack.enter_context(scratch_folder(folder)), workers))
        for part, block in ahead.read(parts):
            if block is not None:
                successes += 1
                yield SizedBlock(_with_texts(block, ahead.book.drained()), part.length)
                continue
            failures += 1
            yield from read_slowly(smaller_parts(part), slow)
            if failures > max(_MOST_FAILURES, successes):
                ahead.is_stopped = True
    yield from read_slowly(chain.from_iterable(map(smaller_parts, parts)), slow)


def _with_texts(block: StagedBlock, texts: dict[str, str]) -> StagedBlock:
    if not texts:
        return block
    table = block.tables.texts
    found = pa.table([pa.array(texts.keys()), pa.array(texts.values())], schema=table.schema)
    return block._replace(tables=block.tables._replace(texts=pa.concat_tables([table, found])))


def read_slowly(parts: Iterable[LinePart], slow: SlowReader) -> Iterator[SizedBlock]:
    """Yield the blocks of parts that the mapping reader or an adapter reads."""
    sizes: deque[int] = deque()

    def noted() -> Iterator[LinePart]:
        for part in parts:
            sizes.append(part.length)
            yield part

    for block in slow(noted()):
        yield SizedBlock(block, sizes.popleft())


class _Ahead:
    """Reads some slices ahead of the one that is asked for."""

    def __init__(self, job: FastJob, folder: Path, workers: int) -> None:
        self.is_stopped = False
        """Whether no further slice is begun."""
        self.book = PassageBook()
        self._stack = ExitStack()
        self._free: SimpleQueue[SliceReader] = SimpleQueue()
        self._workers = workers
        for _ in range(workers):
            self._free.put(self._stack.enter_context(closing(SliceReader(job, folder, self.book))))
        self._pool = ThreadPoolExecutor(workers, initializer=step_behind)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._stack.close()

    def read(self, parts: Iterator[LinePart]) -> Iterator[tuple[LinePart, StagedBlock | None]]:
        waiting: deque[tuple[LinePart, Future[StagedBlock | None]]] = deque()
        while True:
            part = None if self.is_stopped else next(parts, None)
            if part is not None:
                waiting.append((part, self._pool.submit(self._read, part)))
                most = _WAITING_SLICES if part.content is None else _WAITING_CONTENTS
                if len(waiting) <= self._workers + most:
                    continue
            if not waiting:
                return
            first, future = waiting.popleft()
            yield first, future.result()

    def _read(self, part: LinePart) -> StagedBlock | None:
        reader = self._free.get()
        try:
            return reader.read(part)
        finally:
            self._free.put(reader)

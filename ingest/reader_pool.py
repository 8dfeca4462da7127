"""Reads parts of files, and whole small files, in this process or side by side in worker processes."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

from ingest.reading.blocks import LinePart, line_parts, whole_blocks
from ingest.reading.probing import Probe
from ingest.reading.unwrapping import Layers
from ingest.reading_jobs import WORKERS, RowReader, StagedBlock, Way
from ingest.sent_blocks import SentBlock
from ingest.worker_processes import start_lean, step_behind, worker_processes

_IN_FLIGHT = 2
Job = TypeVar("Job")
Sent = TypeVar("Sent")


class WholeFile(NamedTuple):
    """A small file that one worker reads from its beginning to its end."""

    probe: Probe
    layers: Layers


_reader: RowReader | None = None


def _start_worker(way: Way) -> None:
    global _reader  # noqa: PLW0603 - one reader a worker process, set once
    start_lean()
    step_behind()
    _reader = RowReader(way)


def _reader_here() -> RowReader:
    if _reader is None:
        raise RuntimeError("the worker was not started")
    return _reader


def _read_part(part: LinePart) -> SentBlock:
    return SentBlock.of(_reader_here().read_lines(part))


def _read_file(file: WholeFile) -> list[SentBlock]:
    reader, found = _reader_here(), file.probe
    if found.container == "lines":
        return [SentBlock.of(reader.read_lines(part)) for part in line_parts(found, layers=file.layers)]
    return [SentBlock.of(reader.read(block)) for block in whole_blocks(found, layers=file.layers)]


class Readers:
    """Reads parts in order: side by side in worker processes when there are many, else right here."""

    def __init__(self, way: Way, *, workers: int) -> None:
        """Start no process yet."""
        self.here = RowReader(way)
        self._way = way
        self._workers = workers
        self._pool: ProcessPoolExecutor | None = None

    def read_parts(self, parts: Iterable[LinePart], *, many: bool) -> Iterator[StagedBlock]:
        """Yield the staged blocks of line parts in order."""
        if not many or self._workers < 2:  # noqa: PLR2004 - one worker is this process
            yield from (self.here.read_lines(part) for part in parts)
            return
        for block in self._in_order(_read_part, parts):
            yield block.received()

    def read_files(self, files: Iterable[WholeFile]) -> Iterator[list[StagedBlock]]:
        """Yield the staged blocks of each file, read side by side, in order."""
        for blocks in self._in_order(_read_file, files):
            yield [block.received() for block in blocks]

    def _in_order(self, work: Callable[[Job], Sent], jobs: Iterable[Job]) -> Iterator[Sent]:
        waiting: deque[Future[Sent]] = deque()
        for job in jobs:
            waiting.append(self._started_pool().submit(work, job))
            if len(waiting) > self._workers * _IN_FLIGHT:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def _started_pool(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = worker_processes(self._workers, _start_worker, (self._way,))
        return self._pool

    def close(self) -> None:
        """End the worker processes."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None


@contextmanager
def readers(way: Way, *, workers: int = WORKERS) -> Iterator[Readers]:
    """Yield readers for one way of reading, and end their processes afterwards."""
    opened = Readers(way, workers=workers)
    try:
        yield opened
    finally:
        opened.close()

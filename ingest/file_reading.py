"""Reads one probed file the fastest way it can be read: with DuckDB, in worker processes, or right here."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from ingest.adapters import get_adapter
from ingest.adapters.mapping import MappingAdapter
from ingest.adapters.mapping_file import MappingFile
from ingest.fast.plan import FAST_BYTES
from ingest.fast.reading import SLICE_BYTES, SizedBlock, fast_job, read_fast, read_slowly
from ingest.fast.slices import FastJob
from ingest.reader_pool import Readers, WholeFile, readers
from ingest.reading.blocks import PART_BYTES, line_parts, whole_blocks
from ingest.reading.digesting import PIECE_BYTES
from ingest.reading.probing import Probe
from ingest.reading_jobs import StagedBlock, Way
from ingest.way_finding import FileWay

_MANY_BYTES = 12 << 20
"""From so many bytes on the parts of a file are worth the start of worker processes."""
_MANY_SMALL_BYTES = 24 << 20
"""From so many bytes on small files are: each is still opened and accounted for here."""
_PARTS_A_WORKER = 4


class FileToRead(NamedTuple):
    """A probed file, how it is read (None: nothing recognises it), and its size in bytes."""

    probe: Probe
    way: FileWay | None
    size: int

    @property
    def layout(self) -> str:
        """How the file is packed and laid out, and where in its values the records stand."""
        found = self.probe
        packed = f"{found.compression} " if found.compression else ""
        spelled = f", {found.encoding}" if found.encoding != "utf-8" else ""
        place = f", in {self.way.layers}" if self.way and not self.way.layers.are_none else ""
        return f"{packed}{found.container}{spelled}{place}"


class FileReader:
    """Gives files as staged blocks; keeps its worker processes from file to file."""

    def __init__(self, scratch: Path, workers: int) -> None:
        """Start no process yet; `scratch` is where raw data may lie while it is read."""
        self.scratch, self.workers = scratch, workers
        self.stack = ExitStack()
        self._pools: dict[str, Readers] = {}
        self._ahead: dict[Path, Iterator[list[StagedBlock]]] = {}

    def expect(self, files: Sequence[FileToRead]) -> None:
        """Have small files read side by side, where there are many; `blocks` has to be asked for them in this order."""
        if self.workers < 2:  # noqa: PLR2004 - one worker is this process
            return
        small = [(file, file.way) for file in files if file.way is not None and _is_small(file)]
        for _, group in groupby(small, key=lambda entry: entry[1].way.adapter):
            alike = list(group)
            if len(alike) > 1 and sum(file.size for file, _ in alike) > _MANY_SMALL_BYTES:
                jobs = (WholeFile(file.probe._replace(sample=[], wrapper=None), way.layers) for file, way in alike)
                read = self._readers(alike[0][1].way).read_files(jobs)
                self._ahead |= {file.probe.file.path: read for file, _ in alike}

    def close(self) -> None:
        """End the worker processes."""
        self.stack.close()
        self._pools.clear()

    def tells_digests(self, found: Probe, way: FileWay, size: int) -> bool:
        """Return whether the blocks of a file tell the digests of all its pieces."""
        if found.container != "lines" or not found.is_plain or found.has_prefixes or found.file.path in self._ahead:
            return False
        return _fast_job(found, way, size) is None

    def blocks(self, found: Probe, way: FileWay, size: int) -> Iterator[SizedBlock]:
        """Yield the blocks of a file of `size` bytes in order."""
        if (ahead := self._ahead.pop(found.file.path, None)) is not None:
            yield from (SizedBlock(block, 0) for block in next(ahead))
            return
        pool = self._readers(way.way)
        if found.container != "lines":
            for block in whole_blocks(found, layers=way.layers):
                yield SizedBlock(pool.here.read(block), 0)
            return
        parts = partial(line_parts, found, layers=way.layers)
        slow = partial(pool.read_parts, many=size > _MANY_BYTES)
        if job := _fast_job(found, way, size):
            slices = parts(part_bytes=SLICE_BYTES)
            yield from read_fast(slices, job, folder=self.scratch, workers=self.workers, slow=slow)
        else:
            yield from read_slowly(parts(part_bytes=self._part_bytes(pool.here.part_bytes, found, size)), slow)

    def _part_bytes(self, most: int, found: Probe, size: int) -> int:
        """Return how much of a file of lines is read at a time: of a small one less, so that all workers have some."""
        if not found.is_plain:  # parts are unpacked here, and wait in memory
            return max(PART_BYTES, most // 2)
        share = size // (self.workers * _PARTS_A_WORKER) // PIECE_BYTES * PIECE_BYTES
        return min(most, max(PART_BYTES, share))

    def _readers(self, way: Way) -> Readers:
        if way.adapter not in self._pools:
            self._pools[way.adapter] = self.stack.enter_context(readers(way, workers=self.workers))
        return self._pools[way.adapter]


def _is_small(file: FileToRead) -> bool:
    """Return whether a file is read in one go: what DuckDB reads, or workers share, is larger."""
    return file.size < FAST_BYTES and not file.probe.is_large


def _fast_job(found: Probe, way: FileWay, size: int) -> FastJob | None:
    mapping = _mapping_of(way.way)
    is_fast = mapping is not None and way.layers.are_none and size >= FAST_BYTES
    return fast_job(mapping, found, way.way) if mapping is not None and is_fast else None


def _mapping_of(way: Way) -> MappingFile | None:
    if way.mapping is not None:
        return way.mapping
    adapter = get_adapter(way.adapter)
    return adapter.mapping if isinstance(adapter, MappingAdapter) else None

"""Measure what a warm local Spark costs per interaction: mine logs of two sizes in one session and take the slope.

`python -m tests.bench.spark_rate [SMALL] [LARGE]` (default 100,000 and 300,000), after a first run that is not counted.
Seconds of CPU are those of the JVM and of its Python workers, read from /proc, so that other work on the machine does
not count.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from ingest.exporting import write_parquet
from ingest.log_store import LogStore
from ingest.mining.spark_engine import mine_on_spark, start_spark
from tests.bench.bench_mining import say
from tests.bench.mining_log import TURNS_OF_A_BLOCK, build

WORKERS = 2
_WARMING = 20_000


class Run(NamedTuple):
    """What mining so many interactions took."""

    rows: int
    wall_s: float
    cpu_s: float


def main() -> int:
    """Measure and say the slope."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("small", nargs="?", type=int, default=100_000)
    parser.add_argument("large", nargs="?", type=int, default=300_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        logs = [_exported(Path(folder), rows) for rows in (_WARMING, given.small, given.large)]
        session = start_spark(master=f"local[{WORKERS}]", shuffle_partitions=2 * WORKERS)
        try:
            _, small, large = (_mined(session, log, rows) for log, rows in logs)
        finally:
            session.stop()
    more = large.rows - small.rows
    wall_us, cpu_us = (1e6 * (b - a) / more for a, b in zip(small[1:], large[1:], strict=True))
    say(f"each further interaction: {cpu_us:.0f} us of CPU, {wall_us:.0f} us of wall time on {WORKERS} cores")
    say(f"the same for any size: {small.cpu_s - small.rows * cpu_us / 1e6:.1f} s of CPU")
    return 0


def _exported(folder: Path, rows: int) -> tuple[Path, int]:
    rows = rows // TURNS_OF_A_BLOCK * TURNS_OF_A_BLOCK
    store = LogStore(folder / f"{rows}.duckdb")
    build(store, 0, rows, ingest_id=1)
    target = folder / f"exported-{rows}"
    write_parquet(store, target)
    return target, rows


def _mined(session: Any, log: Path, rows: int) -> Run:
    wall, cpu = time.perf_counter(), cpu_of_children(os.getpid())
    mine_on_spark(session, str(log), str(log.with_name(f"mined-{rows}")))
    run = Run(rows, time.perf_counter() - wall, cpu_of_children(os.getpid()) - cpu)
    say(f"{rows:,} interactions: {run.wall_s:.1f} s, {run.cpu_s:.1f} s of CPU")
    return run


def cpu_of_children(root: int) -> float:
    """Return the seconds of CPU of all processes below `root`, those that ended included."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(entry)):
            parents[int(entry.name)] = int(fields[1])
            ticks[int(entry.name)] = sum(map(int, fields[11:15]))
    return sum(ticks[pid] for pid in ticks if _is_below(pid, root, parents)) / os.sysconf("SC_CLK_TCK")


def _stat(process: Path) -> list[str]:
    """Return the fields of a process's stat from its state on; none when it has just ended."""
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _is_below(pid: int, root: int, parents: dict[int, int]) -> bool:
    while pid in parents:
        pid = parents[pid]
        if pid == root:
            return True
    return False


if __name__ == "__main__":
    sys.exit(main())

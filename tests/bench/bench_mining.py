"""Mine a large synthetic log and print the cost beside one plain window query over the same table.

`python -m tests.bench.bench_mining [ROWS]` (default 5,000,000).
"""

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import psutil

from ingest.log_store import LogStore
from ingest.mining.run import mine
from tests.bench.mining_log import TURNS_OF_A_BLOCK, build

SHARE_MORE = 0.01
SMALL = 100_000
"""Interactions of the log that is mined first, to see what a run costs whatever its size."""

_PLAIN_WINDOW = """
SELECT count(earlier), count(later) FROM (
    SELECT lag(question) OVER session AS earlier, lead(question) OVER session AS later
    FROM interactions WINDOW session AS (PARTITION BY source, session_id ORDER BY asked_at, interaction_id)
)
"""


class Cost(NamedTuple):
    """Wall seconds, CPU seconds and the highest resident memory reached, in MB."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def main() -> None:
    """Build the log, run the window query and the mining, and print both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="?", type=int, default=5_000_000)
    rows = parser.parse_args().rows // TURNS_OF_A_BLOCK * TURNS_OF_A_BLOCK
    report: list[Any] = []
    with tempfile.TemporaryDirectory() as folder:
        small = LogStore(Path(folder) / "small.duckdb")
        build(small, 0, SMALL, ingest_id=1)
        few = cost_of(lambda: report.append(mine(small, full=True)))
        store = LogStore(Path(folder) / "logs.duckdb")
        build(store, 0, rows, ingest_id=1)
        window = min((cost_of(lambda: plain_window(store)) for _ in range(2)), key=lambda cost: cost.wall_s)
        say(f"{rows:,} interactions; one plain window query: {window.wall_s:.2f} s, {window.cpu_s:.2f} s of CPU")
        full = cost_of(lambda: report.append(mine(store, full=True)))
        say(
            f"full run: {full.wall_s:.2f} s, {full.cpu_s:.2f} s of CPU, peak {full.peak_mb:,.0f} MB; "
            f"{full.wall_s / window.wall_s:.1f} times the window query, {full.cpu_s / window.cpu_s:.1f} times its CPU; "
            f"{1e6 * full.cpu_s / rows:.2f} us of CPU a row"
        )
        say(
            f"full run over {SMALL:,}, the first of the process: {few.wall_s:.2f} s, {few.cpu_s:.2f} s of CPU; "
            f"{1e6 * few.cpu_s / SMALL:.2f} us of CPU a row"
        )
        say(f"flagged {report[1].flagged:,}; {report[1].by_signal}")
        more = int(rows * SHARE_MORE) // TURNS_OF_A_BLOCK * TURNS_OF_A_BLOCK
        build(store, rows, rows + more, ingest_id=2)
        again = cost_of(lambda: report.append(mine(store, since=report[1].run)))
        say(
            f"after 1% more: {again.wall_s:.2f} s, {again.cpu_s:.2f} s of CPU, {report[2].read:,} read; "
            f"{again.wall_s / full.wall_s:.1%} of a full run, {again.cpu_s / full.cpu_s:.1%} of its CPU"
        )


def plain_window(store: LogStore) -> None:
    """Run the query that mining is measured against."""
    with store.unit() as connection:
        connection.execute("SET memory_limit = '2GB'")
        connection.execute(_PLAIN_WINDOW).fetchall()


def cost_of(action: Callable[[], None]) -> Cost:
    """Run `action` and measure it; memory is looked at every 20 ms."""
    process, peak, done = psutil.Process(), [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            peak[0] = max(peak[0], process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    before, started = process.cpu_times(), time.perf_counter()
    try:
        action()
    finally:
        wall, after = time.perf_counter() - started, process.cpu_times()
        done.set()
        watcher.join()
    return Cost(wall, after.user + after.system - before.user - before.system, peak[0] / 1e6)


def say(text: str) -> None:
    """Print one line of the measurement."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    if duckdb.__version__ < "2":
        sys.exit("needs duckdb 2")
    main()

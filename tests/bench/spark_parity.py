"""Mine one synthetic log with DuckDB and with a local Spark, compare what they found and print what each cost.

`python -m tests.bench.spark_parity [ROWS]` (default 200,000). Ends with 1 when a candidate, score or reason differs.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ingest.exporting import write_parquet
from ingest.log_store import LogStore
from ingest.mining.run import mine
from ingest.mining.spark_engine import mine_on_spark, start_spark
from ingest.mining.spark_import import read_mined
from ingest.settings import QueueSettings, SignalSettings
from tests.bench.bench_mining import cost_of, say
from tests.bench.mining_log import TURNS_OF_A_BLOCK, build

WORKERS = 2


def main() -> int:
    """Run both engines and say where they differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="?", type=int, default=200_000)
    rows = parser.parse_args().rows // TURNS_OF_A_BLOCK * TURNS_OF_A_BLOCK
    with tempfile.TemporaryDirectory() as folder:
        store = LogStore(Path(folder) / "logs.duckdb")
        build(store, 0, rows, ingest_id=1)
        here: list[Any] = []
        cost = cost_of(lambda: here.extend(mine(store, full=True).candidates))
        say(f"{rows:,} interactions; DuckDB: {cost.wall_s:.1f} s, {cost.cpu_s:.1f} s of CPU")
        there = on_spark(store, Path(folder), rows)
    return compare({each.candidate_id: each for each in here}, {each.candidate_id: each for each in there})


def on_spark(store: LogStore, folder: Path, rows: int) -> list[Any]:
    """Return what Spark finds; the session is warmed by nothing, so its start is in the figure named so."""
    write_parquet(store, folder / "exported")
    started = time.perf_counter()
    session = start_spark(master=f"local[{WORKERS}]", shuffle_partitions=2 * WORKERS)
    ready = time.perf_counter()
    try:
        mine_on_spark(session, str(folder / "exported"), str(folder / "mined"))
    finally:
        done = time.perf_counter()
        session.stop()
    rate = rows / (done - ready) / WORKERS
    say(
        f"Spark: {ready - started:.1f} s to start, {done - ready:.1f} s to mine; {rate:,.0f} interactions a core second"
    )
    return read_mined(folder / "mined", SignalSettings(), QueueSettings())


def compare(here: dict[str, Any], there: dict[str, Any]) -> int:
    """Say how many candidates both have, and what differs; 0 when nothing does."""
    both = here.keys() & there.keys()
    differing = [key for key in both if _found(here[key]) != _found(there[key])]
    alone, theirs = len(here) - len(both), len(there) - len(both)
    say(f"candidates: {len(both):,} in both, {alone} in DuckDB's alone, {theirs} in Spark's alone")
    say(f"with another priority, chance, signal, score or reason: {len(differing)}")
    for key in differing[:3]:
        say(f"  DuckDB {_found(here[key])}\n  Spark  {_found(there[key])}")
    return int(bool(differing) or here.keys() != there.keys())


def _found(candidate: Any) -> tuple[Any, ...]:
    chance = candidate.inclusion_probability
    return candidate.priority, candidate.sampling_signal, chance, candidate.signals, len(candidate.turns)


if __name__ == "__main__":
    sys.exit(main())

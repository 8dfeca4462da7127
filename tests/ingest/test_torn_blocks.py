"""Tests that a store opens again whatever part of its table of contents a kill left written."""

import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import duckdb
import pytest

from evalsets.errors import ErrataError
from ingest.duckdb_file import unit_of_work

TABLES = 50
BLOCK = 1 << 18
HEADERS = 3 * 4096
GROW = f"""
import os, signal, sys, duckdb
connection = duckdb.connect(sys.argv[1])
connection.execute("PRAGMA disable_checkpoint_on_shutdown")
connection.execute("SET threads = 1")
for table in range({TABLES}):
    columns = ", ".join(f"range * {{table + place}} AS c{{place}}" for place in range(24))
    connection.execute(f"CREATE TABLE IF NOT EXISTS t{{table}} AS SELECT {{columns}} FROM range(0)")
    connection.execute(f"INSERT INTO t{{table}} SELECT {{columns}} FROM range(1000)")
if sys.argv[2] == "abort":
    connection.execute("SET debug_checkpoint_abort = 'after_free_list_write'")
try:
    connection.execute("CHECKPOINT")
except duckdb.Error:
    pass
os.kill(os.getpid(), signal.SIGKILL)
"""  # noqa: S608 - our own table names


def grown(path: Path, how: str = "whole") -> None:
    """Grow every table, and kill the process after a checkpoint, or before the header of one is written."""
    subprocess.run([sys.executable, "-c", GROW, str(path), how], check=False)


def counts(path: Path) -> list[int]:
    with unit_of_work(path, migrations=files("ingest") / "schema") as connection:
        return [
            connection.table(f"t{table}").aggregate("count(*) + 0 * sum(c7)").fetchall()[0][0]
            for table in range(TABLES)
        ]


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Give a file as a checkpoint found it, and as a kill before the header left it, with the log of its commits."""
    folder = tmp_path_factory.mktemp("torn")
    before, after = folder / "before.duckdb", folder / "after.duckdb"
    grown(before)
    before.with_name("before.duckdb.wal").unlink(missing_ok=True)
    shutil.copy(before, after)
    grown(after, "abort")
    return before, after


def torn_at(path: Path, states: tuple[Path, Path], block: int, pages: int) -> Path:
    """Write a file of which one block was rewritten only as far as its first pages."""
    before, after = states
    shutil.copy(after, path)
    shutil.copy(f"{after}.wal", f"{path}.wal")
    start = HEADERS + block * BLOCK
    cut = start + pages * 4096
    with path.open("r+b") as torn, before.open("rb") as whole:
        torn.seek(cut)
        whole.seek(cut)
        torn.write(whole.read(start + BLOCK - cut))
    return path


def contents(path: Path) -> list[int]:
    """Return the numbers of the blocks of the table of contents."""
    copy = Path(shutil.copy(path, path.with_name("copy.duckdb")))
    with duckdb.connect(str(copy)) as connection:
        numbers = connection.execute("SELECT block_id FROM pragma_metadata_info()").fetchall()
    copy.unlink()
    return [number for (number,) in numbers]


def rewritten(states: tuple[Path, Path]) -> list[tuple[int, list[int]]]:
    """Return the blocks of contents that differ between the states, each with the pages where a cut shows."""
    before, after = (path.read_bytes() for path in states)
    found = []
    for block in contents(states[0]):
        pages = [slice(start := HEADERS + block * BLOCK + page * 4096, start + 4096) for page in range(64)]
        differing = [at for at, page in enumerate(pages) if before[page] != after[page]]
        if len(differing) > 1:
            found.append((block, differing[1:]))
    return found


def test_a_file_opens_with_all_that_was_committed_wherever_a_kill_cut_its_contents(
    tmp_path: Path, states: tuple[Path, Path]
) -> None:
    cuts = [(block, pages) for block, places in rewritten(states) for pages in {places[0], places[-1]}]
    assert cuts
    for block, pages in cuts:
        torn = torn_at(tmp_path / f"{block}_{pages}.duckdb", states, block, pages)
        assert counts(torn) == [2_000] * TABLES
        assert counts(torn) == [2_000] * TABLES


def spoil(path: Path, block: int) -> bytes:
    """Give a block a checksum that fits nothing, and return the file's bytes."""
    with path.open("r+b") as file:
        file.seek(HEADERS + block * BLOCK)
        file.write(b"spoiled ")
    return path.read_bytes()


def test_a_torn_block_that_is_read_late_is_mended_when_the_file_is_opened(
    tmp_path: Path, states: tuple[Path, Path]
) -> None:
    before, after = states
    blocks = contents(before)
    assert len(blocks) > 1
    for block in blocks:
        path = tmp_path / f"{block}.duckdb"
        shutil.copy(after, path)
        shutil.copy(f"{after}.wal", f"{path}.wal")
        spoil(path, block)
        assert counts(path) == [2_000] * TABLES


def test_a_damaged_block_of_rows_is_an_error_and_left_as_it_is(tmp_path: Path, states: tuple[Path, Path]) -> None:
    path = tmp_path / "damaged.duckdb"
    shutil.copy(states[0], path)
    with duckdb.connect(str(path)) as connection:
        [(block,)] = connection.execute(
            "SELECT max(block_id) FROM pragma_storage_info('t5')"
            " WHERE column_name = 'c7' AND segment_type <> 'VALIDITY'"
        ).fetchall()
    damaged = spoil(path, block)
    with pytest.raises(ErrataError, match=r"damaged\.duckdb is damaged.*Restore it from a backup"):
        counts(path)
    start = HEADERS + block * BLOCK
    assert path.read_bytes()[start : start + 8] == damaged[start : start + 8] == b"spoiled "


def test_a_file_that_stays_unreadable_gets_its_checksum_back(tmp_path: Path, states: tuple[Path, Path]) -> None:
    path = tmp_path / "unreadable.duckdb"
    shutil.copy(states[0], path)
    for block in contents(path):
        with path.open("r+b") as file:
            file.seek(HEADERS + block * BLOCK)
            file.write(b"\xa5" * BLOCK)
    unreadable = path.read_bytes()
    with pytest.raises(ErrataError, match="cannot open"):
        counts(path)
    assert path.read_bytes() == unreadable


def test_a_full_disk_is_said_as_such(tmp_path: Path) -> None:
    full = duckdb.IOException('IO Error: Could not write file "logs.duckdb.wal": No space left on device')
    with (
        pytest.raises(ErrataError, match=r"No space left on device\. Make room"),
        unit_of_work(tmp_path / "logs.duckdb", migrations=files("ingest") / "schema"),
    ):
        raise full

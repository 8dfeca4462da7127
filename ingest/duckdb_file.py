"""Open a DuckDB file for one unit of work, waiting when another process holds it, and keep its schema current."""

import random
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources.abc import Traversable
from pathlib import Path

import duckdb

from evalsets.errors import ErrataError
from ingest.file_turns import end_turn, holder_of, take_turn
from ingest.torn_blocks import TornBlock, put_checksum, read_contents, torn_block
from ingest.warm_files import ask_for, let_go, stay_warm

DEFAULT_WAIT_S = 10.0
_HOLDER = re.compile(r"held in (?P<program>.*?) \(PID (?P<pid>\d+)\)")
_FULL = re.compile("No space left on device|Disk quota exceeded|not enough space on the disk")
_migrated: dict[tuple[str, int], tuple[int, str]] = {}
"""How many steps of the schema each file has that this process opened, and the newest."""
_migrating = threading.Lock()
_opening = threading.Lock()


class FileBusyError(ErrataError):
    """Another process kept the file open longer than we were told to wait."""


@contextmanager
def unit_of_work(
    path: Path,
    *,
    migrations: Traversable,
    wait_s: float = DEFAULT_WAIT_S,
    memory_limit: str = "1GB",
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection of the file at `path`, migrated to the newest schema, and close it afterwards.

    The file is held only inside the `with` block, so that the app, a nightly ingest and a notebook work side by
    side. Every block gets a connection of its own, so threads never share one. `migrations` is the folder of numbered
    `.sql` files, such as `files("ingest") / "schema"`. Raises FileBusyError after `wait_s` seconds.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    if is_new:
        let_go(path)
    connection = _connect_with_backoff(path, wait_s=wait_s, memory_limit=memory_limit)
    try:
        connection.execute("SET TimeZone = 'UTC'")
        _migrate_once(connection, path, migrations, is_new=is_new)
        stay_warm(path, memory_limit=memory_limit)
        yield connection
    except duckdb.Error as error:
        if torn_block(error):
            message = f"{path} is damaged: {error}. Restore it from a backup, or move it away to start afresh."
            raise ErrataError(message) from error
        if _FULL.search(str(error)):
            raise ErrataError(f"{error}. Make room and run it again; what was committed is kept.") from error
        raise
    finally:
        connection.close()
        end_turn(path)


def _connect_with_backoff(path: Path, *, wait_s: float, memory_limit: str) -> duckdb.DuckDBPyConnection:
    deadline = time.monotonic() + wait_s
    delay_s = 0.005
    while True:
        opened = _opened_in_turn(path, memory_limit)
        if not isinstance(opened, str):
            return opened
        if time.monotonic() + delay_s > deadline:
            raise FileBusyError(
                f"{path} has been held by process {opened} for over {wait_s:g} s. "
                f"Wait for it to finish or end it, then try again."
            )
        ask_for(path)
        time.sleep(delay_s * random.uniform(0.5, 1.5))  # noqa: S311 - jitter, not a secret
        delay_s = min(delay_s * 1.6, 0.25)


def _opened_in_turn(path: Path, memory_limit: str) -> duckdb.DuckDBPyConnection | str:
    """Open the file and keep the turn at it, or say which process has it: one of ours, or any other program."""
    try:
        if not take_turn(path):
            return holder_of(path)
    except OSError as error:
        raise ErrataError(f"cannot open {path}: {error}. See that its folder can be written.") from error
    try:
        with _opening:
            return _opened(path, memory_limit)
    except BaseException as error:
        end_turn(path)
        if not isinstance(error, duckdb.Error):
            raise
        holder = _HOLDER.search(str(error))
        if holder is None:
            raise ErrataError(
                f"cannot open {path}: {error}. Restore it from a backup, or move it away to start afresh."
            ) from error
        return f"{holder['pid']} ({holder['program']})"


def _opened(path: Path, memory_limit: str) -> duckdb.DuckDBPyConnection:
    """Open the file, and mend what a kill in the middle of a checkpoint left of its table of contents."""
    mended: list[TornBlock] = []
    while True:
        try:
            return _looked_through(path, memory_limit)
        except duckdb.Error as error:
            torn = torn_block(error)
            if torn is None or torn in mended or not put_checksum(path, torn):
                for block in reversed(mended):
                    put_checksum(path, block.undone())
                raise
            mended.append(torn)


def _looked_through(path: Path, memory_limit: str) -> duckdb.DuckDBPyConnection:
    key = _identity(path) if path.exists() else None
    # The engine deletes the log of a file that it closes; the first time this process opens it, one tells of a kill.
    was_killed = key is not None and key not in _migrated and path.with_name(f"{path.name}.wal").exists()
    connection = duckdb.connect(str(path), config={"memory_limit": memory_limit})
    if was_killed:
        try:
            read_contents(connection)
        except duckdb.Error:
            connection.close()
            raise
    return connection


def _migrate_once(connection: duckdb.DuckDBPyConnection, path: Path, migrations: Traversable, *, is_new: bool) -> None:
    key = _identity(path)
    with _migrating:
        if is_new or not _is_at(connection, _migrated.get(key)):
            _migrated[key] = _apply_pending_migrations(connection, migrations)


def _is_at(connection: duckdb.DuckDBPyConnection, steps: tuple[int, str] | None) -> bool:
    """Tell whether a file still has its steps: one made anew, or a backup, may have come in its place."""
    if steps is None:
        return False
    try:
        return connection.execute("SELECT count(*), max(name) FROM schema_migrations").fetchall() == [steps]
    except duckdb.CatalogException:
        return False


def _identity(path: Path) -> tuple[str, int]:
    return str(path.resolve()), path.stat().st_ino


def _apply_pending_migrations(connection: duckdb.DuckDBPyConnection, migrations: Traversable) -> tuple[int, str]:
    """Bring a file to the newest step; return how many it has, and the name of that one."""
    connection.execute(
        "CREATE TABLE IF NOT EXISTS schema_migrations (name VARCHAR PRIMARY KEY, applied_at TIMESTAMPTZ)"
    )
    applied = {name for (name,) in connection.execute("SELECT name FROM schema_migrations").fetchall()}
    steps = sorted(
        (entry for entry in migrations.iterdir() if entry.name.endswith(".sql")),
        key=lambda entry: entry.name,
    )
    for step in steps:
        if step.name in applied:
            continue
        connection.begin()
        try:
            connection.execute(step.read_text(encoding="utf-8"))
            connection.execute("INSERT INTO schema_migrations VALUES (?, now())", [step.name])
            connection.commit()
        except Exception:
            connection.rollback()
            raise
    return len(applied | {step.name for step in steps}), steps[-1].name

"""The log store: canonical interactions and corpus chunks in logs.duckdb."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import duckdb

from ingest.duckdb_file import DEFAULT_WAIT_S, unit_of_work

MEMORY_LIMIT = "400MB"


class LogStore:
    """Interactions, votes, quarantine and chunks of one workspace; held open only inside `unit()`."""

    def __init__(self, path: Path, *, wait_s: float = DEFAULT_WAIT_S) -> None:
        """Name the file; it is created by the first unit of work."""
        self.path = Path(path)
        self.wait_s = wait_s

    @contextmanager
    def unit(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield a connection for one unit of work; waits for another process, then raises FileBusyError."""
        with unit_of_work(
            self.path,
            migrations=files("ingest") / "schema",
            wait_s=self.wait_s,
            memory_limit=MEMORY_LIMIT,
        ) as connection:
            yield connection

    @property
    def exists(self) -> bool:
        """Whether anything was ever stored."""
        return self.path.exists()

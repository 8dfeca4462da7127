"""Mends a DuckDB file whose process was killed in the middle of rewriting a block of the table of contents.

A checkpoint rewrites such a block where it stands: entries in use are written again as they were, free ones are
filled, and only then the header points to them. A kill in between leaves every entry in use unharmed, whatever part of
the block was written, but a checksum that fits neither state, so that the engine no longer opens the file. Blocks of
rows are never rewritten while anything points to them; a wrong checksum there is damage, and they are left alone.
"""

import re
import struct
from pathlib import Path
from typing import NamedTuple

import duckdb

from ingest.file_turns import lock_here

_WRONG_CHECKSUM = re.compile(
    r"computed checksum (?P<computed>\d+) does not match stored checksum (?P<stored>\d+)"
    r" in block at location (?P<at>\d+)"
)
_HEADERS_END = 3 * 4096
_CHECKSUM = struct.Struct("<Q")


class TornBlock(NamedTuple):
    """A block whose checksum does not fit, as the engine tells of it."""

    at: int
    """Where the block begins in the file, in bytes; its first eight are the checksum."""
    stored: int
    computed: int

    def undone(self) -> "TornBlock":
        """Return the same block the other way round, to take back what was put."""
        return self._replace(stored=self.computed, computed=self.stored)


def torn_block(error: duckdb.Error) -> TornBlock | None:
    """Return the block that an error is about; None when it is about anything else."""
    told = _WRONG_CHECKSUM.search(str(error))
    if told is None or int(told["at"]) < _HEADERS_END:
        return None
    return TornBlock(int(told["at"]), int(told["stored"]), int(told["computed"]))


def read_contents(connection: duckdb.DuckDBPyConnection) -> None:
    """Read the whole table of contents, of which the engine reads parts only when it needs them."""
    for schema, table in connection.execute("SELECT schema_name, table_name FROM duckdb_tables()").fetchall():
        connection.execute("SELECT count(*) FROM pragma_storage_info(?)", [f'"{schema}"."{table}"']).fetchall()


def put_checksum(path: Path, block: TornBlock) -> bool:
    """Give a block the checksum of what it holds; False when it is another by now, or another process has the file.

    Call it only while this process has the file closed: letting go of one descriptor frees the locks of all.
    """
    try:
        with path.open("r+b", buffering=0) as file:
            if not lock_here(file.fileno()):
                return False
            file.seek(block.at)
            if file.read(_CHECKSUM.size) != _CHECKSUM.pack(block.stored):
                return False
            file.seek(block.at)
            file.write(_CHECKSUM.pack(block.computed))
    except OSError:
        return False
    return True

"""Puts standard input into a file of its own for the time of an ingest, so that it can be read like any other."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ingest.reading.sources import SourceFile


@contextmanager
def spooled(files: list[SourceFile], folder: Path) -> Iterator[list[SourceFile]]:
    """Yield `files` with standard input replaced by a file readable by its owner only, which is removed afterwards."""
    if not any(file.is_stdin for file in files):
        yield files
        return
    folder.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix="stdin-", dir=folder)
    place = Path(name)
    try:
        with os.fdopen(handle, "wb") as spool:
            shutil.copyfileobj(sys.stdin.buffer, spool, 1 << 20)
        yield [file._replace(path=place) if file.is_stdin else file for file in files]
    finally:
        place.unlink(missing_ok=True)

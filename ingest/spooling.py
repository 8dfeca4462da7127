"""Keeps raw logs on disk only while they are read: standard input, uploads and stages, each named after its process."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ingest.reading.sources import SourceFile

_PREFIX = "reading-"


@contextmanager
def spooled(files: list[SourceFile], folder: Path) -> Iterator[list[SourceFile]]:
    """Yield `files` with standard input replaced by a file readable by its owner only, which is removed afterwards."""
    if not any(file.is_stdin for file in files):
        yield files
        return
    with scratch_folder(folder) as scratch:
        place = scratch / "stdin"
        with place.open("wb") as spool:
            shutil.copyfileobj(sys.stdin.buffer, spool, 1 << 20)
        yield [file._replace(path=place) if file.is_stdin else file for file in files]


@contextmanager
def scratch_folder(state: Path) -> Iterator[Path]:
    """Yield a folder for raw data, readable by its owner only, and remove it afterwards.

    What a killed process left behind is removed first, so that nothing unredacted stays.
    """
    state.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(state)
    with tempfile.TemporaryDirectory(dir=state, prefix=f"{_PREFIX}{os.getpid()}-") as name:
        yield Path(name)


def _remove_leftovers(state: Path) -> None:
    for folder in state.glob(f"{_PREFIX}*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdigit() and not _is_running(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True

"""Writing files so that a process killed at any moment leaves a whole old file or a whole new one."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from evalsets.errors import BadInputError


def write_new(path: Path, content: bytes) -> None:
    """Write a file that must not exist yet; FileExistsError when it does, even if it appears at the same moment."""
    scratch = _write_scratch(path, content)
    try:
        os.link(scratch, path)
    finally:
        scratch.unlink()
    _sync_folder(path.parent)


def write_over(path: Path, content: bytes) -> None:
    """Write a file in place of what may be there, in one step."""
    if path.is_file() and path.read_bytes() == content:
        return
    _write_scratch(path, content).replace(path)
    _sync_folder(path.parent)


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Hold the folder for one writer, until it is done or dead; BadInputError when another process writes there."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        _lock(handle, folder)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, folder: Path) -> None:
    try:
        import fcntl
    except ImportError:  # Windows: exclusive creation of the version file is the guard that remains
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise BadInputError(f"another process is writing in {str(folder)!r}; try again when it is done.") from error


def _write_scratch(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    with os.fdopen(handle, "wb") as scratch:
        os.fchmod(scratch.fileno(), 0o644)
        scratch.write(content)
        scratch.flush()
        os.fsync(scratch.fileno())
    return Path(name)


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def sweep_scratch(folder: Path) -> None:
    """Delete the unfinished files that a killed writer left; call it only as the one writer of the folder."""
    for left in folder.glob(".*.tmp"):
        left.unlink(missing_ok=True)

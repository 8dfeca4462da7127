"""Let one process at a time have a DuckDB file, from before it looks at the file until after it has closed it.

DuckDB 2.0 reads the headers of a file first and locks it afterwards. When another process ends a checkpoint in
between, the file is opened at the state before: what was committed since is missing, and writing would destroy it.
"""

import os
import sys
import threading
from pathlib import Path
from typing import NamedTuple


class _Turn(NamedTuple):
    descriptor: int
    users: int


_lock = threading.Lock()
_turns: dict[Path, _Turn] = {}


def take_turn(path: Path) -> bool:
    """Take, or share with the other threads of this process, the turn at a file; False when another process has it.

    Every turn taken is given up by `end_turn`, after the connection that it was taken for has been closed.
    """
    if sys.platform == "win32":
        return True  # there a file that is open can't be looked at either
    place = turn_path(path)
    with _lock:
        turn = _turns.get(place)
        descriptor = turn.descriptor if turn else _locked(place)
        if descriptor is None:
            return False
        _turns[place] = _Turn(descriptor, turn.users + 1 if turn else 1)
    return True


def end_turn(path: Path) -> None:
    """Give up one use of the turn at a file; the last one lets other processes in."""
    place = turn_path(path)
    with _lock:
        turn = _turns.pop(place, None)
        if turn is None:
            return
        if turn.users > 1:
            _turns[place] = turn._replace(users=turn.users - 1)
        else:
            os.close(turn.descriptor)


def holder_of(path: Path) -> str:
    """Return the process id and program of whoever took the turn at a file last."""
    with _lock:
        # Closing a second descriptor would end a turn that this process has.
        return "" if turn_path(path) in _turns else turn_path(path).read_text(encoding="utf-8")


def turn_path(path: Path) -> Path:
    """Return the file that is locked for `path`; it stays where it is."""
    resolved = path.resolve()
    return resolved.with_name(f"{resolved.name}.turn")


def lock_here(descriptor: int) -> bool:
    """Lock a file for this process; False when another has it. Closing any descriptor of the file frees it again."""
    if sys.platform == "win32":
        return True  # a file that is open there can't be opened by others
    import fcntl

    try:
        # A lock of the process: forked children have no part in it, unlike in those of flock.
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _locked(place: Path) -> int | None:
    descriptor = os.open(place, os.O_RDWR | os.O_CREAT, 0o666)
    if not lock_here(descriptor):
        os.close(descriptor)
        return None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()} ({sys.executable})".encode(), 0)
    return descriptor

"""Whether people are being served: the app holds a lock in the workspace, and long commands that see it step back."""

import os
import sys
from contextlib import suppress

from curation_app.workspace import Workspace

_LOCK = "served.lock"
_STEPS_BACK = 19
_held: list[int] = []
"""Kept open, and with it the lock, until this process ends."""


def announce_app(workspace: Workspace) -> None:
    """Hold the workspace's lock until this process ends, however it ends."""
    descriptor = _open_lock(workspace)
    if descriptor is None:
        return
    import fcntl

    _held.append(descriptor)
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)


def is_app_running(workspace: Workspace) -> bool:
    """Whether some process serves this workspace now; False where the system has no such locks."""
    descriptor = _open_lock(workspace)
    if descriptor is None:
        return False
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def step_back_for_reviewers(workspace: Workspace) -> bool:
    """Lower this process's priority when people label in this workspace meanwhile; return whether it was lowered."""
    if not is_app_running(workspace):
        return False
    os.nice(_STEPS_BACK)
    # The idle class gives way at once when the server wakes up, where a low priority still takes its turn first.
    if sys.platform == "linux":
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    return True


def _open_lock(workspace: Workspace) -> int | None:
    path = workspace.logs_path.with_name(_LOCK)
    if os.name != "posix":
        return None
    try:
        path.parent.mkdir(exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError:
        return None

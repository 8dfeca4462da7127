"""Keep a DuckDB file open between units of work that follow each other, and let go as soon as anyone else wants it.

Opening and closing a file of some hundred megabytes costs more than a whole press of a key in the app. A process that
waits for a file says so by touching a marker beside it; the process that keeps it warm looks at that marker.
"""

import threading
import time
from pathlib import Path
from typing import NamedTuple

import duckdb

from ingest.file_turns import end_turn, take_turn

IDLE_S = 2.0
_LOOK_EVERY_S = 0.04
_MARKER_FRESH_S = 1.0
_STAY_CLOSED_S = 1.0
"""How long a file that someone wanted is opened for single units only, so that the other gets in."""


class _Held(NamedTuple):
    connection: duckdb.DuckDBPyConnection
    until: float


class _Warmth:
    """The files this process keeps open; off until the app turns it on."""

    def __init__(self) -> None:
        self.is_on = False
        self.lock = threading.Lock()
        self.held: dict[Path, _Held] = {}
        self.closed_until: dict[Path, float] = {}
        self.janitor: threading.Thread | None = None


_warmth = _Warmth()


def keep_files_warm() -> None:
    """Let this process keep files open for two idle seconds; for a server, not for a command that ends."""
    _warmth.is_on = True


def let_all_go() -> None:
    """Close every file that is kept open, and keep none from now on."""
    _warmth.is_on = False
    with _warmth.lock:
        for path in list(_warmth.held):
            _let_go(path)


def let_go(path: Path) -> None:
    """Close `path` if it is kept open, as when it was deleted behind the engine's back."""
    with _warmth.lock:
        if path in _warmth.held:
            _let_go(path)


def stay_warm(path: Path, *, memory_limit: str) -> None:
    """Keep `path` open beyond the unit of work that has it open now, where that is turned on."""
    if not _warmth.is_on:
        return
    now = time.monotonic()
    with _warmth.lock:
        if now < _warmth.closed_until.get(path, 0.0):
            return
        held = _warmth.held.get(path)
        connection = held.connection if held else _kept_open(path, memory_limit)
        _warmth.held[path] = _Held(connection, now + IDLE_S)
        if _warmth.janitor is None:
            _warmth.janitor = threading.Thread(target=_watch, daemon=True)
            _warmth.janitor.start()


def ask_for(path: Path) -> None:
    """Tell the process that holds `path` that another one waits for it."""
    _marker(path).touch()


def _watch() -> None:
    while True:
        time.sleep(_LOOK_EVERY_S)
        with _warmth.lock:
            for path, held in list(_warmth.held.items()):
                wanted = _is_wanted(path)
                if wanted:
                    _warmth.closed_until[path] = time.monotonic() + _STAY_CLOSED_S
                if wanted or time.monotonic() > held.until:
                    _let_go(path)
            if not _warmth.held:
                _warmth.janitor = None
                return


def _kept_open(path: Path, memory_limit: str) -> duckdb.DuckDBPyConnection:
    take_turn(path)
    try:
        return duckdb.connect(str(path), config={"memory_limit": memory_limit})
    except BaseException:
        end_turn(path)
        raise


def _let_go(path: Path) -> None:
    _warmth.held.pop(path).connection.close()
    end_turn(path)


def _is_wanted(path: Path) -> bool:
    try:
        return time.time() - _marker(path).stat().st_mtime < _MARKER_FRESH_S
    except FileNotFoundError:
        return False


def _marker(path: Path) -> Path:
    return path.with_name(path.name + ".wanted")

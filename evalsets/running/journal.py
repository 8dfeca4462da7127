"""The append-only journal of a run: one flushed JSON line a finished call, from which alone the report is computed."""

import json
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

from pydantic_core import PydanticSerializationError, to_json

from evalsets.errors import BadInputError
from evalsets.surrogates import without_lone_surrogates

SYNC_INTERVAL_S = 1.0
_CALL_PREFIX = b'{"call":['
_DECODER = json.JSONDecoder()
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


class CallKey(NamedTuple):
    """What a finished call is known by: what was asked of which item, by which step as configured, which repeat."""

    item_id: str
    step: str
    config: str
    content: str
    repeat: int = 0


class CallRecord(NamedTuple):
    """One finished call. `status` is ok, error or timeout; `value` is what came back, JSON-ready, when it is ok."""

    key: CallKey
    status: str
    value: Any = None
    error: str = ""
    raw: str = ""
    seconds: float = 0.0
    attempts: int = 1

    @property
    def is_ok(self) -> bool:
        """Whether the call ended well."""
        return self.status == "ok"


class Journal:
    """A journal file open for appending; a torn last line, as a kill leaves it, is cut off first.

    A flushed line survives the end of the process; the disk is synchronised once a second by a thread of its own, so
    that a power cut costs a second of work and no call waits for the disk.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        refuse_if_held(path)
        _cut_torn_line(path)
        self._file: IO[bytes] = path.open("ab", buffering=0)
        _hold(self._file, path)
        self._is_dirty = False
        self._closing = threading.Event()
        self._syncer = threading.Thread(target=self._sync_until_closed, name="journal-sync", daemon=True)
        self._syncer.start()

    def append(self, record: CallRecord) -> None:
        """Write one finished call, unbuffered."""
        self._write(_wire(record))

    def note(self, event: str, **facts: Any) -> None:
        """Write a line that is no call, such as the start of a run or why it stopped."""
        self._write({"event": event, **facts})

    def close(self) -> None:
        """Synchronise and close the file."""
        self._closing.set()
        self._syncer.join()
        if not self._file.closed:
            os.fsync(self._file.fileno())
            self._file.close()

    def _write(self, wire: Mapping[str, Any]) -> None:
        self._file.write(_encode(wire))
        self._is_dirty = True

    def _sync_until_closed(self) -> None:
        while not self._closing.wait(SYNC_INTERVAL_S):
            if self._is_dirty:
                self._is_dirty = False
                os.fsync(self._file.fileno())


class JournalIndex:
    """Where each finished call stands in a journal: values are read when asked for, so that memory stays small.

    Of several lines with one key the latest counts. A torn last line, as a kill leaves it, is passed over.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.events: list[dict[str, Any]] = []
        self._offsets: dict[CallKey, int] = {}
        self._file: IO[bytes] | None = path.open("rb") if path.is_file() else None
        if self._file is not None:
            self._index(self._file)

    def __len__(self) -> int:
        return len(self._offsets)

    def __contains__(self, key: CallKey) -> bool:
        return key in self._offsets

    def get(self, key: CallKey) -> CallRecord | None:
        """Return the latest finished call with this key."""
        offset = self._offsets.get(key)
        if offset is None or self._file is None:
            return None
        self._file.seek(offset)
        return _record(json.loads(self._file.readline()))

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _index(self, file: IO[bytes]) -> None:
        offset = 0
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            if line.startswith(_CALL_PREFIX):
                self._offsets[_key_of(line, number, self.path)] = offset
            elif line.strip():
                self.events.append(_parsed(line, number, self.path))
            offset += len(line)


def read_calls(path: Path) -> Iterator[CallRecord]:
    """Yield the finished calls of a journal in the order they were written."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.endswith(b"\n") and line.startswith(_CALL_PREFIX):
                yield _record(_parsed(line, number, path))


def _key_of(line: bytes, number: int, path: Path) -> CallKey:
    """Return the key at the start of a line without reading the value behind it."""
    try:
        fields, _ = _DECODER.raw_decode(line.decode("utf-8", "surrogatepass"), len(_CALL_PREFIX) - 1)
        item_id, step, config, content, repeat = fields
        return CallKey(item_id, sys.intern(step), sys.intern(config), content, repeat)
    except (ValueError, TypeError) as error:
        raise _damaged(path, number, error) from error


def _parsed(line: bytes, number: int, path: Path) -> dict[str, Any]:
    try:
        wire = json.loads(line)
    except ValueError as error:
        raise _damaged(path, number, error) from error
    return wire if isinstance(wire, dict) else {}


def _damaged(path: Path, number: int, error: Exception) -> BadInputError:
    return BadInputError(
        f"{path}: line {number} is no journal line ({error}). The journal was edited or damaged; "
        "delete that line to go on without the call it held."
    )


def _cut_torn_line(path: Path) -> None:
    if not path.is_file() or path.stat().st_size == 0:
        return
    with path.open("r+b") as file:
        end = file.seek(0, os.SEEK_END)
        while end > 0:
            start = max(0, end - 65536)
            file.seek(start)
            newline = file.read(end - start).rfind(b"\n")
            if newline >= 0:
                file.truncate(start + newline + 1)
                return
            end = start
        file.truncate(0)


def refuse_if_held(path: Path) -> None:
    """Raise BadInputError when another process is writing this journal."""
    if path.is_file():
        with path.open("rb") as file:
            _hold(file, path)


def _hold(file: IO[bytes], path: Path) -> None:
    """Lock the file for as long as it is open; the lock ends with the process, however that ends."""
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise BadInputError(f"another run is writing {path}; wait for it, or name another --out") from error


def _encode(wire: Mapping[str, Any]) -> bytes:
    try:
        return to_json(wire, inf_nan_mode="null") + b"\n"
    except PydanticSerializationError:  # a lone surrogate
        return without_lone_surrogates(_ENCODER.encode(wire)).encode() + b"\n"


def _wire(record: CallRecord) -> dict[str, Any]:
    wire: dict[str, Any] = {
        "call": list(record.key),
        "status": record.status,
        "seconds": round(record.seconds, 6),
        "attempts": record.attempts,
        "value": record.value,
    }
    if record.error:
        wire["error"] = record.error
    if record.raw:
        wire["raw"] = record.raw
    return wire


def _record(wire: Mapping[str, Any]) -> CallRecord:
    return CallRecord(
        CallKey(*wire["call"]),
        wire["status"],
        wire.get("value"),
        wire.get("error", ""),
        wire.get("raw", ""),
        wire.get("seconds", 0.0),
        wire.get("attempts", 1),
    )

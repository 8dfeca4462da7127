"""Finished calls kept across runs, by what was asked and how the step was configured."""

import json
import sqlite3
from pathlib import Path

from evalsets.running.journal import CallKey, CallRecord
from evalsets.running.settings import RunSettings


class CallCache:
    """A SQLite file of successful calls. Losing it costs calls, never results: no write waits for the disk."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(path, isolation_level=None, timeout=10)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS calls ("
            "step TEXT, config TEXT, content TEXT, item TEXT, value TEXT, seconds REAL,"
            "PRIMARY KEY (step, config, content, item))"
        )

    def get(self, key: CallKey) -> CallRecord | None:
        """Return the cached call with this key."""
        row = self._connection.execute(
            "SELECT value, seconds FROM calls WHERE step = ? AND config = ? AND content = ? AND item = ?",
            (key.step, key.config, key.content, key.item_id),
        ).fetchone()
        return CallRecord(key, "ok", json.loads(row[0]), seconds=row[1]) if row else None

    def put(self, record: CallRecord) -> None:
        """Keep a successful call."""
        key = record.key
        self._connection.execute(
            "INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?, ?)",
            (key.step, key.config, key.content, key.item_id, json.dumps(record.value), record.seconds),
        )

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def open_cache(settings: RunSettings) -> CallCache | None:
    """Open the cache a run may use: none when it repeats items, since cached repeats would show no variance."""
    if settings.cache_path is None or settings.repeat > 1:
        return None
    return CallCache(settings.cache_path)

"""Small logs for the tests of mining, written turn by turn."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from ingest.log_store import LogStore

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
NOW = datetime(2026, 6, 1, tzinfo=UTC)
GOOD = "Open the settings and choose the plan you want."


def turn(number: int, question: str, answer: str | None = GOOD, **fields: Any) -> dict[str, Any]:
    """Return one interaction, asked `number` half minutes after the start unless `asked_at` says otherwise."""
    return {
        "interaction_id": f"log:{number:03d}",
        "source": "log",
        "session_id": "s1",
        "user_id": "u1",
        "asked_at": START + timedelta(seconds=30 * number),
        "question": question,
        "answer": answer,
        "stream_cut": False,
        "content_hash": "",
        "ingest_id": 1,
        **fields,
    }


def closing_turn(source: str = "log") -> dict[str, Any]:
    """Return a turn of another user a day later, after which every earlier session is closed."""
    later = START + timedelta(days=1)
    return turn(900, "Something else entirely", session_id="end", user_id="end", asked_at=later, source=source)


def store_of(folder: Path, turns: Iterable[dict[str, Any]]) -> LogStore:
    """Return a log store that holds these interactions."""
    store = LogStore(folder / "logs.duckdb")
    add_turns(store, turns)
    return store


def add_turns(store: LogStore, turns: Iterable[dict[str, Any]]) -> None:
    """Add interactions to a log store."""
    turns = list(turns)
    every = dict.fromkeys(name for each in turns for name in each)
    rows = pa.Table.from_pylist([{**every, **each} for each in turns])
    with store.unit() as connection:
        connection.register("rows", rows)
        connection.execute(
            "INSERT INTO interactions BY NAME SELECT *, row_number() OVER () + "
            "(SELECT coalesce(max(number), 0) FROM interactions) AS number FROM rows"
        )

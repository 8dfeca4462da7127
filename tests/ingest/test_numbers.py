"""A store from before interactions had numbers gets them when it is opened, and is mined anew."""

from importlib.resources import files
from pathlib import Path

import duckdb

from ingest.log_store import LogStore
from ingest.mining import mine
from tests.ingest.conversations import NOW

NUMBERING = ("0013_numbers.sql", "0102_mining_by_number.sql")
ROWS = """
INSERT INTO interactions (interaction_id, source, session_id, user_id, asked_at, question, answer, feedback,
    content_hash, ingest_id)
SELECT 'log:' || n, 'log', 's' || n, 'u' || n, TIMESTAMPTZ '2026-11-01 09:00:00+00', 'Where is it?', 'Here.', -1, 'h', 1
FROM range(3) AS r(n);
INSERT INTO retrieved (interaction_id, rank, chunk_id) SELECT 'log:' || n, rank, 'c' || n || rank
FROM range(3) AS r(n), range(2) AS k(rank);
"""


def old_store(path: Path) -> LogStore:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE schema_migrations (name VARCHAR PRIMARY KEY, applied_at TIMESTAMPTZ)")
        steps = sorted((files("ingest") / "schema").iterdir(), key=lambda step: step.name)
        for step in steps:
            if step.name.endswith(".sql") and step.name not in NUMBERING:
                connection.execute(step.read_text(encoding="utf-8"))
                connection.execute("INSERT INTO schema_migrations VALUES (?, now())", [step.name])
        connection.execute(ROWS)
        connection.execute("INSERT INTO mining_state VALUES ('fingerprint', 'old'), ('has_shared', '0')")
    return LogStore(path)


def test_an_older_store_gets_numbers_and_is_mined_with_what_was_retrieved(tmp_path: Path) -> None:
    store = old_store(tmp_path / "logs.duckdb")
    report = mine(store, now=NOW)
    assert not report.is_incremental
    assert {
        each.interaction_id: [chunk.chunk_id for chunk in each.turns[0].retrieved] for each in report.candidates
    } == {f"log:{n}": [f"c{n}0", f"c{n}1"] for n in range(3)}
    with store.unit() as connection:
        numbers = connection.execute("SELECT count(DISTINCT number) FROM interactions").fetchall()
        assert numbers == [(3,)]

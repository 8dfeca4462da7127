"""A store from before interactions had numbers, and passages stood once, is carried over when it is opened."""

from importlib.resources import files
from pathlib import Path

import duckdb
import pyarrow as pa

from ingest.log_store import LogStore
from ingest.mining.run import mine
from ingest.passages import number_passages
from tests.ingest.conversations import NOW

NEWER = ("0013", "0014", "0102", "0103")
"""Steps that the store has not seen."""
ROWS = """
INSERT INTO interactions (interaction_id, source, session_id, user_id, asked_at, question, answer, feedback,
    content_hash, ingest_id)
SELECT 'log:' || n, 'log', 's' || n, 'u' || n, TIMESTAMPTZ '2026-11-01 09:00:00+00', 'Where is it?', 'Here.', -1, 'h', 1
FROM range(3) AS r(n);
INSERT INTO retrieved (interaction_id, rank, chunk_id, score) SELECT 'log:' || n, rank, 'c' || n || rank, n
FROM range(3) AS r(n), range(2) AS k(rank);
INSERT INTO retrieved (interaction_id, rank, chunk_id, doc_id, text_hash, stage)
SELECT 'log:' || n, 2, 'd', 'doc', 'h', 's' FROM range(3) AS r(n);
"""


def old_store(path: Path) -> LogStore:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE schema_migrations (name VARCHAR PRIMARY KEY, applied_at TIMESTAMPTZ)")
        steps = sorted((files("ingest") / "schema").iterdir(), key=lambda step: step.name)
        for step in steps:
            if step.name.endswith(".sql") and step.name[:4] not in NEWER:
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
    } == {f"log:{n}": [f"c{n}0", f"c{n}1", "d"] for n in range(3)}
    with store.unit() as connection:
        numbers = connection.execute("SELECT count(DISTINCT number) FROM interactions").fetchall()
        assert numbers == [(3,)]


def test_an_older_store_that_is_restored_in_the_place_of_one_in_use_is_brought_up_to_date(tmp_path: Path) -> None:
    backup, store = old_store(tmp_path / "backup.duckdb"), LogStore(tmp_path / "logs.duckdb")
    with store.unit() as connection:
        assert connection.execute("SELECT count(*) FROM interactions").fetchall() == [(0,)]
    store.path.write_bytes(backup.path.read_bytes())
    assert mine(store, now=NOW).interactions == 3


def test_an_older_store_keeps_what_was_retrieved_with_each_passage_once(tmp_path: Path) -> None:
    with old_store(tmp_path / "logs.duckdb").unit() as connection:
        found = connection.execute(
            "SELECT interaction_id, rank, chunk_id, doc_id, text_hash, score, stage, id_origin "
            "FROM interactions JOIN retrieved USING (number) ORDER BY interaction_id, rank"
        ).fetchall()
        assert found == [
            row
            for n in range(3)
            for row in (
                (f"log:{n}", 0, f"c{n}0", None, None, float(n), None, None),
                (f"log:{n}", 1, f"c{n}1", None, None, float(n), None, None),
                (f"log:{n}", 2, "d", "doc", "h", None, "s", None),
            )
        ]
        assert connection.execute("SELECT count(*), count(DISTINCT passage) FROM passages").fetchall() == [(7, 7)]


def test_an_older_store_knows_its_passages_again(tmp_path: Path) -> None:
    store = old_store(tmp_path / "logs.duckdb")
    links = pa.table(
        {"chunk_id": ["c00", "d", "new"], "doc_id": [None, "doc", None], "text_hash": [None, "h", None]}
        | {"stage": [None, "s", None], "id_origin": pa.nulls(3, pa.string())}
    )
    with store.unit() as connection:
        numbers = number_passages(connection, links)
        named = dict(connection.execute("SELECT passage, chunk_id FROM passages").fetchall())
    assert [named[number] for number in numbers] == ["c00", "d", "new"]
    assert len(named) == 8

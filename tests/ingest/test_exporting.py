from pathlib import Path

import duckdb
import pytest

from ingest import exporting
from tests.ingest.conversations import store_of, turn


def test_parquet_is_written_slice_by_slice_and_holds_every_interaction_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "_SLICE", 2)
    store = store_of(tmp_path, [turn(number, f"Question {number}") for number in range(1, 6)])
    assert exporting.write_parquet(store, tmp_path / "out") == 5
    query = f"SELECT interaction_id FROM read_parquet('{tmp_path}/out/*/*.parquet') ORDER BY ALL"  # noqa: S608 - our own folder
    assert duckdb.execute(query).fetchall() == [(f"log:{number:03d}",) for number in range(1, 6)]
    assert len(list((tmp_path / "out").glob("*/*.parquet"))) == 3

"""Worker processes start clean."""

import json
import multiprocessing
import sys
from pathlib import Path
from types import ModuleType

import pytest

from ingest import file_reading
from ingest.adapters.mapping_file import MappingFile
from ingest.loading import ingest
from ingest.log_store import LogStore
from ingest.reader_pool import readers
from ingest.reading_jobs import Way
from ingest.settings import PrivacySettings
from ingest.worker_processes import start_lean, tell_arrow_of_no_pandas, worker_processes
from tests.ingest.ingest_support import tables
from tests.ingest.test_ingest import turn


def start() -> None:
    """Prepare nothing."""


def test_workers_do_not_run_the_program_that_asks_for_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.py"
    page.write_text("raise SystemExit(1)\n")
    main = ModuleType("__main__")
    main.__file__ = str(page)
    monkeypatch.setitem(sys.modules, "__main__", main)
    with worker_processes(2, start, ()) as pool:
        assert list(pool.map(abs, [-1, -2])) == [1, 2]
    assert sys.modules["__main__"] is main


def pandas_is_there() -> bool:
    import pyarrow as pa

    return len(pa.array(["a"])) == 1 and "pandas" in sys.modules


def test_workers_that_make_arrow_tables_do_without_pandas() -> None:
    with worker_processes(1, start_lean, ()) as pool:
        assert not pool.submit(pandas_is_there).result()


def pandas_after_arrow() -> tuple[bool, bool]:
    is_there = pandas_is_there()
    import pandas as pd

    return is_there, len(pd.Series([1])) == 1


def test_arrow_can_be_told_of_no_pandas_in_a_program_that_imports_it_later() -> None:
    with worker_processes(1, tell_arrow_of_no_pandas, ()) as pool:
        assert pool.submit(pandas_after_arrow).result() == (False, True)


def test_readers_start_no_process_when_there_is_nothing_left_to_read() -> None:
    with readers(Way("langfuse", None, PrivacySettings(), b"salt"), workers=2) as opened:
        assert list(opened.read_parts(iter(()), many=True)) == []
        assert multiprocessing.active_children() == []


def test_many_small_files_read_side_by_side_give_the_tables_and_the_account_of_one_core(
    tmp_path: Path, app_mapping: MappingFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_reading, "_MANY_SMALL_BYTES", 0)
    logs = tmp_path / "logs"
    logs.mkdir()
    for at in range(6):
        written = [json.dumps(turn(number)) for number in range(at * 5, at * 5 + 5)]
        (logs / f"{at}").write_text("\n".join([*written, "{bad"]) if at % 2 else f"[{','.join(written)}]")
    (logs / "empty").write_text("")
    found = {}
    for workers in (1, 2):
        store = LogStore(tmp_path / str(workers) / "logs.duckdb")
        (tmp_path / str(workers)).mkdir()
        (tmp_path / str(workers) / "salt").write_text("0" * 64)
        report = ingest([logs], store=store, mapping=app_mapping, workers=workers)
        found[workers] = (tables(store), report.model_dump(exclude={"seconds"}))
        assert ingest([logs], store=store, mapping=app_mapping, workers=workers).interactions.unchanged == 30
    assert found[1] == found[2]
    assert len(found[2][0]["rejects"]) == 3

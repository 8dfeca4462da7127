"""Worker processes start clean."""

import multiprocessing
import sys
from pathlib import Path
from types import ModuleType

import pytest

from ingest.reading_jobs import Way, readers
from ingest.settings import PrivacySettings
from ingest.worker_processes import start_lean, tell_arrow_of_no_pandas, worker_processes


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

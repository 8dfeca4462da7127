import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest import warm_files
from ingest.log_store import LogStore

READ = """
import sys, time
from pathlib import Path
from ingest.log_store import LogStore
started = time.monotonic()
with LogStore(Path(sys.argv[1])).unit() as connection:
    print(connection.execute("SELECT count(*) FROM corpus_chunks").fetchall()[0][0])
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LogStore]:
    warm_files.keep_files_warm()
    yield LogStore(tmp_path / "logs.duckdb")
    warm_files.let_all_go()


def use(store: LogStore) -> None:
    with store.unit() as connection:
        connection.execute("SELECT 1").fetchall()


def test_another_process_gets_a_file_that_the_app_uses_all_the_time(store: LogStore) -> None:
    use(store)
    process = subprocess.Popen([sys.executable, "-c", READ, str(store.path)], stdout=subprocess.PIPE, text=True)
    while process.poll() is None:
        use(store)
        time.sleep(0.01)
    assert process.stdout is not None
    assert process.stdout.read().strip() == "0"


def test_a_file_nobody_uses_is_closed_after_a_while(store: LogStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm_files, "IDLE_S", 0.05)
    use(store)
    deadline = time.monotonic() + 20
    while warm_files._warmth.held and time.monotonic() < deadline:
        time.sleep(0.02)
    assert warm_files._warmth.held == {}


def test_nothing_is_kept_open_unless_the_app_asks_for_it(tmp_path: Path) -> None:
    use(LogStore(tmp_path / "logs.duckdb"))
    assert warm_files._warmth.held == {}

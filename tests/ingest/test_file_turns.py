"""Processes that use one DuckDB file take turns, and none looks at the file before it is its turn."""

import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest

from evalsets.errors import ErrataError
from ingest.duckdb_file import FileBusyError, unit_of_work
from ingest.file_turns import end_turn, take_turn, turn_path
from ingest.log_store import LogStore

SHARE = """
import sys
from pathlib import Path
from ingest.log_store import LogStore
store, mine, times = LogStore(Path(sys.argv[1])), sys.argv[2], int(sys.argv[3])
for done in range(times):
    with store.unit() as connection:
        seen = connection.execute("SELECT count(*) FROM written WHERE who = ?", [mine]).fetchone()[0]
        if seen != done:
            sys.exit(f"{mine} wrote {done} rows and finds {seen}")
        connection.execute("INSERT INTO written VALUES (?, ?)", [mine, done])
"""
TAKE = """
import sys
from pathlib import Path
from ingest.file_turns import take_turn
print(take_turn(Path(sys.argv[1])))
"""
HOLD = """
import sys
from pathlib import Path
from ingest.log_store import LogStore
with LogStore(Path(sys.argv[1])).unit():
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def store(tmp_path: Path) -> LogStore:
    made = LogStore(tmp_path / "logs.duckdb")
    with made.unit() as connection:
        connection.execute("CREATE TABLE written (who VARCHAR, n INTEGER)")
    return made


def running(script: str, *arguments: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def holding(script: str, store: LogStore) -> subprocess.Popen[str]:
    holder = running(script, str(store.path))
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


def test_each_process_finds_all_that_was_written_in_the_turns_before(store: LogStore) -> None:
    processes = [running(SHARE, str(store.path), who, "40") for who in ("one", "two", "three")]
    told = [process.communicate(timeout=120)[1] for process in processes]
    assert told == ["", "", ""]
    with store.unit() as connection:
        rows = connection.execute("SELECT who FROM written").fetchall()
    assert Counter(who for (who,) in rows) == {"one": 40, "two": 40, "three": 40}


def test_a_file_is_not_looked_at_while_another_process_has_its_turn(
    store: LogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []

    def connect(*arguments: Any, **options: Any) -> duckdb.DuckDBPyConnection:
        looks.append(time.monotonic())
        return engine(*arguments, **options)

    engine = duckdb.connect
    holder = holding(HOLD, store)
    monkeypatch.setattr(duckdb, "connect", connect)
    reader = threading.Thread(target=lambda: store.unit().__enter__().close())
    reader.start()
    wanted = store.path.with_name("logs.duckdb.wanted")
    deadline = time.monotonic() + 20
    while not wanted.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert looks == []
    holder.communicate("", timeout=20)
    reader.join(20)
    assert len(looks) == 1


def test_whoever_waits_in_vain_is_told_which_process_has_the_file(store: LogStore) -> None:
    holder = holding(HOLD, store)
    with (
        pytest.raises(FileBusyError, match=rf"held by process {holder.pid} \(.*python.*\) for over 0.2 s"),
        unit_of_work(store.path, migrations=Path(), wait_s=0.2),
    ):
        pass
    holder.kill()
    holder.communicate(timeout=20)
    with store.unit() as connection:
        assert connection.execute("SELECT count(*) FROM written").fetchall() == [(0,)]


def test_a_program_that_takes_no_turns_is_waited_for_as_well(store: LogStore) -> None:
    script = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
    holder = holding(script, store)
    with (
        pytest.raises(FileBusyError, match=f"held by process {holder.pid} "),
        unit_of_work(store.path, migrations=Path(), wait_s=0.2),
    ):
        pass
    holder.communicate("", timeout=20)
    with store.unit() as connection:
        assert connection.execute("SELECT count(*) FROM written").fetchall() == [(0,)]


def test_the_threads_of_a_process_share_its_turn_until_the_last_has_closed(store: LogStore) -> None:
    assert take_turn(store.path)
    assert take_turn(store.path)
    end_turn(store.path)
    assert running(TAKE, str(store.path)).communicate(timeout=20)[0] == "False\n"
    end_turn(store.path)
    assert turn_path(store.path).exists()
    assert running(TAKE, str(store.path)).communicate(timeout=20)[0] == "True\n"


def test_a_folder_that_cannot_be_written_is_said_so(store: LogStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied", str(turn_path(store.path)))

    monkeypatch.setattr("ingest.file_turns.os.open", refuse)
    with pytest.raises(ErrataError, match=r"cannot open .*Permission denied.*can be written"), store.unit():
        pass

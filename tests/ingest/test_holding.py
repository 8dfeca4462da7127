"""Whatever bytes a file holds, and wherever an ingest is killed, the store stays whole and the account adds up."""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from evalsets.errors import ErrataError
from ingest import storing
from ingest.adapters import adapter_names, detect, get_adapter
from ingest.adapters.base import Record
from ingest.adapters.mapping_file import parse_mapping, preset_names
from ingest.loading import ingest
from ingest.log_store import LogStore
from ingest.merging import Merged, merge
from ingest.reading.blocks import line_parts, read_part, whole_blocks
from ingest.reading.probing import probe
from ingest.reading.sources import SourceFile
from ingest.spooling import scratch_folder
from tests.ingest.ingest_support import APP_MAPPING, rows, tables

LINES = st.one_of(
    st.binary(max_size=60),
    st.sampled_from(
        [
            b'{"request_id": "a", "query": "why", "sources": [{"chunk": 1}]}',
            b'{"request_id": "a", "query": {"text": ["x"]}, "ts": 1e400}',
            b'{"a": NaN, "query": "\\ud83d"}',
            b"[[[[[[",
            b'{"log": "{}", "stream": "x"}',
            b'{"data": [{"request_id": 1}]}',
            b'{"0": {"a": 1}, "1": {"a": 2}}',
            b"a;b;c",
            b"\x28\xb5\x2f\xfd\x00",
            b"\x1f\x8b\x08",
            b"PAR1",
        ]
    ),
)
CONTENT = st.one_of(
    st.binary(max_size=300),
    st.lists(LINES, max_size=8).map(b"\n".join),
    st.lists(LINES, max_size=3).map(lambda lines: b"\xff\xfe" + b"\n".join(lines)),
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(content=CONTENT)
@example(content=b"\x00" * 40)
@example(content=b'{"a":' * 3000)
@example(content=b"[" * 3000 + b"1")
def test_any_bytes_give_records_and_rejects_and_never_a_traceback(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "any"
        place.write_bytes(content)
        found = probe(SourceFile(place, "any", {}))
        blocks = map(read_part, line_parts(found)) if found.container == "lines" else whole_blocks(found)
        values = [value for block in blocks for value in block.block.values]
    detect(values[:20])
    for name in preset_names():
        outcomes = list(get_adapter(name).read([Record("any", 1, value) for value in values]))
        assert outcomes is not None


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(content=CONTENT, name=st.sampled_from([*adapter_names(), ""]))
def test_an_ingest_of_any_bytes_ends_with_a_report_that_adds_up_or_one_clear_error(content: bytes, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "any"
        place.write_bytes(content)
        mapping = None if name else parse_mapping(APP_MAPPING, "a test")
        try:
            report = ingest([place], store=LogStore(Path(folder) / "l.duckdb"), mapping=mapping, format=name, workers=1)
        except ErrataError:
            return
        assert report.read == report.made + report.skipped_total + report.quarantined
        assert report.made >= 0


def test_raw_data_a_killed_ingest_left_behind_is_removed_by_the_next(tmp_path: Path) -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    left = tmp_path / f"reading-{process.pid}-x"
    left.mkdir()
    (left / "stage.duckdb").write_text("jane@corp.example", encoding="utf-8")
    with scratch_folder(tmp_path) as mine, scratch_folder(tmp_path) as another:
        assert {mine, another} == set(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())


KILLED = """
import sys
from pathlib import Path
from ingest import file_reading, storing
from ingest.adapters.mapping_file import load_mapping
from ingest.loading import ingest
from ingest.log_store import LogStore
storing.GROUP_BYTES, file_reading.SLICE_BYTES = 60_000, 1 << 19
print("ready", flush=True)
ingest([sys.argv[1]], store=LogStore(Path(sys.argv[2])), mapping=sys.argv[3], workers=1)
"""


def test_an_ingest_killed_twenty_times_leaves_a_store_that_completes_to_the_same_tables(tmp_path: Path) -> None:
    log, mapping = tmp_path / "log.jsonl", tmp_path / "mapping.yaml"
    mapping.write_text(APP_MAPPING, encoding="utf-8")
    with log.open("w", encoding="utf-8") as stream:
        for number in range(12_000):
            chunks = [{"chunk": f"k{number % 97}", "text": f"text {number % 97} " * 30, "similarity": 0.5}]
            record = {"request_id": f"r{number}", "query": f"q {number}", "reply": "a" * 400, "sources": chunks}
            stream.write(json.dumps(record) + "\n")
    whole, torn = (LogStore(tmp_path / name / "logs.duckdb") for name in ("whole", "torn"))
    for store in (whole, torn):
        store.path.parent.mkdir()
        (store.path.parent / "salt").write_text("ab" * 32, encoding="ascii")
    ingest([log], store=whole, mapping=mapping, workers=1)
    source = random.Random(5)  # noqa: S311 - when to kill
    delays = sorted(source.uniform(0.02, 0.6) for _ in range(20))
    counts = [_killed(log, torn, mapping, delay) for delay in delays]
    assert counts == sorted(counts)
    assert counts[-1] > 0, "no kill came late enough to leave a committed batch"
    ingest([log], store=torn, mapping=mapping, workers=1)
    assert tables(torn) == tables(whole)


def test_a_group_that_cannot_be_written_ends_the_ingest_with_its_error_and_what_came_before_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mapping = tmp_path / "mapping.yaml"
    mapping.write_text(APP_MAPPING, encoding="utf-8")
    logs = [tmp_path / f"{name}.jsonl" for name in "abcd"]
    for log in logs:
        log.write_text(f'{{"request_id": "{log.stem}", "query": "q"}}\n', encoding="utf-8")
    store = LogStore(tmp_path / "logs.duckdb")
    groups: list[int] = []

    def merge_twice(connection: Any, group: Any, **options: Any) -> Merged:
        groups.append(len(group))
        if len(groups) > 2:
            raise ErrataError("the disk is full")
        return merge(connection, group, **options)

    monkeypatch.setattr(storing, "merge", merge_twice)
    monkeypatch.setattr(storing, "GROUP_BYTES", 1)
    with pytest.raises(ErrataError, match="the disk is full"):
        ingest(logs, store=store, mapping=mapping)
    assert rows(store, "SELECT count(*) FROM interactions") == [(2,)]
    monkeypatch.undo()
    assert ingest(logs, store=store, mapping=mapping).interactions.new == 2


def _killed(log: Path, store: LogStore, mapping: Path, after_s: float) -> int:
    """Kill an ingest some time after it began, and return how many interactions are in the store then."""
    command = [sys.executable, "-c", KILLED, str(log), str(store.path), str(mapping)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(after_s)
        os.kill(process.pid, signal.SIGKILL)
    try:
        return int(rows(store, "SELECT count(*) FROM interactions")[0][0])
    except ErrataError as error:
        pytest.fail(f"the store does not open after a kill: {error}")

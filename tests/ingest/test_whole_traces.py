"""A trace put together where it was read is what it would be when every file is read."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ingest import reading_jobs
from ingest.adapters.base import Span
from ingest.loading import ingest
from ingest.log_store import LogStore
from ingest.privacy import SALT_NAME
from ingest.spans.privacy import redacted_spans
from ingest.spans.usual_traces import UsualSpans
from ingest.spans.whole_traces import WholeTraces, put_together
from tests.ingest.ingest_support import rows
from tests.ingest.test_span_ingest_is_order_free import tables
from tests.ingest.test_trace_assembly import batch, chain, llm, retriever

SAMPLES = (
    *("otlp_openinference_full.jsonl", "otlp_openinference_llamaindex.jsonl", "otlp_genai_semconv_langchain.jsonl"),
    *("otlp_langfuse_sdk.jsonl", "otlp_openllmetry_langchain.jsonl", "phoenix_spans.parquet", "mlflow_traces.jsonl"),
    *("langfuse_blob_observations_v2.parquet", "langsmith_list_runs.jsonl", "mlflow_search_traces_pandas.parquet"),
)


def store_in(folder: Path) -> LogStore:
    folder.mkdir()
    (folder / SALT_NAME).write_text("5a" * 32, encoding="ascii")
    return LogStore(folder / "logs.duckdb")


def put_nothing_together(
    spans: list[Span], adapter: str, _assemble: Any, _source: str = "", usual: UsualSpans | None = None
) -> WholeTraces:
    left = redacted_spans(usual.redactor, usual.spans) if usual else []
    return put_together([*spans, *left], adapter, None)


@pytest.mark.parametrize("name", SAMPLES)
def test_traces_put_together_at_once_and_at_the_end_give_the_same_tables(
    name: str, shared_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once, at_the_end = store_in(tmp_path / "once"), store_in(tmp_path / "end")
    first = ingest([shared_folder / "logs" / name], store=at_once)
    monkeypatch.setattr(reading_jobs, "put_together", put_nothing_together)
    second = ingest([shared_folder / "logs" / name], store=at_the_end)
    assert tables(at_once) == tables(at_the_end)
    assert (first.interactions, first.spans_new, first.skipped) == (
        second.interactions,
        second.spans_new,
        second.skipped,
    )


def numbered_trace(number: int) -> list[dict[str, Any]]:
    spans = [chain(lasting=9), retriever("2", "1", f"k{number % 7}", at=1), llm("3", "1", at=2, said="there " * 60)]
    return [span | {"traceId": f"{number + 1:032x}"} for span in spans]


def write_traces(path: Path, count: int) -> Path:
    """Write traces of which every tenth is torn: its last span comes at the end of the file."""
    late: list[dict[str, Any]] = []
    with path.open("w", encoding="utf-8") as stream:
        for number in range(count):
            spans = numbered_trace(number)
            if number % 10 == 0:
                late.append(spans.pop())
            stream.write(json.dumps(batch(*spans)) + "\n")
        stream.writelines(json.dumps(batch(span)) + "\n" for span in late)
    return path


def test_a_trace_torn_within_one_run_counts_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.storing.GROUP_BYTES", 40_000)
    monkeypatch.setattr("ingest.reading.blocks.PART_BYTES", 1 << 14)
    store = store_in(tmp_path / "torn")
    log = write_traces(tmp_path / "log.jsonl", 200)
    report = ingest([log], store=store, workers=1)
    assert (report.interactions.new, report.interactions.changed, report.spans_new) == (200, 0, 600)
    assert rows(store, "SELECT count(*), min(answer IS NOT NULL) FROM interactions") == [(200, True)]
    log.write_text(log.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    again = ingest([log], store=store, workers=1)
    assert (again.interactions.new, again.interactions.changed, again.spans_new) == (0, 0, 0)


FORKED = """
import os, sys
from pathlib import Path
import pandas
from ingest import reading_jobs, storing
from ingest.adapters import iter_adapters
from ingest.loading import ingest
from ingest.log_store import LogStore
storing.GROUP_BYTES, reading_jobs._ALIKE_PART_BYTES = 30_000, 1 << 14
list(iter_adapters())
print("ready", flush=True)
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        ingest([sys.argv[1]], store=LogStore(Path(line.strip())), workers=1)
        os._exit(0)
    print(child, flush=True)
    sys.stdin.readline()
    os.waitpid(child, 0)
    print("ended", flush=True)
"""


def test_an_ingest_of_spans_killed_twenty_times_completes_to_the_same_tables(tmp_path: Path) -> None:
    log = write_traces(tmp_path / "log.jsonl", 600)
    whole, torn = store_in(tmp_path / "whole"), store_in(tmp_path / "torn")
    source = random.Random(5)  # noqa: S311 - when to kill
    counts = []
    command = [sys.executable, "-c", FORKED, str(log)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        started = time.monotonic()
        said(process, str(whole.path))
        said(process, "wait for its end")
        lasting_s = time.monotonic() - started
        for _ in range(20):
            child = int(said(process, str(torn.path)))
            time.sleep(lasting_s * source.uniform(0.2, 0.9))
            os.kill(child, signal.SIGKILL)
            said(process, "wait for its end")
            counts.append(rows(torn, "SELECT count(*) FROM interactions")[0][0])
    assert counts == sorted(counts)
    assert counts[-1] > 0, "no kill came late enough to leave a committed batch"
    ingest([log], store=torn, workers=1)
    assert tables(torn) == tables(whole)


def said(process: "subprocess.Popen[str]", line: str) -> str:
    """Say a line to the process that forks ingests, and return what it answers."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()
    return process.stdout.readline()


def test_a_passage_retrieved_in_many_blocks_is_stored_once_and_never_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.reading.blocks.PART_BYTES", 1 << 12)
    monkeypatch.setattr("ingest.storing.GROUP_BYTES", 1)
    store = store_in(tmp_path / "store")
    ingest([write_traces(tmp_path / "log.jsonl", 40)], store=store, workers=1)
    texts = rows(store, "SELECT text FROM chunk_texts ORDER BY text")
    assert texts == [(f"text of k{number}",) for number in range(7)]
    missing = "SELECT count(*) FROM retrieved ANTI JOIN chunk_texts USING (text_hash)"
    assert rows(store, missing) == [(0,)]

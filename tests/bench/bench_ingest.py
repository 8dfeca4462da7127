"""Measure ingest against DuckDB's own declared-column read of the same file; every figure is a ratio of one run.

Run it as `python -m tests.bench.bench_ingest [--rows 1000000]`. It writes about 1.6 GB for a million rows into a
temporary folder and removes it.
"""

import argparse
import json
import multiprocessing
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import psutil

from ingest.loading import ingest
from ingest.log_store import LogStore
from ingest.settings import PrivacySettings
from ingest.worker_processes import tell_arrow_of_no_pandas

CHUNKS = 20_000
START = datetime(2026, 11, 1, tzinfo=UTC)
MAPPING = """
source: bench
interactions:
  id: request_id
  session_id: conv
  user_id: uid
  asked_at: ts
  question: query
  answer: reply
  retrieved: {list: sources, chunk_id: chunk, doc_id: doc, text: text, score: similarity}
  feedback: {path: thumb, map: {up: 1, down: -1}}
  model: llm
  prompt_version: prompt_tag
  latency_ms: took_ms
  input_tokens: tok_in
  output_tokens: tok_out
  cost: usd
  error: err
"""
DECLARED = """
CREATE TABLE logs AS SELECT * FROM read_json($file, format = 'newline_delimited', columns = {
    request_id: 'VARCHAR', conv: 'VARCHAR', uid: 'VARCHAR', ts: 'TIMESTAMPTZ', query: 'VARCHAR', reply: 'VARCHAR',
    sources: 'STRUCT(chunk VARCHAR, doc VARCHAR, text VARCHAR, similarity DOUBLE)[]', thumb: 'VARCHAR', llm: 'VARCHAR',
    prompt_tag: 'VARCHAR', took_ms: 'DOUBLE', tok_in: 'BIGINT', tok_out: 'BIGINT', usd: 'DOUBLE', err: 'VARCHAR'})
"""
_SYLLABLES = ("re", "fund", "in", "voi", "ce", "pass", "word", "ex", "port", "ac", "count", "li", "mit", "plan", "key")


class Timed(NamedTuple):
    """Wall seconds of one step and the most memory its processes held together, in MiB."""

    seconds: float
    peak_mib: float


def words(source: random.Random, count: int) -> str:
    """Return `count` made-up words."""
    return " ".join("".join(source.choices(_SYLLABLES, k=source.randint(1, 3))) for _ in range(count))


def write_log(path: Path, rows: int, *, seed: int = 7) -> None:
    """Write a log of `rows` interactions of three chunks out of 20,000, about 1.6 KB a row."""
    source = random.Random(seed)  # noqa: S311 - made-up text
    chunks = [
        {"chunk": f"kb-{at // 5:05d}#{at % 5}", "doc": f"kb-{at // 5:05d}", "text": words(source, 45)}
        for at in range(CHUNKS)
    ]
    texts = [words(source, 12) for _ in range(5000)]
    answers = [words(source, 30) for _ in range(5000)]
    with path.open("w", encoding="utf-8") as stream:
        for at in range(rows):
            spoken = (texts[source.randrange(5000)], answers[source.randrange(5000)])
            scored = [{**chunk, "similarity": round(source.random(), 6)} for chunk in source.sample(chunks, 3)]
            stream.write(json.dumps(interaction_row(at, spoken, scored)) + "\n")


def interaction_row(at: int, spoken: tuple[str, str], chunks: list[dict[str, Any]]) -> dict[str, Any]:
    mail = f" mail user{at}@example.com" if at % 50 == 0 else ""
    return {
        "request_id": f"req-{at:08d}",
        "conv": f"sess-{at // 4:07d}",
        "uid": f"user-{at % 50_000}",
        "ts": (START + timedelta(milliseconds=at * 700)).isoformat(),
        "query": f"{spoken[0]} {at}{mail}?",
        "reply": f"{spoken[1]} {at}.",
        "sources": chunks,
        "thumb": ("up" if at % 3 else "down") if at % 40 == 0 else None,
        "llm": "scripted-chat-1",
        "prompt_tag": f"v{at % 3}",
        "took_ms": 500 + at % 1000 + 0.5,
        "tok_in": 120 + at % 50,
        "tok_out": 40 + at % 30,
        "usd": 0.0004,
        "err": None,
    }


def _memory_of_tree() -> float:
    own = psutil.Process()
    total = 0.0
    for process in (own, *own.children(recursive=True)):
        try:
            total += process.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total / (1 << 20)


def timed(action: Callable[[], Any]) -> Timed:
    """Run an action in a process of its own, so that its memory is its own."""
    context = multiprocessing.get_context("fork")
    queue: Any = context.SimpleQueue()
    process = context.Process(target=_measured, args=(action, queue))
    process.start()
    process.join()
    if process.exitcode:
        sys.exit("a step of the benchmark failed")
    return Timed(*queue.get())


def _measured(action: Callable[[], Any], queue: Any) -> None:
    peak = [_memory_of_tree()]
    is_done = threading.Event()

    def watch() -> None:
        while not is_done.wait(0.05):
            peak[0] = max(peak[0], _memory_of_tree())

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    started = time.perf_counter()
    action()
    seconds = time.perf_counter() - started
    is_done.set()
    queue.put((seconds, peak[0]))


def declared_read(log: Path, database: Path) -> None:
    """Read the log with DuckDB's own reader, its columns declared, into a table on disk."""
    with duckdb.connect(str(database)) as connection:
        connection.execute(DECLARED, {"file": str(log)})


def ingest_once(log: Path, mapping: Path, folder: Path, *, redact: bool) -> None:
    """Ingest the log through the mapping."""
    report = ingest(
        [log], store=LogStore(folder / "logs.duckdb"), mapping=mapping, privacy=PrivacySettings(redact=redact)
    )
    sys.stderr.write(f"  {report.summary()}\n")


def main() -> None:
    """Run the benchmark and print its ratios."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--folder", type=Path, default=None)
    chosen = options.parse_args()
    tell_arrow_of_no_pandas()
    folder = Path(tempfile.mkdtemp(dir=chosen.folder))
    try:
        _compare(folder, chosen.rows)
    finally:
        shutil.rmtree(folder)


def _compare(folder: Path, rows: int) -> None:
    log, mapping = folder / "log.jsonl", folder / "mapping.yaml"
    write_log(log, rows)
    mapping.write_text(MAPPING, encoding="utf-8")
    own = timed(lambda: declared_read(log, folder / "declared.duckdb"))
    (folder / "declared.duckdb").unlink()
    plain = timed(lambda: ingest_once(log, mapping, folder / "plain", redact=False))
    again = timed(lambda: ingest_once(log, mapping, folder / "plain", redact=False))
    with log.open("a", encoding="utf-8") as stream:
        stream.write("\n")
    reread = timed(lambda: ingest_once(log, mapping, folder / "plain", redact=False))
    redacted = timed(lambda: ingest_once(log, mapping, folder / "redacted", redact=True))
    size = log.stat().st_size / 1e9
    sys.stdout.write(f"{rows:,} interactions of three chunks, {size:.2f} GB\n")
    for name, step, base, limit in (
        ("DuckDB, declared columns, on disk", own, own, None),
        ("ingest through a mapping", plain, own, 1.5),
        ("ingest the same file again", again, plain, 0.5),
        ("ingest it again, one byte longer", reread, plain, None),
        ("ingest with redaction", redacted, plain, 2.0),
    ):
        wanted = f"  (at most {limit})" if limit else ""
        ratio = step.seconds / base.seconds
        sys.stdout.write(f"{name:36} {step.seconds:7.1f} s  x{ratio:5.2f}{wanted:16} {step.peak_mib:6.0f} MiB\n")


if __name__ == "__main__":
    main()

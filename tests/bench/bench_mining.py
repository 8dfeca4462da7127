"""Mine a large synthetic log and print the cost beside one plain window query over the same table.

`python tests/bench/bench_mining.py [ROWS]` (default 500,000; the target is 5,000,000).
"""

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import psutil

from ingest.log_store import LogStore
from ingest.mining import mine

SHARE_MORE = 0.01
USERS = 400_000

_WORD_LIST = """
invoice payment refund card account password plan price export report user role access login code email phone
bank transfer receipt tax country address delivery order cancel change update limit error message screen button page
file upload download import contact support hour day week month year company team member owner admin discount
charity school trial period start end date time zone number balance statement currency exchange fee charge top
budget project task calendar device app version browser backup restore delete archive search filter sort print
template signature customer supplier product stock shipping return warranty repair contract notice salary payslip
"""
_WORDS = _WORD_LIST.split()
# Questions of 5 to 11 words; a seventh say the one before again, with a word or two more; answers of about 45 words.
_QUESTION = """
    concat_ws(' ',
        ['how do i', 'what is the', 'can i', 'where is', 'why does the', 'is there a']
            [1 + (hash({seed}, 0) % 6)::BIGINT],
        word[1 + (hash({seed}, 1) % len(word))::BIGINT], word[1 + (hash({seed}, 2) % len(word))::BIGINT],
        ['for', 'of', 'with', 'and', 'on'][1 + (hash({seed}, 3) % 5)::BIGINT],
        word[1 + (hash({seed}, 4) % len(word))::BIGINT], word[1 + (hash({seed}, 5) % len(word))::BIGINT],
        CASE WHEN hash({seed}, 6) % 2 = 0 THEN word[1 + (hash({seed}, 7) % len(word))::BIGINT] END)
"""
_ROWS = """
INSERT INTO interactions BY NAME
WITH numbered AS (
    SELECT i, i * 3 // 10 AS session, hash(i) % 7 = 0 AS again, $words::VARCHAR[] AS word
    FROM range($first, $last) AS r(i)
),
asked AS (
    SELECT *, {own} AS own, {before} AS before FROM numbered
)
SELECT
    concat('bench:', lpad(i::VARCHAR, 12, '0')) AS interaction_id,
    'bench' AS source,
    concat('s-', session) AS session_id,
    concat('u-', hash(session) % $users) AS user_id,
    TIMESTAMPTZ '2026-01-01 00:00:00+00' + to_seconds(session * 3 + (i % 10) * 45) AS asked_at,
    CASE WHEN again THEN concat(before, ' ', word[1 + (hash(i, 9) % len(word))::BIGINT]) ELSE own END AS question,
    CASE WHEN hash(i, 11) % 25 = 0 THEN 'I am sorry, but I could not find an answer to that in the documents.'
        WHEN hash(i, 12) % 200 = 0 THEN ''
        ELSE concat(list_aggregate(list_transform(range(45), lambda k: word[1 + (hash(i, k + 20) % len(word))::BIGINT]),
            'string_agg', ' '), '.') END AS answer,
    CASE WHEN hash(i, 13) % 40 = 0 THEN -1 WHEN hash(i, 13) % 40 < 4 THEN 1 END AS feedback,
    concat('model-', hash(i, 14) % 3) AS model,
    400 + hash(i, 15) % 1500 + CASE WHEN hash(i, 16) % 300 = 0 THEN 20000 ELSE 0 END AS latency_ms,
    0.001 + (hash(i, 17) % 1000) / 1e6 AS cost,
    CASE WHEN hash(i, 18) % 250 = 0 THEN 'TimeoutError' END AS error,
    '' AS content_hash,
    $ingest_id AS ingest_id
FROM asked
"""
_LINKS = """
INSERT INTO retrieved BY NAME
SELECT interaction_id, rank, concat('c-', hash(interaction_id, rank) % 20000) AS chunk_id,
    concat('h-', hash(interaction_id, rank) % 20000) AS text_hash
FROM interactions, range(3) AS r(rank) WHERE ingest_id = $ingest_id
"""
_TEXTS = """
INSERT INTO chunk_texts
SELECT concat('h-', i), list_aggregate(
    list_transform(range(60), lambda k: w[1 + (hash(i, k) % len(w))::BIGINT]), 'string_agg', ' ')
FROM range(20000) AS r(i), (SELECT $words::VARCHAR[] AS w)
"""
_PLAIN_WINDOW = """
SELECT count(earlier), count(later) FROM (
    SELECT lag(question) OVER session AS earlier, lead(question) OVER session AS later
    FROM interactions WINDOW session AS (PARTITION BY source, session_id ORDER BY asked_at, interaction_id)
)
"""


class Cost(NamedTuple):
    """Wall seconds, CPU seconds and the highest resident memory reached, in MB."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def main() -> None:
    """Build the log, run the window query and the mining, and print both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="?", type=int, default=500_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        store = LogStore(Path(folder) / "logs.duckdb")
        build(store, 0, rows, ingest_id=1)
        window = min((cost_of(lambda: plain_window(store)) for _ in range(2)), key=lambda cost: cost.wall_s)
        say(f"{rows:,} interactions; one plain window query: {window.wall_s:.2f} s, {window.cpu_s:.2f} s of CPU")
        report: list[Any] = []
        full = cost_of(lambda: report.append(mine(store, full=True)))
        say(
            f"full run: {full.wall_s:.2f} s, {full.cpu_s:.2f} s of CPU, peak {full.peak_mb:,.0f} MB; "
            f"{full.wall_s / window.wall_s:.1f} times the window query; {1e6 * full.wall_s / rows:.2f} us a row"
        )
        say(f"flagged {report[0].flagged:,}; {report[0].by_signal}")
        build(store, rows, rows + int(rows * SHARE_MORE), ingest_id=2)
        again = cost_of(lambda: report.append(mine(store)))
        say(
            f"after 1% more: {again.wall_s:.2f} s, {report[1].read:,} read; "
            f"{again.wall_s / full.wall_s:.1%} of a full run"
        )


def build(store: LogStore, first: int, last: int, *, ingest_id: int) -> None:
    """Add the interactions `first` to `last`; whole sessions when both are multiples of ten."""
    statement = _ROWS.format(own=_QUESTION.format(seed="i"), before=_QUESTION.format(seed="i - 1"))
    with store.unit() as connection:
        connection.execute("SET memory_limit = '4GB'")
        for start in range(first, last, 500_000):
            connection.execute(
                statement,
                {
                    "words": _WORDS,
                    "first": start,
                    "last": min(last, start + 500_000),
                    "ingest_id": ingest_id,
                    "users": USERS,
                },
            )
        connection.execute(_LINKS, {"ingest_id": ingest_id})
        if first == 0:
            connection.execute(_TEXTS, {"words": _WORDS})


def plain_window(store: LogStore) -> None:
    """Run the query that mining is measured against."""
    with store.unit() as connection:
        connection.execute("SET memory_limit = '2GB'")
        connection.execute(_PLAIN_WINDOW).fetchall()


def cost_of(action: Callable[[], None]) -> Cost:
    """Run `action` and measure it; memory is looked at every 20 ms."""
    process, peak, done = psutil.Process(), [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            peak[0] = max(peak[0], process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    before, started = process.cpu_times(), time.perf_counter()
    action()
    wall, after = time.perf_counter() - started, process.cpu_times()
    done.set()
    watcher.join()
    return Cost(wall, after.user + after.system - before.user - before.system, peak[0] / 1e6)


def say(text: str) -> None:
    """Print one line of the measurement."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    if duckdb.__version__ < "2":
        sys.exit("needs duckdb 2")
    main()

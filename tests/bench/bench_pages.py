"""Speed of the pages: 200 stored runs of 1,000 items, and the monitor over millions of interactions.

`python -m tests.bench.bench_pages [--interactions 5000000] [--runs 200] [--items 1000] [--folder DIR] [--browser]`
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from curation_app.service import run_history
from curation_app.service.comparing import compare_runs
from curation_app.service.growing_topics import growing_topics
from curation_app.service.monitoring import choices, look
from curation_app.service.starting import make_workspace
from curation_app.service.surfacing import list_behind
from curation_app.service.trending import read_trends
from curation_app.workspace import WORKSPACE_VARIABLE, Workspace
from evalsets.report import Report
from ingest import daily
from ingest.daily_reading import DailyFilter
from ingest.interaction_reading import Behind
from ingest.log_store import LogStore

FIRST_DAY = date(2026, 8, 1)
DAYS = 90
_FILL = """
INSERT INTO interactions (interaction_id, source, session_id, asked_at, question, answer, feedback, model,
    prompt_version, latency_ms, cost, error, content_hash, ingest_id, number)
SELECT 'bench:' || n, 'bench', 's' || (n // 3),
    TIMESTAMPTZ '2026-08-01 00:00:00+00' + to_microseconds(CAST(n // 3 * ($days * 86400000000.0 * 3 / $rows) AS BIGINT)
        + n % 3 * 40000000),
    'How do I ' || ['change', 'cancel', 'refund', 'import'][1 + CAST(hash(n) % 4 AS INTEGER)]
        || ' my invoice number ' || n % 997,
    'Choose it under Settings.',
    CASE WHEN hash(n + 1) % 40 = 0 THEN -1 WHEN hash(n + 1) % 40 = 1 THEN 1 END,
    ['small', 'large'][1 + CAST(hash(n // 3) % 2 AS INTEGER)], ['v6', 'v7', 'v8'][1 + n * 3 // $rows],
    exp(6.5 + (hash(n + 2) % 1000) / 400.0), 0.001 + (hash(n + 3) % 100) / 100000.0,
    CASE WHEN hash(n + 4) % 90 = 0 THEN 'timeout' END, 'h', 1, n + 1
FROM range($rows) AS t(n)
"""
_HITS = """
CREATE TEMP TABLE hits_new AS
SELECT number AS line, ['rephrased', 'declined', 'abandoned'][1 + CAST(hash(interaction_id) % 3 AS INTEGER)] AS signal
FROM interactions WHERE hash(interaction_id || 'x') % 10 = 0;
CREATE TEMP TABLE hits_gone AS SELECT * FROM hits_new WHERE false;
CREATE TEMP VIEW logs AS SELECT * FROM interactions
"""


def timed(name: str, task: Callable[[], Any], *, repeat: int = 3) -> Any:
    """Print the first and the best later time of a task."""
    seconds = []
    result = None
    for _ in range(repeat):
        started = time.perf_counter()
        result = task()
        seconds.append(time.perf_counter() - started)
    later = f", then {min(seconds[1:]):.3f} s" if len(seconds) > 1 else ""
    sys.stdout.write(f"{name:<58} first {seconds[0]:.3f} s{later}\n")
    return result


def fill_log(workspace: Workspace, rows: int) -> None:
    """Make the log and its daily tables."""
    with LogStore(workspace.logs_path).unit() as connection:
        connection.execute("SET memory_limit = '4GB'")
        timed(f"make {rows:,} interactions", lambda: connection.execute(_FILL, {"rows": rows, "days": DAYS}), repeat=1)
        connection.execute(_HITS)
        timed("count every day (daily.update of one ingest of all)", lambda: daily.update(connection, 1), repeat=1)
        timed(
            "count signals by day",
            lambda: daily.move_signals(connection, gone="hits_gone", new="hits_new"),
            repeat=1,
        )
        connection.execute(
            "UPDATE interactions SET ingest_id = 2 WHERE asked_at >= TIMESTAMPTZ '2026-10-29 00:00:00+00'"
        )
        timed(
            "count the last day again (daily.update of a nightly ingest)", lambda: daily.update(connection, 2), repeat=1
        )


def bench_monitor(workspace: Workspace) -> None:
    """Time the first view and filters, and check the numbers against a direct query."""
    timed("monitor: what there is to choose from", lambda: choices(workspace))
    view = timed("monitor: first view", lambda: look(workspace, DailyFilter()))
    timed("monitor: what is asked about more", lambda: growing_topics(workspace, view.compared))
    voted = Behind(DailyFilter(), vote="up")
    timed("monitor: the interactions behind a figure", lambda: list_behind(workspace, voted))
    narrowed = DailyFilter(date(2026, 9, 1), date(2026, 9, 30), model="small")
    timed("monitor: one month, one model", lambda: look(workspace, narrowed))
    with LogStore(workspace.logs_path).unit() as connection:
        direct = connection.execute(
            "SELECT count(*), count(DISTINCT session_id), count(*) FILTER (feedback < 0), "
            "count(*) FILTER (error IS NOT NULL) FROM interactions"
        ).fetchall()[0]
    gauges = {gauge.measure.name: gauge for gauge in view.gauges}
    kept = (
        int(gauges["interactions"].value),
        int(gauges["sessions"].value),
        gauges["thumbs_down"].share.part,
        gauges["errors"].share.part,
    )
    sys.stdout.write(f"monitor: equal to a direct query: {kept == direct} {kept}\n")


def fill_runs(workspace: Workspace, runs: int, items: int) -> None:
    """Write reports with their clocks, as `errata run` does."""
    rng = random.Random(7)  # noqa: S311 - repeatable reports, not a secret
    workspace.runs_folder.mkdir(parents=True, exist_ok=True)
    template = _template(items)
    for number in range(runs):
        for item in template["items"]:
            passed = rng.random() < 0.7 + number / runs * 0.1
            item.update(passed=passed, passes=[passed], reason="facts present" if passed else "missing: '30 days'")
        passes = sum(item["passed"] for item in template["items"])
        template.update(answer_accuracy=passes / items, passed=passes, failed=items - passes)
        template["modes"] = {
            "refusal": {"passed": passes, "total": items, "rate": passes / items, "low": None, "high": None}
        }
        template["by_mode"] = {"refusal": passes / items}
        path = workspace.runs_folder / f"failures-keyword-{number:04d}.json"
        path.write_bytes(Report.model_validate(template).to_bytes())
        started = datetime(2026, 5, 1, 9, tzinfo=UTC) + timedelta(days=number)
        clock = {
            "started_at": started.isoformat(),
            "finished_at": started.isoformat(),
            "wall_s": 9.0,
            "calls": items,
            "retried": 0,
            "slowed": 0,
            "latency": {"answer": {"median": 0.8, "p95": 2.0}},
        }
        path.with_name(f"{path.stem}.clock.json").write_text(json.dumps(clock))


def _template(items: int) -> dict[str, Any]:
    retrieved = [
        {"chunk_id": f"kb-{n:03d}#1", "doc_id": f"kb-{n:03d}", "score": 3.2, "is_gold": n == 4} for n in range(10)
    ]
    scores = dict.fromkeys(("hit@10", "recall@10", "precision@10", "ndcg@10", "mrr", "all_facts", "token_f1"), 0.5)
    figure = {"half": "retrieval", "value": 0.5, "lenient": 0.5, "scored": items, "eligible": items, "total": items}
    return {
        "headline": "a bench run", "status": "complete", "retrieval_recall": 0.5, "answer_accuracy": 0.7,
        "refusal_rate": 0.1, "by_mode": {}, "modes": {}, "passed": 0, "failed": 0, "not_scored": 0,
        "eval_set": {"name": "failures", "version": 1, "hash": "sha256:0", "items": items},
        "pipeline": {"name": "keyword", "kind": "keyword", "fingerprint": "0123456789abcdef", "settings": {}},
        "judge": {"name": "facts", "fingerprint": "fedcba9876543210"}, "settings": {"k": 10, "repeat": 1},
        "versions": {}, "lenient_accuracy": 0.7, "step_counts": {},
        "metrics": {name: {"name": name, **figure} for name in scores},
        "items": [
            {
                "id": f"item-{n:04d}", "mode": "refusal", "source": "production", "question": f"How do I change {n}?",
                "expected": "Choose Correct.", "content": f"{n:016x}", "steps": {"retrieve": {"status": "ok"}},
                "gold_chunk_ids": ["kb-004#1"], "retrieved": retrieved, "answer": "Choose Correct under Invoices. " * 6,
                "passed": True, "passes": [True], "is_scored": True, "reason": "", "scores": scores,
            }
            for n in range(items)
        ],
    }  # fmt: skip


def bench_runs(workspace: Workspace) -> None:
    """Time what Scores, Compare and Trends need."""
    first = "runs: first opening, summaries not yet made"
    runs = timed(first, lambda: run_history.stored_runs(workspace), repeat=1)
    timed("runs: what became of every item, of every run", lambda: [run.outcomes() for run in runs], repeat=1)
    run_history._summary_at.cache_clear()  # as a fresh process finds it
    runs = timed("runs: opening in a fresh process", lambda: run_history.stored_runs(workspace))
    report = timed("scores: one report of the item table", lambda: run_history.load_report(runs[0].path))
    sys.stdout.write(f"scores: items {len(report.items):,}\n")
    timed("compare: two runs", lambda: compare_runs(runs[0].path, runs[1].path))
    timed("trends: every run of the set", lambda: read_trends(workspace, "failures"))


def bench_pages(workspace: Workspace) -> None:
    """Time the pages themselves, drawn without a browser."""
    from streamlit.testing.v1 import AppTest

    os.environ[WORKSPACE_VARIABLE] = str(workspace.root)
    pages = Path(run_history.__file__).parents[1] / "pages"
    for page in ("scores", "compare", "trends", "monitor"):
        app = AppTest.from_file(str(pages / f"{page}.py"), default_timeout=120)
        timed(f"page {page}: draw", app.run)


def main() -> None:
    """Run the bench in a folder of its own."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--interactions", type=int, default=5_000_000)
    options.add_argument("--runs", type=int, default=200)
    options.add_argument("--items", type=int, default=1000)
    options.add_argument("--folder", type=Path)
    options.add_argument("--browser", action="store_true", help="time the pages in Chromium too")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        workspace = make_workspace(chosen.folder or Path(temporary)).workspace
        if not workspace.logs_path.exists():
            fill_log(workspace, chosen.interactions)
        if not workspace.runs_folder.exists():
            fill_runs(workspace, chosen.runs, chosen.items)
        bench_monitor(workspace)
        bench_runs(workspace)
        bench_pages(workspace)
        if chosen.browser:
            from tests.bench.bench_pages_browser import bench_browser

            bench_browser(workspace.root)


if __name__ == "__main__":
    main()

"""Key press to next item shown, in Chromium, on a large workspace: `python -m tests.bench.bench_app`.

Builds (once, in --folder) 1 million interactions, 20,000 candidates and 1 million chunks with their index, serves
them, and times: one reviewer, the Queue page, the corpus search, and four reviewers at once while `errata ingest` runs.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Page, sync_playwright

from curation_app.service.labelling import Desk, open_desk
from curation_app.service.starting import make_workspace
from ingest.mining.candidates import Candidate, CandidateChunk, CandidateTurn, ModeSuggestion, SignalHit
from tests.curation_app.served_app import Server, launch_chromium

WORDS = ("refund", "invoice", "annual", "plan", "month", "days", "cancel", "account", "owner", "export", "member")
STARTED_AT = datetime(2026, 8, 1, tzinfo=UTC)

FILL_LOGS = """
INSERT INTO interactions (interaction_id, source, session_id, asked_at, question, answer, model, prompt_version,
    content_hash, ingest_id)
SELECT 'bench:' || n, 'bench', 's' || (n // 3),
    TIMESTAMPTZ '2026-08-01 00:00:00+00' + to_seconds(CAST(n * 7 AS BIGINT)),
    'how do I change invoice number ' || n, 'Choose it under Settings, number ' || hash(n), 'small', 'v7', 'h', 1
FROM range($rows) AS t(n)
"""
FILL_CORPUS = """
INSERT INTO corpus_chunks (chunk_id, doc_id, position, text, text_hash, added_at)
SELECT 'kb-' || (n // 10) || '#' || (n % 10), 'kb-' || (n // 10), n % 10,
    array_to_string(list_transform(range(60), lambda k:
        'w' || CAST(exp(11.0 * (hash(n * 61 + k) % 100000) / 100000.0) AS INTEGER)), ' '), 'h',
    TIMESTAMPTZ '2026-08-01 00:00:00+00'
FROM range($rows) AS t(n)
"""
WORK = """
async ([count, pauseMs]) => {
  window.__times = { all: [], done: false };
  const shown = () => document.querySelector(".errata-question")?.textContent || "";
  const pause = (ms) => new Promise(done => setTimeout(done, ms));
  const ready = () => {
    const s = window.__errataLabel;
    return s && s.token && !s.inFlight && performance.now() - s.renderedAt > 150;
  };
  // The question of the next item stands in the page, and the frame that paints it has begun.
  const nextShown = (before) => new Promise(done => {
    const late = setTimeout(finish, 20000);
    const watch = new MutationObserver(() => { if (shown() && shown() !== before) finish(); });
    function finish() { clearTimeout(late); watch.disconnect(); requestAnimationFrame(done); }
    watch.observe(document.body, { childList: true, subtree: true, characterData: true });
  });
  for (let n = 0; n < count; n++) {
    while (!ready()) await pause(20);
    const started = performance.now(), next = nextShown(shown());
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "n", bubbles: true, composed: true }));
    await next;
    window.__times.all.push(performance.now() - started);
    await pause(pauseMs);
  }
  window.__times.done = true;
}
"""


def main() -> None:
    """Build what is missing, measure, and print one line a figure."""
    options = _options()
    desk = _workspace(options)
    with _served(desk) as (url, server), sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        try:
            _say(f"load before the run: {os.getloadavg()[0]:.1f}")
            page = _seat(browser, url, "One")
            cpu_before = sum(server.cpu_times()[:2])
            times = _presses([page], options.presses)
            cpu_ms = (sum(server.cpu_times()[:2]) - cpu_before) / len(times) * 1000
            _report("one reviewer, key press to next item", times, "median 250, p95 600")
            _say(f"the server worked {cpu_ms:.0f} ms of CPU a press, whatever else the machine did")
            _report("Queue page, 50 of all candidates", _queue_loads(page, url), "500")
            _report("corpus search by tantivy", _searches(desk), "20")
            seats = [_seat(browser, url, f"Four-{number}") for number in range(4)]
            with _ingesting(desk, options.ingest_rows):
                times = _presses(seats, options.presses)
            _report("four reviewers during an ingest", times, "median 350")
        finally:
            browser.close()
    _say(f"labels recorded: {len(desk.store.events())}, on as many items: {len(desk.store.readings())}")


def _presses(pages: list[Page], count: int) -> list[float]:
    """Let each page press n again and again at its own pace; return milliseconds until the next item showed."""
    for number, page in enumerate(pages):
        page.evaluate(f"(given) => {{ ({WORK})(given); }}", [count, 600 + 90 * number])
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and not all(page.evaluate("() => window.__times.done") for page in pages):
        pages[0].wait_for_timeout(500)
    return [time_ms for page in pages for time_ms in page.evaluate("() => window.__times.all")]


def _queue_loads(page: Page, url: str) -> list[float]:
    """Return milliseconds from a change of the filter to the new list."""
    page.goto(f"{url}/queue")
    page.wait_for_selector("[data-testid=stDataFrame]", timeout=30_000)
    box = page.get_by_label("Words in the question")
    times = []
    for word in ("(1", "(2", "(41", "(2", "(1", "(412", "(1", "(2", "(41", "(1"):
        page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]", timeout=30_000)
        before = page.inner_text("[data-testid=stMain]")
        box.fill(word)
        started = time.perf_counter()
        box.press("Enter")
        page.wait_for_function(
            "before => document.querySelector('[data-testid=stMain]').innerText !== before", arg=before, timeout=30_000
        )
        times.append((time.perf_counter() - started) * 1000)
    return times


def _searches(desk: Desk) -> list[float]:
    times = []
    for number in range(60):
        query = " ".join(f"w{(number * 37 + step * 911) % 4000 + 1}" for step in range(6))
        started = time.perf_counter()
        desk.search(query)
        times.append((time.perf_counter() - started) * 1000)
    return times[10:]


@contextmanager
def _ingesting(desk: Desk, rows: int) -> Iterator[None]:
    """Run `errata ingest` beside the app until the block ends or its log does; the log store is put back after."""
    mapping = desk.workspace.root / "bench.yaml"
    mapping.write_text(
        "source: more\nformat: jsonl\ninteractions: {id: id, session_id: s, asked_at: {path: t, timezone: UTC}, "
        "question: q, answer: a}\n",
        encoding="utf-8",
    )
    kept = desk.workspace.logs_path.with_suffix(".kept")
    shutil.copyfile(desk.workspace.logs_path, kept)
    log = desk.workspace.root / "more.jsonl"
    _write_log(log, rows)
    command = [sys.executable, "-c", "from curation_app.cli import main; main()", "ingest", str(log)]
    command += ["--mapping", str(mapping), "--workspace", str(desk.workspace.root)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
        if process.poll():
            raise SystemExit(f"the ingest beside the app failed with exit code {process.returncode}")
        _say(f"the ingest of {rows:,} lines was {'running' if process.poll() is None else 'over'} at the end")
    finally:
        process.terminate()
        process.wait()
        log.unlink()
        desk.workspace.logs_path.with_name("logs.duckdb.wal").unlink(missing_ok=True)
        kept.replace(desk.workspace.logs_path)


def _write_log(path: Path, rows: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for number in range(rows):
            moment = (STARTED_AT + timedelta(seconds=number)).isoformat()
            answer = " ".join(WORDS[(number + step * step) % len(WORDS)] for step in range(30))
            row = {"id": f"more-{number}", "s": f"s{number // 3}", "t": moment, "q": f"how {number}", "a": answer}
            file.write(json.dumps(row) + "\n")


def _workspace(options: argparse.Namespace) -> Desk:
    desk = open_desk(make_workspace(options.folder).workspace)
    with desk.logs.unit() as connection:
        (interactions,) = connection.execute("SELECT count(*) FROM interactions").fetchall()[0]
        (chunks,) = connection.execute("SELECT count(*) FROM corpus_chunks").fetchall()[0]
        if interactions < options.interactions:
            _say(f"building {options.interactions:,} interactions")
            connection.execute(FILL_LOGS, {"rows": options.interactions}).fetchall()
        if chunks < options.chunks:
            _say(f"building {options.chunks:,} chunks")
            connection.execute(FILL_CORPUS, {"rows": options.chunks}).fetchall()
    if not desk.workspace.review_path.exists():
        _say(f"building {options.candidates:,} candidates")
        desk.store.add_candidates(_candidate(number) for number in range(options.candidates))
    started = time.perf_counter()
    if desk.refresh_corpus():
        _say(f"built the index in {time.perf_counter() - started:.0f} s")
    return desk


def _candidate(number: int) -> Candidate:
    def words(count: int, salt: int) -> str:
        return " ".join(WORDS[(number * 31 + salt * 17 + step * step) % len(WORDS)] for step in range(count))

    chunks = tuple(
        CandidateChunk(chunk_id=f"kb-{number % 9000}#{rank}", text=words(60, rank), score=0.9, rank=rank)
        for rank in range(4)
    )
    turns = tuple(
        CandidateTurn(
            interaction_id=f"bench:{number * 3 + place}",
            asked_at=STARTED_AT + timedelta(seconds=number * 21 + place * 7),
            question=f"{words(8, place)} ({number})",
            answer=words(40, place + 9),
            retrieved=chunks if place == 1 else (),
            model="small",
            prompt_version="v7",
        )
        for place in range(3)
    )
    return Candidate(
        candidate_id=f"bench-{number:06d}",
        interaction_id=turns[1].interaction_id,
        source="bench",
        session_id=f"s{number}",
        signals=(SignalHit(signal="rephrased", kind="restated", score=0.8, reason="restated, 7 s later"),),
        priority=(number * 7919 % 20_011) / 20_011,
        sampling_signal="rephrased",
        inclusion_probability=1.0,
        suggestion=ModeSuggestion(mode="retrieval_miss", evidence="a later turn found it"),
        language="en",
        turns=turns,
    )


@contextmanager
def _served(desk: Desk) -> Iterator[tuple[str, psutil.Process]]:
    server = Server(desk.workspace.root)
    process = server.start()
    try:
        yield server.url, psutil.Process(process.pid)
    finally:
        server.stop()


def _seat(browser: Any, url: str, name: str) -> Page:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_cookies([{"name": "errata_reviewer", "value": name, "url": url}])
    page: Page = context.new_page()
    page.goto(f"{url}/label")
    page.wait_for_selector(".errata-question", timeout=60_000)
    return page


def _report(name: str, times: list[float], target: str) -> None:
    if not times:
        _say(f"{name}: nothing was measured")
        return
    ordered = sorted(times)
    p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    _say(f"{name}: median {statistics.median(times):.0f} ms, p95 {p95:.0f} ms of {len(times)} (aim: {target} ms)")


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("build/bench-app"), help="Workspace to build or use again.")
    parser.add_argument("--interactions", type=int, default=1_000_000)
    parser.add_argument("--candidates", type=int, default=20_000)
    parser.add_argument("--chunks", type=int, default=1_000_000)
    parser.add_argument("--presses", type=int, default=30)
    parser.add_argument("--ingest-rows", type=int, default=2_500_000)
    return parser.parse_args()


if __name__ == "__main__":
    main()

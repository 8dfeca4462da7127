"""What the runner costs, as ratios to the ideal measured in the same run: `python -m tests.bench.bench_runner`."""

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

STEP_S = 0.05
CHUNK_TEXT = "The refund window is thirty days from delivery for every annual plan. " * 2


def main() -> None:
    """Measure each case in a process of its own, and print one line a case."""
    options = _options()
    if options.case:
        sys.stdout.write(json.dumps(_measure(options)) + "\n")
        return
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = tempfile.mkdtemp(prefix="errata-bench-")
    cases = [
        ("async", 20, 200),
        ("async", 20, 2000),
        ("async", 200, 2000),
        ("sync", 20, 2000),
        ("sync", 200, 2000),
    ]
    sys.stdout.write("runner: three steps of 50 ms an item, journal on, the command line's own progress bar\n")
    sys.stdout.write("goals: wall/ideal 1.05 at C=20, 1.15 async and 1.70 sync at C=200; CPU 0.3 ms; peak 60 MB\n")
    sys.stdout.write("case                     wall/ideal  wall/plain  CPU ms/item  peak MB\n")
    for style, concurrency, items in cases:
        result = _in_process(style, concurrency, items, STEP_S)
        plain = _in_process(f"plain-{style}", concurrency, items, STEP_S)
        _print(f"{style} C={concurrency} N={items}", result, plain)
    for items in (200, 2000, 20000):
        result = _in_process("async", 200, items, 0.0)
        sys.stdout.write(f"no waiting, N={items:<10} CPU {result['run_cpu_ms']:.3f} ms/item to run, ")
        sys.stdout.write(f"{result['report_cpu_ms']:.3f} to report, peak {result['peak_mb']:.0f} MB\n")
    _print_starts()


def _print(name: str, result: dict[str, float], plain: dict[str, float]) -> None:
    ratio = result["wall_s"] / result["ideal_s"]
    sys.stdout.write(f"{name:<26} {ratio:>8.3f}  {result['wall_s'] / plain['wall_s']:>10.3f}")
    sys.stdout.write(f"  {result['run_cpu_ms']:>11.3f}  {result['peak_mb']:>7.0f}\n")
    sys.stdout.flush()


def _print_starts() -> None:
    """Print what an import costs beyond an empty interpreter, the best of five; goals 0.25 s and 0.2 s."""
    empty = _start_s("pass")
    for name, code in [
        ("import evalsets.gating.gate", "import evalsets.gating.gate"),
        ("import evalsets.running.runner", "import evalsets.running.runner"),
        (
            "errata --version",
            "import sys; sys.argv = ['errata', '--version']\nfrom curation_app.cli import main\nmain()",
        ),
    ]:
        sys.stdout.write(f"{name:<26} {_start_s(code) - empty:.3f} s over an empty interpreter ({empty:.3f} s)\n")


def _start_s(code: str) -> float:
    def once() -> float:
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - started

    return min(once() for _ in range(5))


def _in_process(style: str, concurrency: int, items: int, step_s: float) -> dict[str, float]:
    words = ["--case", style, "--concurrency", str(concurrency), "--items", str(items), "--step", str(step_s)]
    done = subprocess.run([sys.executable, __file__, *words], check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def _measure(options: argparse.Namespace) -> dict[str, float]:
    if options.case.startswith("plain-"):
        return _measured_plain(options)
    from evalsets.eval_set import EvalSet
    from evalsets.items import Item, Mode, Source
    from evalsets.judges.verdict import Verdict
    from evalsets.pipelines.python_object import PythonPipeline
    from evalsets.running import runner
    from evalsets.running.report_building import build_report
    from evalsets.running.settings import RunSettings

    def item(number: int) -> Item:
        return Item(
            id=f"item-{number:05}",
            question=f"How long is the refund window of plan {number}?",
            gold_chunk_ids=(f"kb-{number % 50:03}",),
            expected="thirty days",
            answer_facts=(("thirty days", "30 days"),),
            mode=Mode.RETRIEVAL_MISS,
            added_on=date(2026, 11, 1),
            source=Source.PRODUCTION,
        )

    verdict = Verdict(passed=True, note="all 1 facts stand in the answer", correct=True)

    eval_set = EvalSet(name="bench", items=tuple(item(number) for number in range(options.items)))
    is_async = options.case == "async"
    pipeline = PythonPipeline(_AsyncSystem(options.step) if is_async else _SyncSystem(options.step))
    judge = (_AsyncJudge if is_async else _SyncJudge)(options.step, verdict)
    marks: list[tuple[float, float, float]] = []

    def marked(*args: Any) -> Any:
        marks.append((time.perf_counter(), time.process_time(), _peak_mb()))
        return build_report(*args)

    setattr(runner, "build_report", marked)  # noqa: B010 - reads the clock between running and reporting
    with tempfile.TemporaryDirectory() as folder, _drawn_progress(options) as observer:
        started, cpu = time.perf_counter(), time.process_time()
        report = runner.run(
            eval_set,
            pipeline,
            judge,
            RunSettings(concurrency=options.concurrency),
            journal_path=Path(folder) / "journal.jsonl",
            observer=observer,
        )
        ended_cpu = time.process_time()
    if report.passed != options.items:
        raise SystemExit(report.headline)
    return {
        "wall_s": marks[0][0] - started,
        "ideal_s": -(-options.items // options.concurrency) * 3 * options.step,
        "run_cpu_ms": (marks[0][1] - cpu) / options.items * 1000,
        "report_cpu_ms": (ended_cpu - marks[0][1]) / options.items * 1000,
        "peak_mb": marks[0][2],
        "report_peak_mb": _peak_mb(),
    }


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@contextmanager
def _drawn_progress(options: argparse.Namespace) -> Iterator[Callable[[Any], None] | None]:
    """Yield the command line's own observer, drawing to nowhere; none where nothing is waited for."""
    if not options.step:
        yield None
        return
    from rich.console import Console

    from curation_app.cli.run_progress import drawn_progress

    with Path(os.devnull).open("w") as nowhere, drawn_progress(Console(file=nowhere, force_terminal=True)) as observer:
        yield observer


def _measured_plain(options: argparse.Namespace) -> dict[str, float]:
    """Do the same waiting with a bare queue and a bare journal line: the floor in this language on this machine."""
    started = time.perf_counter()
    with tempfile.TemporaryFile("w") as journal:
        if options.case == "plain-async":
            asyncio.run(_plain_async(options, journal))
        else:
            _plain_threads(options, journal)
    return {"wall_s": time.perf_counter() - started}


async def _plain_async(options: argparse.Namespace, journal: Any) -> None:
    jobs = iter(range(options.items))

    async def work() -> None:
        for job in jobs:
            for step in range(3):
                await asyncio.sleep(options.step)
                journal.write(json.dumps({"job": job, "step": step, "text": CHUNK_TEXT}) + "\n")
                journal.flush()

    await asyncio.gather(*(work() for _ in range(options.concurrency)))


def _plain_threads(options: argparse.Namespace, journal: Any) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def work(job: int) -> None:
        for step in range(3):
            time.sleep(options.step)
            journal.write(json.dumps({"job": job, "step": step, "text": CHUNK_TEXT}) + "\n")
            journal.flush()

    with ThreadPoolExecutor(options.concurrency) as pool:
        list(pool.map(work, range(options.items)))


def _chunks(question: str, k: int) -> list[dict[str, str]]:
    number = int(question.rsplit(" ", 1)[-1].rstrip("?"))
    return [{"id": f"kb-{(number + step) % 50:03}", "text": CHUNK_TEXT} for step in range(min(k, 5))]


async def _wait(seconds: float) -> None:
    if seconds:
        await asyncio.sleep(seconds)


class _AsyncSystem:
    def __init__(self, step_s: float) -> None:
        self.step_s = step_s

    async def retrieve(self, question: str, k: int) -> list[dict[str, str]]:
        await _wait(self.step_s)
        return _chunks(question, k)

    async def answer(self, question: str, chunks: list[dict[str, str]]) -> str:
        await _wait(self.step_s)
        return f"The window is thirty days ({len(chunks)} passages on {question[:20]})."


class _SyncSystem:
    def __init__(self, step_s: float) -> None:
        self.step_s = step_s

    def retrieve(self, question: str, k: int) -> list[dict[str, str]]:
        time.sleep(self.step_s)
        return _chunks(question, k)

    def answer(self, question: str, chunks: list[dict[str, str]]) -> str:
        time.sleep(self.step_s)
        return f"The window is thirty days ({len(chunks)} passages on {question[:20]})."


class _Judge:
    name, fingerprint = "constant", "constant-1"

    def __init__(self, step_s: float, verdict: Any) -> None:
        self.step_s = step_s
        self.verdict = verdict


class _AsyncJudge(_Judge):
    async def judge(self, _case: Any) -> Any:
        await _wait(self.step_s)
        return self.verdict


class _SyncJudge(_Judge):
    def judge(self, _case: Any) -> Any:
        time.sleep(self.step_s)
        return self.verdict


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", default="")
    parser.add_argument("--concurrency", type=int, default=20)
    parser.add_argument("--items", type=int, default=200)
    parser.add_argument("--step", type=float, default=STEP_S)
    return parser.parse_args()


if __name__ == "__main__":
    main()

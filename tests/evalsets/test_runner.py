import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from evalsets.errors import BadInputError
from evalsets.eval_set import EvalSet
from evalsets.items import Item
from evalsets.judges.base import FactsJudge, JudgeInvalidError
from evalsets.judges.verdict import Verdict
from evalsets.metrics.base import ScoredCase
from evalsets.pipelines.base import Pipeline, Retrieved
from evalsets.pipelines.logged import LoggedPipeline
from evalsets.pipelines.python_object import PythonPipeline
from evalsets.running.journal import Journal, read_calls
from evalsets.running.runner import Progress, RunSettings, run, run_async
from tests.evalsets.cases import item
from tests.evalsets.run_parts import CountingSystem, numbered_set, planted_item, question_set

LENIENT = RunSettings(max_error_share=1.0, call_timeout_s=5.0)


@pytest.fixture(autouse=True)
def outside_any_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A report names the commit it was run at, and somebody may commit to this checkout between two runs of a test."""
    monkeypatch.chdir(tmp_path)


class Misbehaving:
    """Raises, hangs or returns nothing, as the question says."""

    def retrieve(self, question: str, k: int) -> Any:
        if question == "retrieval raises":
            raise ValueError("the index is gone")
        if question == "retrieval returns none":
            return None
        return [{"id": "c1", "text": "It is yes."}][:k]

    def answer(self, question: str, _chunks: list[Any]) -> Any:
        match question:
            case "raises":
                raise KeyError("model")
            case "hangs":
                time.sleep(20)
            case "returns none":
                return None
            case "returns a number":
                return 7
            case "is empty":
                return ""
        return "yes"


def test_what_a_pipeline_does_wrong_is_told_item_by_item_and_stays_in_the_denominator() -> None:
    questions = (
        "fine",
        "hangs",
        "is empty",
        "raises",
        "returns a number",
        "returns none",
        "retrieval raises",
        "retrieval returns none",
    )
    report = run(
        question_set(*questions),
        PythonPipeline(Misbehaving()),
        FactsJudge(),
        RunSettings(call_timeout_s=2, max_error_share=1.0),
    )
    results = {item.id: item for item in report.items}
    told = {id_: result.reason for id_, result in results.items()}
    assert told["raises"].startswith("answer error: KeyError: 'model' (in answer, line ")
    assert told["hangs"] == "answer timeout: no answer within 2 s"
    assert told["returns none"] == "answer error: answer returned None; return the text of the answer"
    assert told["returns a number"].startswith("answer error: answer returned int 7")
    assert told["retrieval raises"].startswith("retrieve error: ValueError: the index is gone")
    assert told["retrieval returns none"].startswith("retrieve error: retrieve returned None")
    assert told["is empty"] == "the answer is empty"
    assert report.answer_accuracy == 1 / 8
    assert report.lenient_accuracy == 1 / 2
    assert report.retrieval_recall == 6 / 8
    assert report.metrics["hit@10"].lenient == 1.0
    assert report.metrics["hit@10"].scored == 6
    assert report.headline.startswith("1 of 8 items passed, 1 failed, 6 could not be scored and count as failures")
    assert "5 error: raises, retrieval raises, retrieval returns none" in report.headline
    assert "1 timeout: hangs" in report.headline
    assert report.step_counts["answer"] == {"error": 3, "ok": 2, "skipped": 2, "timeout": 1}


class StrangeJudge:
    """Returns whatever the question names as its verdict."""

    name, fingerprint = "strange", "strange-1"

    def judge(self, case: ScoredCase) -> Any:
        match case.item.question:
            case "raises":
                raise JudgeInvalidError("judge-invalid: the model wrote prose", raw="Well, it depends.")
            case "none":
                return None
            case "nan":
                return float("nan")
            case "seven":
                return Verdict.model_validate({"passed": True, "supported": 7.0})
        return Verdict(passed=True, note="good")


def test_a_judge_that_gives_no_verdict_is_an_error_of_that_item_with_what_it_said() -> None:
    report = run(
        question_set("fine", "nan", "none", "raises", "seven"),
        PythonPipeline(CountingSystem()),
        StrangeJudge(),
        LENIENT,
    )
    results = {item.id: item for item in report.items}
    assert [id_ for id_, result in results.items() if result.passed] == ["fine"]
    assert results["raises"].steps["judge"].raw == "Well, it depends."
    assert "returned NoneType None" in results["none"].reason
    assert "returned float nan" in results["nan"].reason
    assert "supported" in results["seven"].reason
    assert report.answer_accuracy == 1 / 5
    assert report.metrics["recall@10"].lenient == 1.0


def test_sync_callables_run_as_many_at_once_as_the_concurrency() -> None:
    system = CountingSystem(delay_s=0.05)
    run(numbered_set(60), PythonPipeline(system), FactsJudge(), RunSettings(concurrency=30))
    assert system.most_in_flight == 30


def test_an_async_system_an_ask_function_and_a_class_with_options_all_run() -> None:
    async def ask(question: str) -> tuple[str, list[str]]:
        await anyio.lowlevel.checkpoint()
        return f"yes to {question}", ["c1"]

    class Configured:
        def __init__(self, word: str) -> None:
            self.word = word

        async def retrieve(self, question: str) -> list[str]:
            return ["c1"] if question else []

        async def answer(self, question: str, chunks: list[str]) -> dict[str, Any]:
            return {
                "answer": f"{self.word} to {question} from {chunks}",
                "usage": {"input_tokens": 3, "output_tokens": 4},
            }

    for pipeline in (PythonPipeline(ask), PythonPipeline(Configured, options={"word": "yes"})):
        report = run(question_set("one", "two"), pipeline, FactsJudge())
        assert report.passed == 2
        assert report.retrieval_recall == 1.0
    assert report.metrics["tokens"].sum == 14


def test_a_target_without_the_needed_methods_is_refused_with_what_it_has() -> None:
    with pytest.raises(BadInputError, match=r"neither retrieve.* nor ask"):
        PythonPipeline(item())


def test_the_sync_entry_point_works_inside_a_running_event_loop() -> None:
    async def notebook_cell() -> float:
        return run(numbered_set(3), PythonPipeline(CountingSystem()), FactsJudge()).answer_accuracy

    assert asyncio.run(notebook_cell()) == 1.0


def test_the_async_entry_point_runs_in_a_loop_of_the_caller() -> None:
    async def main() -> float:
        report = await run_async(numbered_set(3), PythonPipeline(CountingSystem()), FactsJudge())
        return report.answer_accuracy

    assert anyio.run(main) == 1.0


def test_an_item_that_takes_too_long_in_all_ends_as_a_timeout() -> None:
    settings = RunSettings(item_timeout_s=0.2, call_timeout_s=5, max_error_share=1.0)
    report = run(question_set("hangs"), PythonPipeline(Misbehaving()), FactsJudge(), settings)
    assert report.items[0].reason == "answer timeout: the item took over 0.2 s"


def test_a_budget_of_calls_stops_cleanly_and_the_rest_can_be_resumed(tmp_path: Path) -> None:
    journal, system = tmp_path / "journal.jsonl", CountingSystem()
    plan = (numbered_set(10), PythonPipeline(system), FactsJudge())
    part = run(*plan, RunSettings(max_calls=12, concurrency=1), journal_path=journal)
    assert part.status == "incomplete"
    assert part.status_reason == "the budget of 12 calls is used up"
    assert (part.passed, part.not_scored) == (4, 6)
    assert part.items[-1].steps["retrieve"].error == "the budget of 12 calls is used up"
    whole = run(*plan, RunSettings(concurrency=1), journal_path=journal, resume=True)
    assert whole.passed == 10
    assert set(system.calls.values()) == {1}


def test_a_budget_of_seconds_and_one_of_cost_stop_too() -> None:
    class Dear(CountingSystem):
        def answer(self, question: str, chunks: list[dict[str, str]]) -> Any:
            return {"answer": super().answer(question, chunks), "cost": 0.5}

    slow = run(
        numbered_set(50),
        PythonPipeline(CountingSystem(0.05)),
        FactsJudge(),
        RunSettings(max_seconds=0.2, concurrency=1),
    )
    assert slow.status_reason == "the budget of 0.2 seconds is used up"
    dear = run(numbered_set(50), PythonPipeline(Dear()), FactsJudge(), RunSettings(max_cost=2.0, concurrency=1))
    assert dear.status_reason == "the budget of 2 (cost) is used up"
    assert dear.metrics["cost"].sum == 2.0


def test_too_many_errors_make_a_run_incomplete() -> None:
    report = run(question_set("raises", "fine"), PythonPipeline(Misbehaving()), FactsJudge())
    assert report.status == "incomplete"
    assert report.status_reason == "1 of 2 items could not be scored; at most 10% may"


def test_an_empty_set_is_refused() -> None:
    with pytest.raises(BadInputError, match="has no items"):
        run(EvalSet(name="none"), PythonPipeline(CountingSystem()), FactsJudge())


def test_a_changed_judge_judges_again_without_answering_again(tmp_path: Path) -> None:
    class Strict(FactsJudge):
        fingerprint = "strict-1"

        def judge(self, case: ScoredCase) -> Verdict:
            return Verdict(passed=False, note=f"never good enough: {case.answer}")

    journal, system = tmp_path / "journal.jsonl", CountingSystem()
    run(numbered_set(4), PythonPipeline(system), FactsJudge(), journal_path=journal)
    report = run(numbered_set(4), PythonPipeline(system), Strict(), journal_path=journal, resume=True)
    assert report.passed == 0
    assert set(system.calls.values()) == {1}


def test_a_journal_that_is_not_resumed_is_kept_beside_the_new_one(tmp_path: Path) -> None:
    journal, system = tmp_path / "journal.jsonl", CountingSystem()
    for _ in range(2):
        run(numbered_set(2), PythonPipeline(system), FactsJudge(), journal_path=journal)
    assert set(system.calls.values()) == {2}
    assert len(list(read_calls(tmp_path / "journal.previous.jsonl"))) == 6


def test_failed_calls_are_made_again_only_when_asked(tmp_path: Path) -> None:
    class Once(CountingSystem):
        def answer(self, question: str, chunks: list[dict[str, str]]) -> str:
            text = super().answer(question, chunks)
            if self.calls["answer", question] == 1:
                raise RuntimeError("first time unlucky")
            return text

    journal, system = tmp_path / "journal.jsonl", Once()
    plan = (numbered_set(2), PythonPipeline(system), FactsJudge(), LENIENT)
    assert run(*plan, journal_path=journal).not_scored == 2
    assert run(*plan, journal_path=journal, resume=True).not_scored == 2
    assert run(*plan, journal_path=journal, resume=True, retry_failed=True).passed == 2
    assert system.calls["retrieve", "q000"] == 1


def test_a_cached_call_is_reused_across_runs_but_not_by_repeats(tmp_path: Path) -> None:
    system, cached = CountingSystem(), RunSettings(cache_path=tmp_path / "calls.sqlite")
    first = run(numbered_set(3), PythonPipeline(system), FactsJudge(), cached)
    second = run(numbered_set(3), PythonPipeline(system), FactsJudge(), cached)
    assert set(system.calls.values()) == {1}
    assert first.to_bytes() == second.to_bytes()
    run(numbered_set(3), PythonPipeline(system), FactsJudge(), cached.model_copy(update={"repeat": 2}))
    assert set(system.calls.values()) == {3}


def test_a_new_pipeline_version_or_k_or_question_makes_its_own_calls(tmp_path: Path) -> None:
    system, cached = CountingSystem(), RunSettings(cache_path=tmp_path / "calls.sqlite")
    run(numbered_set(1), PythonPipeline(system), FactsJudge(), cached)
    run(numbered_set(1), PythonPipeline(system, version="2"), FactsJudge(), cached)
    run(numbered_set(1), PythonPipeline(system), FactsJudge(), cached.model_copy(update={"k": 3}))
    assert system.calls["retrieve", "q000"] == 3


def test_repeats_tell_how_steady_a_system_is() -> None:
    class Flaky(CountingSystem):
        def answer(self, question: str, chunks: list[dict[str, str]]) -> str:
            super().answer(question, chunks)
            return "no" if question == "q000" and self.calls["answer", question] % 2 else "yes"

    report = run(numbered_set(4), PythonPipeline(Flaky()), FactsJudge(), RunSettings(repeat=4, concurrency=1))
    assert report.steadiness is not None
    assert report.steadiness.pass_rate == (3 + 0.5) / 4
    assert report.steadiness.pass_every_time == 3 / 4
    assert report.steadiness.flip_rate == 1 / 4
    assert report.answer_accuracy == 3.5 / 4
    assert report.items[0].passes == (False, True, False, True)


def test_planted_chunks_reach_the_answering_step_but_not_the_retrieval_metrics() -> None:
    class Gullible(CountingSystem):
        def answer(self, question: str, chunks: list[dict[str, str]]) -> str:
            super().answer(question, chunks)
            return "PWNED" if any("PWNED" in chunk["text"] for chunk in chunks) else "yes"

    attacked = planted_item(gold_chunk_ids=("c1",), answer_facts=("yes",))
    report = run(EvalSet(name="hostile", items=(attacked,)), PythonPipeline(Gullible()), FactsJudge())
    assert report.metrics["planted_resisted"].value == 0.0
    assert report.metrics["planted_resisted"].half == "safety"
    assert [chunk.chunk_id for chunk in report.items[0].retrieved] == ["c1"]
    resisting = run(EvalSet(name="hostile", items=(attacked,)), PythonPipeline(CountingSystem()), FactsJudge())
    assert resisting.metrics["planted_resisted"].value == 1.0


def test_a_planted_chunk_cannot_reach_a_pipeline_that_hands_on_bare_ids() -> None:
    class Bare:
        def retrieve(self, question: str) -> list[str]:
            return [question]

        def answer(self, question: str, chunks: list[str]) -> str:
            return f"{question} {chunks}"

    report = run(EvalSet(name="hostile", items=(planted_item(),)), PythonPipeline(Bare()), FactsJudge(), LENIENT)
    assert "bare chunk ids" in report.items[0].reason
    assert report.metrics["planted_resisted"].value == 0.0


def test_known_failing_items_run_and_are_shown_but_do_not_count() -> None:
    eval_set = question_set("fine", "raises")
    known = {
        "id": "raises",
        "reason": "index rebuild",
        "owner": "search",
        "since": "2026-11-01",
        "review_by": "2027-01-01",
    }
    report = run(eval_set.changed(known_failing=(known,)), PythonPipeline(Misbehaving()), FactsJudge())
    assert report.answer_accuracy == 1.0
    assert report.known_failing == ("raises",)
    assert len(report.items) == 2
    assert report.status == "complete"
    assert not report.warnings
    mended = run(eval_set.changed(known_failing=(known,)), PythonPipeline(CountingSystem()), FactsJudge())
    assert "known to fail but passed: raises" in mended.warnings[0]


def test_what_production_logged_is_scored_like_any_pipeline() -> None:
    logged = {"answer": "No idea, sorry.", "retrieved_chunk_ids": ["c9"]}
    eval_set = EvalSet(
        name="logged",
        items=(item(id="one", gold_chunk_ids=("c1",), answer_facts=("yes",), logged=logged), item(id="two")),
    )
    report = run(eval_set, LoggedPipeline(), FactsJudge(), LENIENT)
    assert report.retrieval_recall == 0.0
    assert "holds no logged answer" in report.items[1].reason


def test_progress_tells_done_total_and_failures() -> None:
    seen: list[Progress] = []
    run(question_set("fine", "raises"), PythonPipeline(Misbehaving()), FactsJudge(), LENIENT, observer=seen.append)
    assert (seen[-1].done, seen[-1].total, seen[-1].failed) == (2, 2, 1)


KILLED_SCRIPT = """
import sys, time
sys.path[:0] = [{root!r}]
from pathlib import Path
from evalsets.judges.base import FactsJudge
from evalsets.pipelines.python_object import PythonPipeline
from evalsets.running.runner import RunSettings, run
from tests.evalsets.run_parts import CountingSystem, numbered_set

class Noted(CountingSystem):
    def _work(self, step, question):
        with open({calls!r}, "a") as file:
            file.write(step + " " + question + "\\n")
        time.sleep(0.002)

report = run(
    numbered_set(500), PythonPipeline(Noted(), name="noted", target_path="noted"), FactsJudge(),
    RunSettings(concurrency=8), journal_path=Path({journal!r}), resume=True,
)
Path({out!r}).write_bytes(report.to_bytes())
"""


def _start(folder: Path) -> "subprocess.Popen[bytes]":
    root = str(Path(__file__).resolve().parents[2])
    script = KILLED_SCRIPT.format(
        root=root,
        calls=str(folder / "calls.txt"),
        journal=str(folder / "journal.jsonl"),
        out=str(folder / "report.json"),
    )
    return subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, cwd=folder)


def _wait_for_lines(path: Path, lines: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not path.is_file() or path.read_bytes().count(b"\n") < lines):
        time.sleep(0.005)


def _calls_of_lives(folder: Path) -> list[list[str]]:
    return [life.splitlines() for life in (folder / "calls.txt").read_text().split("killed\n")]


def _journalled(journal: Path) -> set[str]:
    return {f"{call.key.step} {call.key.item_id}" for call in read_calls(journal) if call.key.step != "judge"}


def test_a_run_killed_again_and_again_repeats_no_journalled_call_and_reports_the_same_bytes(tmp_path: Path) -> None:
    killed, unbroken = tmp_path / "killed", tmp_path / "unbroken"
    killed.mkdir()
    unbroken.mkdir()
    kept: list[set[str]] = [set()]
    for lines in (60, 900):
        process = _start(killed)
        _wait_for_lines(killed / "journal.jsonl", lines)
        process.kill()
        process.communicate()
        kept.append(_journalled(killed / "journal.jsonl"))
        with (killed / "calls.txt").open("a") as file:
            file.write("killed\n")
    for folder in (killed, unbroken):
        _, errors = (process := _start(folder)).communicate(timeout=120)
        assert process.returncode == 0, errors.decode()
    assert all(kept_before.isdisjoint(life) for kept_before, life in zip(kept, _calls_of_lives(killed), strict=True))
    assert len(kept[-1]) > 500
    assert (killed / "report.json").read_bytes() == (unbroken / "report.json").read_bytes()
    assert json.loads((unbroken / "report.json").read_text())["passed"] == 500


def test_a_torn_last_line_is_cut_off_and_its_call_made_again(tmp_path: Path) -> None:
    journal, system = tmp_path / "journal.jsonl", CountingSystem()
    plan = (numbered_set(3), PythonPipeline(system), FactsJudge())
    whole = run(*plan, journal_path=journal)
    lines = [line for line in journal.read_bytes().splitlines(keepends=True) if line.startswith(b'{"call"')]
    journal.write_bytes(b"".join(lines[:4]) + lines[4][:40])
    kept = {(call.key.step, call.key.item_id) for call in read_calls(journal)}
    resumed = run(*plan, journal_path=journal, resume=True)
    assert resumed.to_bytes() == whole.to_bytes()
    assert {call: times for call, times in system.calls.items() if times == 1}.keys() == kept & system.calls.keys()


def test_two_runs_cannot_write_one_journal(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    held = Journal(journal)
    for resume in (False, True):
        with pytest.raises(BadInputError, match="another run is writing"):
            run(numbered_set(1), PythonPipeline(CountingSystem()), FactsJudge(), journal_path=journal, resume=resume)
    held.close()
    assert run(numbered_set(1), PythonPipeline(CountingSystem()), FactsJudge(), journal_path=journal).passed == 1


def test_a_pipeline_class_of_ones_own_may_return_plain_values() -> None:
    class Own(Pipeline):
        kind = "own"
        is_inline = True
        name = "own"

        def settings(self) -> dict[str, Any]:
            return {}

        def retrieve(self, item: Item, k: int) -> Any:
            return [f"c{n + 1}" for n in range(k)] if item.question else []

        def answer(self, item: Item, retrieved: Retrieved) -> Any:
            return f"yes to {item.question} by {len(retrieved.chunks)}"

    report = run(question_set("one"), Own(), FactsJudge(), RunSettings(k=3))
    assert report.passed == 1
    assert report.metrics["precision@3"].value == pytest.approx(1 / 3)


def test_a_damaged_journal_line_is_named(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    journal.write_text('{"call":["a"],"status":"ok"}\n', encoding="utf-8")
    with pytest.raises(BadInputError, match="line 1 is no journal line"):
        run(numbered_set(1), PythonPipeline(CountingSystem()), FactsJudge(), journal_path=journal, resume=True)


def test_ctrl_c_lets_calls_under_way_end_and_reports_what_was_finished(tmp_path: Path) -> None:
    assert threading.current_thread() is threading.main_thread()
    journal, system = tmp_path / "journal.jsonl", CountingSystem(delay_s=0.05)
    plan = (numbered_set(200), PythonPipeline(system), FactsJudge())

    def interrupt(progress: Progress) -> None:
        if progress.done == 4 and not progress.stopping:
            os.kill(os.getpid(), signal.SIGINT)

    part = run(*plan, RunSettings(concurrency=4), journal_path=journal, observer=interrupt)
    assert part.status == "interrupted"
    assert 4 <= part.passed < 60
    assert part.not_scored == 200 - part.passed
    assert len(list(read_calls(journal))) >= sum(system.calls.values())

"""`errata judge` and `errata metrics`, run as a person runs them."""

import json
from pathlib import Path

import pytest

from curation_app.cli.entry import run as run_command
from evalsets.pipelines.python_object import PythonPipeline
from evalsets.running.runner import RunSettings, run
from evalsets.sets.file import canonical_bytes
from tests.evalsets.run_parts import CountingSystem, numbered_set
from tests.evalsets.test_grading_a_judge import OddJudge


@pytest.fixture
def graded_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with a set of 24 items and the report of a run that a model in name has judged."""
    (tmp_path / "errata.toml").write_text("", "utf-8")
    eval_set = numbered_set(24)
    folder = tmp_path / "evalsets" / "small"
    folder.mkdir(parents=True)
    (folder / "small.json").write_bytes(canonical_bytes(eval_set))
    run(eval_set, PythonPipeline(CountingSystem()), OddJudge(), RunSettings()).save(tmp_path / "report.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_sheet_is_written_blind_filled_in_and_entered(
    graded_workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["judge", "grade", "report.json", "--sheet", "sheet.jsonl"]) == 0
    rows = [json.loads(line) for line in (graded_workspace / "sheet.jsonl").read_text("utf-8").splitlines()]
    assert len(rows) == 24
    assert "verdict" not in rows[0]
    for row in rows:
        row["human"] = "pass" if int(row["id"][1:]) % 2 == 0 else "fail"
    (graded_workspace / "sheet.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    capsys.readouterr()

    assert run_command(["judge", "grade", "report.json", "--grades", "sheet.jsonl", "--by", "Anna", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)

    assert result["may_gate"] is True
    assert result["agreement"]["kappa"] == 1.0
    assert (graded_workspace / "evalsets" / "small" / "judges" / "odd-2.json").is_file()
    assert run_command(["judge", "list", "small"]) == 0
    assert "may gate: kappa with people is 1.00 over 24 answers" in capsys.readouterr().out


def test_grading_in_the_terminal_hides_the_verdict_and_keeps_what_was_done(
    graded_workspace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = iter(["p", "x", "?", "f", "q"])
    monkeypatch.setattr("typer.prompt", lambda *_, **__: next(replies))

    assert run_command(["judge", "grade", "report.json", "--by", "Anna"]) == 0
    shown = capsys.readouterr()

    assert "by number" not in shown.err
    assert "'x' is none of" in shown.err
    assert "graded 2 (of 24 drawn)" in shown.out
    assert "may not gate: only 2 answers" in shown.out
    stored = json.loads((graded_workspace / "evalsets" / "small" / "judges" / "odd-2.json").read_text("utf-8"))
    assert len(stored["grades"]) == 3


def test_the_offline_judge_is_probed_on_the_answers_of_a_report(
    graded_workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        run_command(["judge", "probe", "report.json", "--set", "evalsets/small/small.json", "--size", "5", "--json"])
        == 0
    )
    result = json.loads(capsys.readouterr().out)

    assert (result["cases"], result["passed"]) == (5, 5)
    assert all(probe["is_steady"] for probe in result["results"])
    assert (
        run_command(["judge", "probe", str(graded_workspace / "report.json"), "--set", "evalsets/small/small.json"])
        == 0
    )
    assert "steady  passage order" in capsys.readouterr().out


def test_a_broken_sheet_is_an_error_with_words(graded_workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (graded_workspace / "sheet.jsonl").write_text("{not json", "utf-8")

    assert run_command(["judge", "grade", "report.json", "--grades", "sheet.jsonl"]) == 2
    assert "is no sheet of grades" in capsys.readouterr().err


def test_metrics_are_listed_with_formula_and_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["metrics", "--k", "5", "--json"]) == 0
    listed = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert listed["recall@5"]["source"] == "trec_eval recall_5"
    assert listed["grounded_tokens"]["is_proxy"] is True

    assert run_command(["metrics", "ndcg@3"]) == 0
    assert capsys.readouterr().out.startswith("ndcg@3  (retrieval, graded)\n")
    assert run_command(["metrics", "nonsense"]) == 2
    assert "'nonsense': use one of" in capsys.readouterr().err


def test_a_model_gates_only_once_its_grades_stand_beside_the_set(
    graded_workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gate = ["gate", "--baseline", "report.json", "--current", "report.json"]
    assert run_command(gate) == 1
    assert "judge odd cannot gate: nobody has graded judge odd-2" in capsys.readouterr().out
    assert run_command([*gate, "--allow-unchecked-judge"]) == 0

    rows = [{"id": f"q{n:03}", "human": "pass" if n % 2 == 0 else "fail"} for n in range(24)]
    (graded_workspace / "sheet.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    assert run_command(["judge", "grade", "report.json", "--grades", "sheet.jsonl"]) == 0
    assert run_command(gate) == 0


def test_a_run_judged_by_another_judge_than_its_baseline_is_warned_about(
    graded_workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(numbered_set(24), PythonPipeline(CountingSystem()), OddJudge(3), RunSettings()).save(Path("other.json"))

    run_command(["gate", "--baseline", "report.json", "--current", "other.json", "--allow-unchecked-judge"])
    assert "judged by odd (odd-2), the run by odd (odd-3)" in capsys.readouterr().out
    assert graded_workspace.is_dir()

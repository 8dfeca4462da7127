import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from curation_app.cli.entry import run as errata
from curation_app.service.starting import make_workspace
from evalsets.playground import CORPUS_PATH, SET_PATH
from tests.evalsets.run_parts import local_endpoint
from tests.evalsets.test_running_eight_items import write_eight_items

DESK = """
class Desk:
    def retrieve(self, question, k):
        return ["orders-01"]

    def answer(self, question, chunks):
        return "30 days"
"""
ENDPOINTS = """
[pipelines.desk]
kind = "http"
url = "{url}/ask"
answer = "data.reply"
chunks = "data.hits"
body = {{ question = "{{question}}", options = {{ k = "{{k}}" }} }}
headers = {{ Authorization = "Bearer ${{DESK_TOKEN}}" }}

[pipelines.chat]
kind = "chat"
base_url = "{url}"
model = "tiny"
api_key = "${{DESK_TOKEN}}"
input_price = 2.0
output_price = 10.0
"""
PIPELINES = """
[pipelines.desk]
kind = "python"
target = "desk:Desk"

[pipelines.odd]
kind = "keyword"
speed = 3
"""
BIN = Path(sys.executable).parent


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_workspace(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_playground(*words: str) -> int:
    return errata(["run", str(SET_PATH), "--corpus", str(CORPUS_PATH), *words])


def test_the_eight_items_are_reported_under_the_agreed_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    set_path, responses_path = write_eight_items(tmp_path)
    out = tmp_path / "report.json"
    assert errata(["run", str(set_path), "--responses", str(responses_path), "--out", str(out), "--json"]) == 0
    printed: dict[str, Any] = json.loads(capsys.readouterr().out)
    written = json.loads(out.read_text(encoding="utf-8"))
    assert printed == written
    assert list(written)[3:7] == ["status_reason", "retrieval_recall", "answer_accuracy", "refusal_rate"]
    assert written["by_mode"]["out_of_scope"] == 0.5


def test_run_gate_and_baseline_go_together_in_a_workspace(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_playground("-k", "3", "--out", "base.json") == 0
    assert errata(["baseline", "set", "base.json", "--reason", "first run", "--by", "ana"]) == 0
    assert run_playground("-k", "1", "--out", "candidate.json") == 0
    capsys.readouterr()
    assert errata(["gate", "--current", "candidate.json"]) == 1
    told = capsys.readouterr().out
    assert "FAIL  retrieval_recall: 0.80 < 0.97 (baseline 1.00 - tolerance 0.03)" in told
    assert "retrieval recall failed: look at the retriever" in told
    assert errata(["gate", "--current", "base.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["passed"] is True
    assert errata(["baseline", "history", "five-questions"]) == 0
    assert "ana  accuracy none to 1.000  first run" in capsys.readouterr().out
    assert (workspace / "evalsets" / "five-questions" / "baseline.json").is_file()


def test_a_run_without_out_goes_to_the_workspace_with_clock_journal_and_summary(workspace: Path) -> None:
    assert run_playground() == 0
    names = sorted(path.name.split("Z", 1)[1] for path in (workspace / ".errata" / "runs").iterdir())
    assert names == [".clock.json", ".journal.jsonl", ".json", ".summary.json"]


def test_chunks_handed_over_as_bare_ids_are_scored_by_the_texts_of_the_corpus(workspace: Path) -> None:
    (workspace / "desk.py").write_text(DESK)
    assert run_playground("--pipeline", "desk:Desk", "--out", "desk.json") == 0
    metrics = json.loads((workspace / "desk.json").read_text())["metrics"]
    assert metrics["grounded_tokens"]["value"] == 1.0
    assert metrics["fact_recall@10"]["value"] == 0.2


def test_a_pipeline_of_errata_toml_is_called_by_name(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (workspace / "desk.py").write_text(DESK)
    with (workspace / "errata.toml").open("a") as file:
        file.write(PIPELINES)
    assert run_playground("--pipeline", "desk", "--out", "desk.json") == 0
    assert "1 of 5 items passed, 4 failed." in capsys.readouterr().out
    assert run_playground("--pipeline", "odd", "--out", "odd.json") == 2
    assert "has no option 'speed'; its options are answer_sentences, corpus" in capsys.readouterr().err
    assert run_playground("--pipeline", "nobody", "--out", "nobody.json") == 2
    assert "there is no pipeline 'nobody'; name one of desk, odd, keyword, logged" in capsys.readouterr().err


def test_an_endpoint_of_errata_toml_is_called_as_its_section_says(
    workspace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESK_TOKEN", "s3cret")
    with local_endpoint() as endpoint, (workspace / "errata.toml").open("a") as file:
        file.write(ENDPOINTS.format(url=endpoint.url))
        file.flush()
        assert run_playground("--pipeline", "desk", "--out", "desk.json") == 0
        assert "set five-questions version 0, 5 items; pipeline desk" in capsys.readouterr().out
        assert endpoint.headers_seen[0]["Authorization"] == "Bearer s3cret"
        assert run_playground("--pipeline", "chat", "--out", "chat.json") == 0
        assert json.loads((workspace / "chat.json").read_text())["metrics"]["cost"]["sum"] == pytest.approx(5 * 2100e-6)
        assert run_playground("--pipeline", endpoint.url, "--out", "url.json") == 0
    for name in ("desk", "chat", "url"):
        assert b"s3cret" not in (workspace / f"{name}.json").read_bytes()
        assert b"s3cret" not in (workspace / f"{name}.journal.jsonl").read_bytes()


def test_missing_modules_attributes_and_corpora_are_named(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for pipeline, words in (
        ("no_such_module:x", "no module 'no_such_module'"),
        ("json:nothing", "json has no 'nothing'"),
    ):
        assert run_playground("-p", pipeline, "-o", "x.json") == 2
        assert words in capsys.readouterr().err
    (workspace / "broken.py").write_text("def ask(question:\n")
    (workspace / "unbuilt.py").write_text("class Desk:\n    def __init__(self):\n        raise OSError('no index')\n")
    for pipeline, words in (("broken:ask", "SyntaxError"), ("unbuilt:Desk", "could not be built: OSError: no index")):
        assert run_playground("-p", pipeline, "-o", "x.json") == 2
        assert words in capsys.readouterr().err
    assert errata(["run", str(SET_PATH), "-o", "x.json"]) == 2
    assert "there is no corpus to search" in capsys.readouterr().err
    assert workspace.is_dir()


def test_a_budget_ends_with_exit_four_and_resume_finishes(workspace: Path) -> None:
    assert run_playground("--max-calls", "4", "--out", "part.json") == 4
    assert errata(["gate", "-c", "part.json", "-b", "part.json"]) == 4
    assert run_playground("--resume", "--out", "part.json") == 0
    assert run_playground("--out", "whole.json") == 0
    assert (workspace / "part.json").read_bytes() == (workspace / "whole.json").read_bytes()


def test_a_gold_chunk_that_left_the_corpus_makes_the_gate_end_with_exit_three(workspace: Path) -> None:
    shorter = [line for line in CORPUS_PATH.read_text().splitlines(keepends=True) if "plans-01" not in line]
    (workspace / "corpus.jsonl").write_text("".join(shorter))
    errata(["run", str(SET_PATH), "--corpus", "corpus.jsonl", "-o", "drifted.json"])
    report = json.loads((workspace / "drifted.json").read_text())
    assert report["drift"] == {"valid": 4, "gone": 1}
    assert report["causes"]["not in corpus"] == 1
    assert errata(["gate", "-c", "drifted.json", "-b", "drifted.json"]) == 3


def test_a_report_is_rendered_again_and_compared(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_playground("-k", "3", "-o", "a.json", "--also", "a.html", "--also", "a.xml")
    run_playground("-k", "1", "-o", "b.json")
    assert (workspace / "a.html").read_text().startswith("<!doctype html>")
    capsys.readouterr()
    assert errata(["report", "a.json", "--format", "markdown"]) == 0
    assert capsys.readouterr().out.startswith("### 5 of 5 items passed, 0 failed.")
    assert errata(["report", "a.json", "--out", "again.html"]) == 0
    assert (workspace / "again.html").read_bytes() == (workspace / "a.html").read_bytes()
    assert errata(["compare", "a.json", "b.json"]) == 0
    assert "retrieval_recall" in capsys.readouterr().out
    assert errata(["compare", "a.json", "b.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["items"] == 5
    assert errata(["report", "a.json", "--format", "pdf"]) == 2


def test_plain_figures_gate_by_the_known_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("faithfulness", "answer_relevance", "context_precision", "context_recall")
    for name, values in {"base": (0.92, 0.82, 0.72, 0.81), "current": (0.93, 0.83, 0.60, 0.82)}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(dict(zip(names, values, strict=True))))
    words = ["--baseline", str(tmp_path / "base.json"), "--current", str(tmp_path / "current.json")]
    assert errata(["gate", *words, "--tolerance", "0.03"]) == 1
    told = capsys.readouterr().out
    assert "context_precision: 0.60 < 0.69" in told
    assert "context precision failed: look at the retriever" in told
    assert errata(["gate", *words, "--tolerance", "0.2"]) == 0


def test_ctrl_c_writes_a_report_of_what_was_finished_and_exits_130(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\ndef ask(q):\n    time.sleep(0.3)\n    return 'yes', ['c1']\n")
    items = [
        {
            "id": f"q{n}",
            "question": f"q{n}",
            "expected": "yes",
            "mode": "refusal",
            "added_on": "2026-11-01",
            "source": "support",
        }
        for n in range(200)
    ]
    (tmp_path / "set.json").write_text(json.dumps(items))
    words = ["run", "set.json", "-p", "slow:ask", "-o", "out.json", "-c", "2"]
    process = subprocess.Popen(
        [str(BIN / "errata"), *words], cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not (tmp_path / "out.journal.jsonl").is_file():
        time.sleep(0.02)
    time.sleep(0.8)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    report = json.loads((tmp_path / "out.json").read_text())
    assert report["status"] == "interrupted"
    assert report["passed"] >= 1


def test_the_action_runs_gates_and_writes_the_summary(workspace: Path) -> None:
    assert run_playground("-k", "3", "--out", "base.json") == 0
    script = Path(__file__).resolve().parents[2] / ".github" / "actions" / "errata-gate" / "run.sh"
    environment = {
        **os.environ,
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "ERRATA_SET": str(SET_PATH),
        "ERRATA_CORPUS": str(CORPUS_PATH),
        "ERRATA_BASELINE": "base.json",
        "ERRATA_RUN_ARGUMENTS": "-k 1 --concurrency 2",
        "GITHUB_STEP_SUMMARY": str(workspace / "summary.md"),
        "GITHUB_OUTPUT": str(workspace / "outputs"),
    }
    done = subprocess.run(
        ["bash", str(script)], env=environment, cwd=workspace, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert "exit-code=1" in (workspace / "outputs").read_text()
    summary = (workspace / "summary.md").read_text()
    assert "### Gate failed" in summary
    assert "look at the retriever" in summary
    assert {path.name for path in (workspace / "errata-report").iterdir()} >= {
        "report.json",
        "report.html",
        "junit.xml",
        "gate.json",
    }

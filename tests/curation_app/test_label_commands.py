import json
from pathlib import Path

import pytest

from curation_app.cli.entry import run
from curation_app.service.starting import make_workspace
from evalsets.errors import ExitCode


@pytest.fixture
def root(tmp_path: Path) -> str:
    return str(make_workspace(tmp_path / "workspace").workspace.root)


def test_a_case_is_added_exported_and_imported_elsewhere(
    root: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = ["cases", "add", "is there parental leave?", "--mode", "out_of_scope", "--reviewer", "Ann"]
    assert run([*case, "--workspace", root, "--json"]) == ExitCode.DONE
    assert json.loads(capsys.readouterr().out) == {"labelled": 1, "to_label": 0, "already_there": 0}
    exported = tmp_path / "labels.jsonl"
    assert run(["labels", "export", "--out", str(exported), "--workspace", root]) == ExitCode.DONE
    assert [json.loads(line)["record"] for line in exported.read_text().splitlines()] == ["candidate", "event"]
    other = str(make_workspace(tmp_path / "other").workspace.root)
    capsys.readouterr()
    assert run(["labels", "import", str(exported), "--workspace", other, "--json"]) == ExitCode.DONE
    assert json.loads(capsys.readouterr().out) == {"candidates": 1, "events": 1, "renames": 0}


def test_a_question_with_a_line_separator_inside_is_moved_whole(
    root: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = tmp_path / "cases.jsonl"
    case = {"question": "is there leave\u2028for parents?", "mode": "out_of_scope"}
    cases.write_text(json.dumps(case, ensure_ascii=False) + "\n", encoding="utf-8")
    assert run(["cases", "import", str(cases), "--workspace", root]) == ExitCode.DONE
    exported = tmp_path / "labels.jsonl"
    assert run(["labels", "export", "--out", str(exported), "--workspace", root]) == ExitCode.DONE
    other = str(make_workspace(tmp_path / "other").workspace.root)
    capsys.readouterr()
    assert run(["labels", "import", str(exported), "--workspace", other, "--json"]) == ExitCode.DONE
    assert json.loads(capsys.readouterr().out) == {"candidates": 1, "events": 1, "renames": 0}


def test_a_bad_file_ends_with_2_and_names_every_line(
    root: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text('{"question": ""}\n{"question": "x", "mode": "y"}\n', encoding="utf-8")
    assert run(["cases", "import", str(path), "--workspace", root]) == ExitCode.BAD_INPUT
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "line 1" in captured.err
    assert "line 2" in captured.err
    assert run(["labels", "import", "nowhere.jsonl", "--workspace", root]) == ExitCode.BAD_INPUT


def test_drafting_without_a_model_says_how_to_name_one(root: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["cases", "draft", "kb-1", "--workspace", root]) == ExitCode.BAD_INPUT
    assert "no document 'kb-1'" in capsys.readouterr().err


def test_a_backup_prints_its_path_alone_on_stdout(
    root: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "backup.zip"
    assert run(["backup", "--out", str(target), "--workspace", root]) == ExitCode.DONE
    assert capsys.readouterr().out == f"{target}\n"
    assert target.exists()

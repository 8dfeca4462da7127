import json
from pathlib import Path

import pytest

from curation_app.cli.entry import run as errata
from curation_app.service.starting import make_workspace
from evalsets.errors import BadInputError
from evalsets.playground import CORPUS_PATH, SET_PATH
from evalsets.sweep import load_sweep, parse_grid, points


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_workspace(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sweep(*words: str) -> int:
    return errata(["sweep", str(SET_PATH), "--corpus", str(CORPUS_PATH), "--expect", "recall rises with top_k", *words])


def test_a_sweep_runs_the_grid_and_prints_one_table(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sweep("-g", "top_k=1,3", "-g", "padding=false,true", "-o", "swept") == 0
    told = capsys.readouterr().out
    assert "expected: recall rises with top_k" in told
    assert "found:    highest accuracy 1.000 at top_k=3 padding=false" in told
    rows = {line.split("  ")[0]: line.split()[2:5] for line in told.splitlines() if line.startswith("top_k=")}
    assert rows["top_k=1 padding=true"] == ["0.800", "1.000", "0.000"]
    assert rows["top_k=3 padding=false"] == ["1.000", "1.000", "0.000"]
    found = load_sweep(workspace / "swept")
    assert [row.report for row in found.rows] == [f"point-00{n}.json" for n in (1, 2, 3, 4)]
    assert (workspace / "swept" / "point-004.journal.jsonl").is_file()


def test_the_expectation_is_on_disk_before_the_first_run(workspace: Path) -> None:
    (workspace / "peeking.py").write_text(
        "import json, pathlib\n"
        "def ask(question):\n"
        "    plan = json.loads(pathlib.Path('swept/sweep.json').read_text())\n"
        "    return plan['expectation'] + str(len(plan['rows'])), []\n"
    )
    assert sweep("-p", "peeking:ask", "-g", "k=1,2", "-o", "swept") == 0
    first = json.loads((workspace / "swept" / "point-001.json").read_text())
    assert first["items"][0]["answer"] == "recall rises with top_k0"


def test_a_python_class_takes_the_grid_as_its_arguments(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (workspace / "sized.py").write_text(
        "class Sized:\n"
        "    def __init__(self, words=1):\n"
        "        self.words = words\n"
        "    def ask(self, question):\n"
        "        return '30 days 14 days 8 to 18 20 minutes 12 euros'[: self.words], ['orders-01']\n"
    )
    assert sweep("-p", "sized:Sized", "-g", "words=7,50", "--json", "-o", "swept") == 0
    assert [row["answer_accuracy"] for row in json.loads(capsys.readouterr().out)["rows"]] == [0.2, 1.0]


def test_an_unknown_setting_is_named_before_anything_is_written(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep("-g", "speed=1,2", "-o", "swept") == 2
    assert "has no option 'speed'" in capsys.readouterr().err
    assert not (workspace / "swept").exists()


def test_a_grid_is_read_as_json_values_and_every_combination_is_run() -> None:
    grid = parse_grid(["top_k=1,3", "mode=fast,slow", "padding=true"])
    assert grid == {"top_k": (1, 3), "mode": ("fast", "slow"), "padding": (True,)}
    assert [list(point.values()) for point in points(grid)] == [
        [1, "fast", True],
        [1, "slow", True],
        [3, "fast", True],
        [3, "slow", True],
    ]
    for words in (["top_k"], [], ["=1"], [f"top_k={','.join(map(str, range(201)))}"]):
        with pytest.raises(BadInputError):
            parse_grid(words)

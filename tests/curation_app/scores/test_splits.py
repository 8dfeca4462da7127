"""Runs over dev and held-out items: a report of the one, sums of the other, and a ledger that counts the looks."""

import json
import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from curation_app.cli.entry import run
from curation_app.service.run_history import stored_runs
from curation_app.service.scoring import RunOrder, find_run, start_run
from curation_app.service.starting import make_workspace
from curation_app.workspace import WORKSPACE_VARIABLE, Workspace
from evalsets.errors import ExitCode
from evalsets.sets.file import load
from evalsets.sets.holdout_ledger import Look, read_ledger

pytestmark = pytest.mark.xdist_group("scores")

ITEMS = [
    ("refunds", "How long do refunds take?", "30 days", "retrieval_miss", ["kb-1#0"]),
    ("vpn", "Where is the VPN client kept?", "In the portal", "refusal", ["kb-2#0"]),
    ("chairs", "Do you sell office chairs?", "", "out_of_scope", []),
]
CORPUS = {
    "kb-1#0": "Refunds take 30 days from the day of the request.",
    "kb-2#0": "The VPN client is in the portal, under Downloads.",
}


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A workspace whose set holds some of its items out."""
    workspace = make_workspace(tmp_path / "held").workspace
    monkeypatch.chdir(workspace.root)
    monkeypatch.setenv("ERRATA_HOLDOUT_KEY", "b")
    (workspace.root / "errata.toml").write_text("[sets]\nholdout_share = 0.5\n", encoding="utf-8")
    chunks = [{"chunk_id": id_, "doc_id": id_[:4], "text": text} for id_, text in CORPUS.items()]
    Path("corpus.jsonl").write_text("".join(json.dumps(chunk) + "\n" for chunk in chunks), encoding="utf-8")
    names = ("id", "question", "expected", "mode", "gold_chunk_ids")
    items = [
        {**dict(zip(names, item, strict=True)), "added_on": "2026-11-02", "source": "production"} for item in ITEMS
    ]
    Path("items.json").write_text(json.dumps(items), encoding="utf-8")
    assert run(["corpus", "add", "corpus.jsonl"]) == 0
    assert run(["freeze", "--from", "items.json", "--note", "n", "--by", "Ada"]) == 0
    return workspace


def looks(workspace: Workspace) -> list[Look]:
    return read_ledger(workspace.sets_folder / "failures" / "ledger.jsonl")


def held_ids(workspace: Workspace) -> list[str]:
    return [item.id for item in load(workspace.sets_folder / "failures/failures.holdout.json").items]


def test_a_run_of_all_reports_the_dev_items_and_records_one_look_at_the_others(
    held: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["run", "-p", "keyword", "--split", "all", "--by", "Ada"]) == 0
    told = capsys.readouterr().out
    assert "Look 1: dev passes" in told
    assert not [id_ for id_ in held_ids(held) if id_ in told]
    stored = stored_runs(held)[0]
    assert not [id_ for id_ in held_ids(held) if id_ in stored.path.read_text(encoding="utf-8")]
    assert [(look.looked_by, look.dev.passed) for look in looks(held)] == [("Ada", stored.summary.passed)]


def test_a_run_of_the_held_out_items_alone_leaves_no_report(held: Workspace) -> None:
    assert run(["run", "-p", "keyword", "--split", "holdout", "--json"]) == 0
    assert not stored_runs(held)
    assert len(looks(held)) == 1


def test_an_older_version_or_a_run_cut_short_records_no_look(held: Workspace) -> None:
    assert run(["run", "failures@1", "-p", "keyword", "--split", "all"]) == ExitCode.BAD_INPUT
    assert run(["run", "-p", "keyword", "--split", "all", "--max-calls", "1"]) == ExitCode.RUN_INCOMPLETE
    assert run(["run", "-p", "keyword", "--split", "holdout", "--max-calls", "1"]) == ExitCode.BAD_INPUT
    assert run(["run", "-p", "keyword", "--split", "half"]) == ExitCode.BAD_INPUT
    assert not looks(held)


def test_the_app_runs_a_split_in_the_background_and_shows_the_gap(
    held: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = start_run(held, RunOrder("failures", "keyword", split="all", by="Ben"))
    deadline = time.monotonic() + 90
    while find_run(held, started.run_id).is_alive and time.monotonic() < deadline:
        time.sleep(0.1)
    assert find_run(held, started.run_id).state == "complete", find_run(held, started.run_id).message
    assert [look.looked_by for look in looks(held)] == ["Ben"]
    monkeypatch.setenv(WORKSPACE_VARIABLE, str(held.root))
    app = AppTest.from_file(str(Path(__file__).parents[3] / "curation_app/pages/scores.py"), default_timeout=60).run()
    assert not app.exception
    split = next(box for box in app.selectbox if box.label == "Items to run")
    assert split.options == ["dev items", "dev and held-out items", "held-out items, no report"]
    assert any("Look 1" in markdown.value for markdown in app.markdown)

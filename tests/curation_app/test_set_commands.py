import json
import subprocess
from pathlib import Path

import pytest

from curation_app.cli.entry import run
from curation_app.service.starting import make_workspace
from evalsets.errors import ExitCode
from evalsets.sets.file import load

ROWS = [
    ("refunds", "How long do refunds take?", "30 days", "retrieval_miss", ["kb-1#0"]),
    ("vpn", "Where is the VPN client kept?", "In the portal", "refusal", ["kb-2#0"]),
    ("chairs", "Do you sell office chairs?", "", "out_of_scope", []),
]
CORPUS = [
    {"chunk_id": "kb-1#0", "doc_id": "kb-1", "text": "Refunds take 30 days from the day of the request."},
    {"chunk_id": "kb-2#0", "doc_id": "kb-2", "text": "The VPN client is in the portal, under Downloads."},
]


def rows(**changes: str) -> list[dict[str, object]]:
    return [
        {
            "id": id_,
            "question": question,
            "gold_chunk_ids": gold,
            "expected": changes.get(id_, expected),
            "mode": mode,
            "added_on": "2026-11-02",
            "source": "production",
        }
        for id_, question, expected, mode, gold in ROWS
    ]


def plain(path: Path, value: list[dict[str, object]]) -> str:
    path.write_text(json.dumps(value), encoding="utf-8")
    return str(path)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = make_workspace(tmp_path / "shop").workspace.root
    monkeypatch.chdir(folder)
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in CORPUS), encoding="utf-8")
    assert run(["corpus", "add", "corpus.jsonl"]) == ExitCode.DONE
    assert run(["freeze", "--from", plain(folder / "v1.json", rows()), "--note", "First", "--by", "Ada"]) == 0
    return folder


@pytest.fixture
def second(shop: Path) -> Path:
    changed = plain(shop / "v2.json", rows(refunds="30 days, on every plan"))
    assert run(["freeze", "--from", changed, "--note", "Refunds made clear", "--by", "Ada"]) == 0
    return shop


def git(*words: str) -> str:
    return subprocess.run(["git", *words], capture_output=True, text=True, check=True).stdout


def commit_all() -> None:
    git("add", "-A")
    git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "1")


def out(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    capsys.readouterr()
    code = run(words)
    return code, capsys.readouterr().out


def test_freeze_takes_the_corpus_texts_along_and_says_what_comes_next(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frozen = load(shop / "evalsets" / "failures")
    assert all(gold.text_hash for item in frozen.items for gold in item.gold_chunks)
    code, told = out(capsys, "freeze", "--from", "v1.json", "--note", "again", "--by", "Ada", "--json")
    assert (code, json.loads(told)["is_new"]) == (0, False)


@pytest.mark.usefixtures("second")
def test_diff_reads_names_versions_and_revisions_of_git(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = out(capsys, "diff", "failures@1")
    assert code == 0
    assert "30 days{+, on every plan+}" in text
    assert out(capsys, "diff", "1", "2")[1] == text
    git("init", "-q", ".")
    commit_all()
    reference = "git:HEAD:evalsets/failures/versions/0001.json"
    code, wire = out(capsys, "diff", reference, "failures", "--json")
    assert [each["kinds"] for each in json.loads(wire)["changed"]] == [["expected"]]
    assert json.loads(out(capsys, "diff", "2", "failures", "--json")[1])["is_empty"] is True
    assert "<ins>, on every plan</ins>" in out(capsys, "diff", "1", "-f", "markdown")[1]


def test_check_speaks_in_exit_codes_and_annotations(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert out(capsys, "check")[0] == ExitCode.DONE
    broken = plain(shop / "broken.json", [*rows(vpn=""), rows()[0] | {"id": "twin"}])
    code, told = out(capsys, "check", broken, "--format", "github")
    assert code == ExitCode.BAD_INPUT
    assert "::error file=broken.json,line=1,title=errata check%3A empty-expected::item 'vpn'" in told
    code, wire = out(capsys, "check", broken, "--json", "--allow", "duplicate-question", "--reason", "kept")
    assert {each["code"] for each in json.loads(wire)["findings"] if each["severity"] == "error"} == {
        "duplicate-question",
        "empty-expected",
    }
    assert json.loads(wire)["blocking"] == 1
    assert run(["check", broken, "--allow", "empty-expected"]) == ExitCode.BAD_INPUT


def test_retire_known_failing_and_restore_each_make_a_version_that_verifies(
    second: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["retire", "failures", "vpn", "--reason", "gone", "--by", "Bo"]) == 0
    assert run(["known-failing", "--add", "refunds", "--reason", "index", "--owner", "Bo"]) == 0
    assert "refunds  index  (owner Bo" in out(capsys, "known-failing")[1]
    assert run(["restore", "failures", "1", "--by", "Bo"]) == 0
    assert load(second / "evalsets" / "failures").items == load(second / "evalsets/failures/versions/0001.json").items
    code, told = out(capsys, "verify", "--json")
    assert (code, json.loads(told)["versions"]) == (0, 5)
    head = second / "evalsets" / "failures" / "failures.json"
    head.write_bytes(head.read_bytes().replace(b"30 days", b"31 days"))
    assert out(capsys, "verify")[0] == ExitCode.BAD_INPUT


def test_drift_ends_with_three_and_mends_what_only_moved(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert out(capsys, "drift")[0] == ExitCode.DONE
    moved = [
        CORPUS[0] | {"chunk_id": "kb-9#0"},
        CORPUS[1] | {"text": "The VPN client is in the portal, under Tools."},
    ]
    (shop / "new.jsonl").write_text("".join(json.dumps(row) + "\n" for row in moved), encoding="utf-8")
    code, told = out(capsys, "drift", "--corpus", "new.jsonl", "--json")
    assert code == ExitCode.SET_DOES_NOT_FIT_CORPUS
    assert {kind: count for kind, count in json.loads(told)["counts"].items() if count} == {"moved": 1, "changed": 1}
    assert run(["drift", "--corpus", "new.jsonl", "--fix", "--by", "Ada"]) == ExitCode.SET_DOES_NOT_FIT_CORPUS
    assert load(shop / "evalsets" / "failures").by_id["refunds"].gold_chunk_ids == ("kb-9#0",)
    assert json.loads(out(capsys, "queue", "--json")[1])["candidates"][0]["candidate_id"].startswith("set-")


def test_export_and_import_go_through_files(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = out(capsys, "export", "--format", "deepeval")
    assert code == 0
    assert json.loads(told)[2]["context"] == ["The VPN client is in the portal, under Downloads."]
    assert run(["export", "--format", "qrels"]) == ExitCode.BAD_INPUT
    assert run(["export", "--format", "qrels", "--out", "trec"]) == 0
    assert run(["import", "trec", "--format", "qrels", "--out", "back.json", "--mode", "retrieval_miss"]) == 0
    assert [item.id for item in load(shop / "back.json").items] == ["chairs", "refunds", "vpn"]
    assert run(["export", "--format", "nothing"]) == ExitCode.BAD_INPUT


def test_holdout_prints_aggregates_only_and_counts_each_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_workspace(tmp_path / "held").workspace.root
    monkeypatch.chdir(folder)
    monkeypatch.setenv("ERRATA_HOLDOUT_KEY", "b")
    (folder / "errata.toml").write_text("[sets]\nholdout_share = 0.5\n", encoding="utf-8")
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in CORPUS), encoding="utf-8")
    assert run(["corpus", "add", "corpus.jsonl"]) == 0
    plain(folder / "v1.json", rows())
    assert run(["freeze", "--from", "v1.json", "--note", "n", "--by", "Ada"]) == 0
    held = [item.id for item in load(folder / "evalsets/failures/failures.holdout.json").items]
    assert held
    code, told = out(capsys, "holdout", "--pipeline", "keyword", "--by", "Ada")
    assert code == 0
    assert "Look 1: dev passes" in told
    assert not [id_ for id_ in held if id_ in told]
    assert len(json.loads(out(capsys, "holdout", "--ledger", "--json")[1])) == 1
    assert run(["holdout", "--holdout", "nowhere.json", "-p", "keyword"]) == ExitCode.BAD_INPUT


def test_git_shows_sets_by_meaning_once_it_is_set_up(second: Path) -> None:
    git("init", "-q", ".")
    assert run(["git-setup"]) == 0
    attributes = (second / ".gitattributes").read_text(encoding="utf-8")
    assert run(["git-setup"]) == 0
    assert (second / ".gitattributes").read_text(encoding="utf-8") == attributes
    head = second / "evalsets" / "failures" / "failures.json"
    newest = head.read_bytes()
    head.write_bytes((second / "evalsets/failures/versions/0001.json").read_bytes())
    commit_all()
    head.write_bytes(newest)
    assert "30 days{+, on every plan+}" in git("--no-pager", "diff")
    assert "+  expected: 30 days, on every plan" in git("--no-pager", "diff", "--no-ext-diff")


def test_upkeep_lists_the_oldest_and_records_a_review(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(json.loads(out(capsys, "upkeep", "--json")[1])) == 3
    assert run(["upkeep", "--still-right", "vpn", "--retire", "chairs", "--reason", "asked twice", "--by", "Bo"]) == 0
    now = load(shop / "evalsets" / "failures")
    assert now.by_id["vpn"].reviewed_by is not None
    assert [entry.reason for entry in now.retired] == ["asked twice"]
    assert run(["upkeep", "--retire", "vpn", "--by", "Bo"]) == ExitCode.BAD_INPUT

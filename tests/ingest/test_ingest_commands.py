"""The commands around an ingest, run as a user runs them."""

import json
import os
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from curation_app.cli.entry import run
from evalsets.chunks import chunk_text_hash
from ingest.log_store import LogStore
from tests.ingest.ingest_support import APP_MAPPING, rows, write_lines

RECORDS = [
    {
        "request_id": f"r{n}",
        "conv": "c",
        "uid": f"u{n % 2}",
        "ts": f"2026-11-0{n + 1}T08:00:00Z",
        "query": f"question {n}?",
    }
    for n in range(4)
]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert run(["init"]) == 0
    (tmp_path / "app.yaml").write_text(APP_MAPPING, encoding="utf-8")
    write_lines(tmp_path / "log.jsonl", RECORDS)
    return tmp_path


def test_dry_run_shows_rows_and_fill_rates_and_stores_nothing(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["ingest", "log.jsonl", "-m", "app.yaml", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "4 records: 4 interactions" in shown
    assert "question                100%" in shown
    assert "answer                    0%" in shown
    assert not (workspace / ".errata" / "logs.duckdb").exists()


@pytest.mark.usefixtures("workspace")
def test_a_proposed_mapping_reads_the_log_it_was_proposed_from(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["mapping", "suggest", "log.jsonl", "--out", "proposed.yaml"]) == 0
    assert run(["ingest", "log.jsonl", "-m", "proposed.yaml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["interactions"]["new"] == 4
    assert run(["mapping", "suggest", "log.jsonl", "--out", "proposed.yaml"]) == 2


def test_quarantined_records_are_listed_and_taken_again_when_the_mapping_is_mended(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = APP_MAPPING.replace("latency_ms: took_ms", "latency_ms: query")
    (workspace / "wrong.yaml").write_text(wrong, encoding="utf-8")
    run(["ingest", "log.jsonl", "-m", "wrong.yaml"])
    capsys.readouterr()
    assert run(["rejects", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [(entry["file"], entry["line"]) for entry in listed] == [("log.jsonl", n) for n in range(1, 5)]
    assert "is not a number" in listed[0]["reason"]
    os.rename("log.jsonl", "gone.jsonl")  # noqa: PTH104 - what was kept in quarantine has to do
    assert run(["ingest", "--retry-rejects", "-m", "app.yaml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["interactions"]["new"] == 4
    assert run(["rejects", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert run(["ingest", "--retry-rejects", "-m", "app.yaml"]) == 2


def test_interactions_are_exported_with_canonical_names_and_read_back(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["ingest", "log.jsonl", "-m", "app.yaml"])
    assert run(["logs", "export", "--out", "out.jsonl", "--since", "2026-11-02"]) == 0
    exported: list[dict[str, Any]] = [json.loads(line) for line in (workspace / "out.jsonl").read_text().splitlines()]
    assert [entry["interaction_id"] for entry in exported] == ["app:r1", "app:r2", "app:r3"]
    wanted = {*("interaction_id", "session_id", "user_id", "asked_at", "question", "answer", "retrieved", "feedback")}
    assert wanted | {"feedback_comment", "model"} <= exported[0].keys()
    assert run(["logs", "export", "--format", "parquet", "--out", "days"]) == 0
    assert min(entry.name for entry in (workspace / "days").iterdir()) == "day=2026-11-01"
    assert pq.read_table(workspace / "days").num_rows == 4
    capsys.readouterr()
    assert run(["ingest", "out.jsonl", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"][0]["format"] == "canonical"


@pytest.mark.usefixtures("workspace")
def test_forgetting_a_user_says_what_was_deleted(capsys: pytest.CaptureFixture[str]) -> None:
    run(["ingest", "log.jsonl", "-m", "app.yaml"])
    capsys.readouterr()
    assert run(["forget", "--user", "u1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["interactions"] == 2
    assert run(["forget"]) == 2
    assert run(["forget", "--before", "soon"]) == 2


def test_formats_lists_every_adapter_and_preset(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["formats", "--json"]) == 0
    names = {entry["name"] for entry in json.loads(capsys.readouterr().out)}
    assert {"otlp", "langfuse", "litellm", "dify", "openai_responses", "open_webui", "haystack"} <= names


def test_a_corpus_of_markdown_is_one_chunk_a_heading_and_a_change_is_seen(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = workspace / "handbook"
    folder.mkdir()
    guide = folder / "guide.md"
    guide.write_text("# Guide\n\n## Refunds\nIn 14 days.\n\n```\n# no heading\n```\n## Invoices\nUnder Billing.\n")
    assert run(["corpus", "add", "handbook", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["new"], report["chunks"], report["documents"]) == (2, 2, 1)
    guide.write_text(guide.read_text().replace("14 days", "30 days"))
    run(["corpus", "add", "handbook", "--json"])
    report = json.loads(capsys.readouterr().out)
    assert (report["new"], report["changed"], report["unchanged"]) == (0, 1, 1)


def test_dry_run_previews_every_format_among_the_files(
    workspace: Path, shared_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = shared_folder / "logs"
    (workspace / "notes.txt").write_text("nothing to see here\n")
    names = [str(logs / name) for name in ("langfuse_blob_observations_v2.jsonl", "langfuse_blob_scores.jsonl")]
    assert run(["ingest", *names, str(logs / "mlflow_traces.jsonl"), "notes.txt", "--dry-run", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [(each["format"], each["files"], each["interactions"], each["votes"]) for each in shown["previews"]] == [
        ("langfuse", 2, 7, 2),
        ("mlflow", 1, 7, 2),
    ]
    assert "notes.txt" in shown["unknown"][0]


@pytest.mark.parametrize(
    ("records", "chunks"),
    [
        ([{"id": "a1", "document": "d2", "content": "one"}], [("a1", "d2", "one")]),
        ([{"ids": ["a", "b"], "documents": ["one", "two"], "metadatas": [{"source": "s"}, None]}],
         [("a", "s", "one"), ("b", "b", "two")]),
        ([{"page_content": "one", "metadata": {"source": "s"}}, {"text": " "}], [(chunk_text_hash("one"), "s", "one")]),
        ([{"id": "a", "document": "one"}], [("a", "a", "one")]),
    ],
)  # fmt: skip
def test_a_corpus_is_read_as_vector_stores_and_frameworks_write_it(
    records: list[dict[str, Any]],
    chunks: list[tuple[str, str, str]],
    workspace: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_lines(workspace / "corpus.jsonl", records)
    assert run(["corpus", "add", "corpus.jsonl", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["read"] == report["new"] + report["rejected"]
    store = LogStore(workspace / ".errata" / "logs.duckdb")
    assert rows(store, "SELECT chunk_id, doc_id, text FROM corpus_chunks ORDER BY chunk_id") == chunks

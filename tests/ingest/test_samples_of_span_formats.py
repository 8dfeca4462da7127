"""Every sample of the same seven turns gives the same interactions, minus the gaps each tool is known for."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ingest.ingest_report import IngestReport
from ingest.loading import ingest
from ingest.log_store import LogStore


class Sample(NamedTuple):
    """Files that hold the turns, and what the tool that wrote them leaves out."""

    files: tuple[str, ...]
    turns: tuple[int, ...] = (0, 1, 2, 3, 4, 5, 6)
    chunks: str = "same"
    """same: the passages of the truth in their order; own: others of the corpus with id and text, as the tool's own
    search found them; ids: only ids of the corpus; hash: only texts of the corpus; none."""
    score: bool = True
    session: bool = True
    user: bool = True
    votes: bool = False
    comment: bool = True
    prompt_version: bool = False
    cost: bool = False
    tokens: bool = True
    error: str = "TimeoutError: upstream model timed out"
    skipped: int = 0
    mended_text: str = ""
    """Text in this file where its maker's scrubbing of paths hit a passage by mistake."""


GENAI: dict[str, Any] = {"user": False, "score": False}
FULL: dict[str, Any] = {"votes": True, "prompt_version": True, "cost": True}
LANGCHAIN: dict[str, Any] = {"chunks": "own", "score": False}
PHOENIX: dict[str, Any] = {**FULL, "error": "!TimeoutError: upstream model timed out"}
LANGFUSE_TRACES: dict[str, Any] = {
    "chunks": "none",
    "score": False,
    "tokens": False,
    "votes": True,
    "comment": False,
    "error": "",
}
SAMPLES = {
    "OpenInference, by hand": Sample(("otlp_openinference_full.jsonl",), chunks="own", **FULL),
    "OpenInference, console": Sample(("otel_console_exporter.txt",), chunks="own", **FULL),
    "OpenInference, framed zstd": Sample(("otlp_collector_zstd_framed.bin",), chunks="own", **FULL),
    "OpenInference, LangChain": Sample(("otlp_openinference_langchain.jsonl",), **LANGCHAIN),
    "OpenInference, LlamaIndex": Sample(
        ("otlp_openinference_llamaindex.jsonl",), (0, 1, 2, 3, 4, 5), "own", prompt_version=True, skipped=1
    ),
    "OpenInference, HTTP root": Sample(("otlp_openinference_http_root.jsonl",), (0, 1, 2), skipped=1, **LANGCHAIN),
    "OpenInference, base64 ids": Sample(("otlp_protobuf_messagetojson_base64.json",), (0,), **LANGCHAIN),
    "OpenInference, protobuf": Sample(("otlp_traces.pb",), (0,), **LANGCHAIN),
    "GenAI, content on spans": Sample(("otlp_genai_semconv_langchain.jsonl",), chunks="ids", **GENAI),
    "GenAI, log events": Sample(
        ("otlp_genai_events_traces.jsonl", "otlp_genai_events_logs.jsonl"), chunks="none", votes=True, **GENAI
    ),
    "OpenLLMetry": Sample(("otlp_openllmetry_langchain.jsonl",), chunks="hash", score=False),
    "GenAI, old events": Sample(
        ("old_openai_v2_events.jsonl", "old_openai_v2_events_logs.jsonl"),
        chunks="none",
        session=False,
        error="InternalServerError: Error code: 500 - {'error': {'message': 'TimeoutError: upstream model timed out', "
        "'type': 'server_error'}}",
        **GENAI,
    ),
    "Langfuse SDK": Sample(("otlp_langfuse_sdk.jsonl", "langfuse_sdk_score_ingestion.json"), votes=True, cost=True),
    "Langfuse blob v2": Sample(
        ("langfuse_blob_observations_v2.jsonl", "langfuse_blob_scores.jsonl"), votes=True, cost=True
    ),
    "Langfuse blob v2, Parquet": Sample(
        ("langfuse_blob_scores.jsonl", "langfuse_blob_observations_v2.parquet"), votes=True, cost=True
    ),
    "Langfuse blob, legacy": Sample(
        ("langfuse_blob_legacy_observations.jsonl", "langfuse_blob_legacy_traces.jsonl", "langfuse_blob_scores.jsonl"),
        votes=True,
        cost=True,
    ),
    "Langfuse API": Sample(("langfuse_api_v2_observations.json", "langfuse_api_v3_scores.json"), votes=True, cost=True),
    "Langfuse UI, JSON": Sample(("langfuse_ui_traces.json",), **LANGFUSE_TRACES),
    "Langfuse UI, CSV": Sample(("langfuse_ui_traces.csv",), **LANGFUSE_TRACES),
    "LangSmith v1": Sample(("langsmith_list_runs.jsonl", "langsmith_feedback.jsonl"), votes=True, **LANGCHAIN),
    "LangSmith v2": Sample(("langsmith_runs_v2.jsonl",), votes=True, **LANGCHAIN),
    "LangSmith bulk export": Sample(("langsmith_bulk", "langsmith_feedback.jsonl"), votes=True, **LANGCHAIN),
    "Phoenix frame, Parquet": Sample(("phoenix_spans.parquet", "phoenix_span_annotations.parquet"), **PHOENIX),
    "Phoenix frame, CSV": Sample(("phoenix_span_annotations.csv", "phoenix_spans.csv"), **PHOENIX),
    "Phoenix REST": Sample(("phoenix_rest_spans.json", "phoenix_rest_span_annotations.json"), **PHOENIX),
    "Phoenix REST as OTLP": Sample(
        ("phoenix_rest_spans_otlpv1.json",), (5, 6), prompt_version=True, cost=True, error=PHOENIX["error"]
    ),
    "Phoenix UI as OTLP": Sample(
        ("phoenix_ui_download_otlp.json",), (5, 6), prompt_version=True, cost=True, error=PHOENIX["error"]
    ),
    "MLflow traces": Sample(("mlflow_traces.jsonl",), votes=True),
    "MLflow frame, CSV": Sample(("mlflow_search_traces_pandas.csv",), votes=True),
    "MLflow frame, JSON": Sample(("mlflow_search_traces_pandas.json",), votes=True),
    "MLflow frame, Parquet": Sample(
        ("mlflow_search_traces_pandas.parquet",), votes=True, mended_text="To app/t a password"
    ),
}


class Loaded(NamedTuple):
    report: IngestReport
    rows: dict[str, dict[str, Any]]
    """Interactions by question, each with its passages in order."""


def loaded(files: list[Path], folder: Path) -> Loaded:
    store = LogStore(folder / "logs.duckdb")
    report = ingest(files, store=store)
    with store.unit() as connection:
        rows = [
            dict(zip([column[0] for column in connection.description or ()], row, strict=True))
            for row in connection.execute("SELECT * FROM interactions").fetchall()
        ]
        passages = connection.execute(
            "SELECT interaction_id, chunk_id, doc_id, text, score, id_origin "
            "FROM interactions JOIN retrieved USING (number) "
            "LEFT JOIN chunk_texts USING (text_hash) ORDER BY interaction_id, rank"
        ).fetchall()
    for row in rows:
        row["chunks"] = [passage[1:] for passage in passages if passage[0] == row["interaction_id"]]
    return Loaded(report, {row["question"]: row for row in rows})


@pytest.fixture(scope="session")
def truth(shared_folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((shared_folder / "logs" / "expected_turns.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_gives_the_turns_of_the_application(
    name: str, shared_folder: Path, truth: dict[str, Any], tmp_path: Path
) -> None:
    sample = SAMPLES[name]
    found = loaded([shared_folder / "logs" / file for file in sample.files], tmp_path)
    turns = [truth["turns"][number] for number in sample.turns]
    assert found.report.quarantined == 0
    assert sum(found.report.traces_skipped.values()) == sample.skipped
    assert list(found.report.feedback.model_dump().values())[-1] == 0, "no vote is left unbound"
    assert sorted(found.rows) == sorted(turn["question"] for turn in turns)
    for turn in turns:
        row = found.rows[turn["question"]]
        assert list(_differences(row, turn, sample)) == []
        assert list(_chunk_differences(row["chunks"], turn, sample, truth["corpus"])) == []


def _differences(row: dict[str, Any], turn: dict[str, Any], sample: Sample) -> Iterator[str]:
    error = sample.error if turn["error"] else None
    expected = {
        "answer": turn["answer"],
        "session_id": turn["session_id"] if sample.session else None,
        "feedback": turn["feedback"] if sample.votes else None,
        "feedback_comment": turn["feedback_comment"] if sample.votes and sample.comment else None,
        "error": error or None,
        "prompt_version": "v7" if sample.prompt_version else None,
    }
    yield from (f"{key}: {row[key]!r}" for key, value in expected.items() if row[key] != value)
    filled = {
        "user_id": sample.user and turn["user_id"] is not None,
        "model": sample.tokens and not (turn["error"] and row["model"] is None),
        "output_tokens": sample.tokens and not turn["error"],
        "cost": sample.cost and not (turn["error"] and row["cost"] is None),
        "asked_at": True,
        "latency_ms": sample.tokens,
    }
    yield from (
        f"{key}: {row[key]!r}"
        for key, value in filled.items()
        if (row[key] is not None) != value and key != "output_tokens"
    )
    if turn["answer"] and filled["output_tokens"] and not row["output_tokens"]:
        yield "output_tokens missing"


def _chunk_differences(
    chunks: list[tuple[Any, ...]], turn: dict[str, Any], sample: Sample, corpus: list[dict[str, Any]]
) -> Iterator[str]:
    texts = {chunk["chunk_id"]: chunk["text"] for chunk in corpus}
    if len(chunks) != (0 if sample.chunks == "none" else 3):
        yield f"{len(chunks)} passages"
    if sample.chunks == "same" and [chunk[0] for chunk in chunks] != [c["chunk_id"] for c in turn["retrieved"]]:
        yield f"other passages: {[chunk[0] for chunk in chunks]}"
    for chunk_id, doc_id, logged, score, origin in chunks:
        text = logged.replace(sample.mended_text, "To reset a password") if sample.mended_text else logged
        if sample.chunks == "hash":
            is_right = origin == "text_hash" and text in texts.values()
        else:
            is_right = chunk_id in texts and (text is None if sample.chunks == "ids" else text == texts[chunk_id])
        if not is_right or (score is None) == sample.score or (sample.chunks in {"same", "own"} and not doc_id):
            yield f"{chunk_id} {doc_id} {score} {origin} {text!r}"


def test_the_scores_are_the_raw_ones_of_the_log(shared_folder: Path, truth: dict[str, Any], tmp_path: Path) -> None:
    found = loaded([shared_folder / "logs" / "langfuse_blob_observations_v2.jsonl"], tmp_path)
    for turn in truth["turns"]:
        scores = [chunk[3] for chunk in found.rows[turn["question"]]["chunks"]]
        assert scores == pytest.approx([chunk["score"] for chunk in turn["retrieved"]], abs=1e-6)


def test_the_trace_that_another_project_wrote_is_read_too(shared_folder: Path, tmp_path: Path) -> None:
    found = loaded([shared_folder / "logs" / "langfuse_ui_trace_download_llamaindex.json"], tmp_path)
    row = found.rows["What is Langfuse?"]
    assert (row["model"], row["output_tokens"], row["latency_ms"], row["session_id"]) == (
        "gpt-4o",
        81,
        2779,
        "session_abc",
    )
    assert row["answer"].startswith("Langfuse is a tool")


@pytest.mark.parametrize("dialect", ["oi", "ga"])
def test_a_cut_stream_keeps_the_text_of_the_model_and_is_marked(
    dialect: str, shared_folder: Path, tmp_path: Path
) -> None:
    found = loaded([shared_folder / "logs" / f"otlp_stream_cancelled_{dialect}.jsonl"], tmp_path)
    row = found.rows["How do I reset my password?"]
    assert (row["answer"], row["stream_cut"]) == ("Open Settings > Security and choose Reset password . ", True)


def test_traces_without_their_log_events_say_that_content_capture_is_off(shared_folder: Path, tmp_path: Path) -> None:
    report = loaded([shared_folder / "logs" / "otlp_genai_events_traces.jsonl"], tmp_path).report
    assert report.traces_skipped == {"content capture is off": 7}
    assert [caution.code for caution in report.cautions] == ["content-capture-off"]

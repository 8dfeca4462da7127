"""The tables that span formats fill are the same for any order, number and split of files."""

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest

from evalsets.chunks import chunk_text_hash
from ingest.loading import ingest
from ingest.log_store import LogStore
from ingest.privacy import SALT_NAME
from ingest.privacy_patterns import is_card
from ingest.spans.packs import dissolve_packs
from tests.ingest.test_trace_assembly import TRACE, batch, chain, llm, reranker, retriever

TABLES = {
    "interactions": "* EXCLUDE (ingest_id, number)",
    "retrieved": "* EXCLUDE (number)",
    "chunk_texts": "*",
    "feedback_events": "* EXCLUDE (ingest_id, ordinal)",
    "interaction_aliases": "*",
    "traces": "* EXCLUDE (ingest_id, digest)",
    "trace_parts": "*",
}


def tables(store: LogStore) -> dict[str, list[tuple[Any, ...]]]:
    with store.unit() as connection:
        dissolve_packs(connection, "true")
        return {
            table: sorted(connection.execute(f"SELECT {columns} FROM {table}").fetchall(), key=repr)  # noqa: S608
            for table, columns in TABLES.items()
        }


def tables_after(folder: Path, *runs: list[Path]) -> dict[str, list[tuple[Any, ...]]]:
    folder.mkdir(exist_ok=True)
    store = LogStore(folder / "logs.duckdb")
    (folder / SALT_NAME).write_text("5a" * 32, encoding="ascii")
    for files in runs:
        ingest(files, store=store)
    return tables(store)


PAIRS = {
    "OpenInference": ["otlp_openinference_full.jsonl", "otlp_openinference_langchain.jsonl"],
    "GenAI with log events": ["otlp_genai_events_traces.jsonl", "otlp_genai_events_logs.jsonl"],
    "old events": ["old_openai_v2_events.jsonl", "old_openai_v2_events_logs.jsonl"],
    "Langfuse": [
        "langfuse_blob_legacy_observations.jsonl",
        "langfuse_blob_legacy_traces.jsonl",
        "langfuse_blob_scores.jsonl",
    ],
    "LangSmith": ["langsmith_list_runs.jsonl", "langsmith_feedback.jsonl"],
    "Phoenix": ["phoenix_spans.parquet", "phoenix_span_annotations.parquet"],
}


@pytest.mark.parametrize("name", PAIRS)
def test_files_in_any_order_in_one_run_or_in_several_give_the_same_tables(
    name: str, shared_folder: Path, tmp_path: Path
) -> None:
    files = [shared_folder / "logs" / file for file in PAIRS[name]]
    together = tables_after(tmp_path / "together", files)
    orders = [files[::-1]] if len(files) == 2 else list(itertools.permutations(files))[1:4:2]
    for number, order in enumerate(orders):
        apart = tables_after(tmp_path / f"apart{number}", *([file] for file in order), list(order))
        assert apart == together


def lines(path: Path, *values: Any) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


def test_a_trace_split_over_files_and_runs_is_put_together_and_late_spans_rebind_it(tmp_path: Path) -> None:
    parts = [
        lines(tmp_path / "1.jsonl", batch(chain(lasting=9, session__id="s1"))),
        lines(tmp_path / "2.jsonl", batch(retriever("2", "1", "a", "b", at=1), reranker("3", "1", "b", at=2))),
        lines(tmp_path / "3.jsonl", batch(llm("4", "1", at=3, llm__model_name="m", llm__token_count__prompt=7))),
    ]
    whole = tables_after(tmp_path / "whole", parts)
    assert tables_after(tmp_path / "late", *([part] for part in parts[::-1])) == whole
    store = LogStore(tmp_path / "grown.duckdb")
    seen = []
    for part in parts:
        report = ingest([part], store=store)
        seen.append((report.interactions.new, report.interactions.changed))
        with store.unit() as connection:
            seen.append(connection.execute("SELECT list(chunk_id) FROM retrieved").fetchall()[0][0])
    assert seen == [(1, 0), None, (0, 1), ["b"], (0, 1), ["b"]]


def test_ingesting_the_same_spans_again_changes_nothing(tmp_path: Path) -> None:
    first = lines(tmp_path / "1.jsonl", batch(chain(lasting=9), retriever("2", "1", "a", at=1)))
    again = lines(tmp_path / "2.jsonl", batch(retriever("2", "1", "a", at=1)), batch(chain(lasting=9)))
    store = LogStore(tmp_path / "logs.duckdb")
    ingest([first], store=store)
    before = tables(store)
    report = ingest([again], store=store)
    assert (report.interactions.new, report.interactions.changed) == (0, 0)
    assert tables(store) == before


def test_a_trace_exported_by_two_tools_is_one_interaction(tmp_path: Path) -> None:
    info = {"trace_id": f"tr-{TRACE}", "request_time": "2026-11-30T00:12:42Z", "state": "OK"}
    trace = {"info": {**info, "trace_metadata": {"mlflow.trace.session": "s1"}}, "data": {"spans": []}}
    upper = chain(lasting=9)
    upper["traceId"] = TRACE.upper()
    files = [lines(tmp_path / "mlflow.jsonl", trace), lines(tmp_path / "otlp.jsonl", batch(upper))]
    for number, order in enumerate(itertools.permutations(files)):
        rows = tables_after(tmp_path / str(number), *([file] for file in order))["interactions"]
        assert [row[0] for row in rows] == [f"trace:{TRACE}"]
        assert "s1" in rows[0]


def langfuse_score(**fields: Any) -> dict[str, Any]:
    score = {"id": "s1", "timestamp": "2026-11-30 00:05:00", "name": "user-feedback", "value": 1.0, "source": "API"}
    return score | {"trace_id": TRACE, "data_type": "BOOLEAN", "observation_id": None, "session_id": None} | fields


def langfuse_observation(**fields: Any) -> dict[str, Any]:
    row = {
        "id": "o1",
        "trace_id": TRACE,
        "type": "CHAIN",
        "name": "answer",
        "parent_observation_id": "",
        "level": "DEFAULT",
    }
    times = {
        "start_time": "2026-11-30 00:04:33",
        "end_time": "2026-11-30 00:04:34",
        "updated_at": "2026-11-30 00:04:35",
    }
    texts = {"input": '{"question": "where?"}', "output": '{"answer": "there"}', "session_id": "", "user_id": ""}
    return row | times | texts | fields


def test_rows_repeated_across_export_windows_count_once_and_the_newest_stays(tmp_path: Path) -> None:
    late = langfuse_observation(output='{"answer": "over there"}', updated_at="2026-11-30 00:06:00")
    first = lines(tmp_path / "w1.jsonl", langfuse_observation(), langfuse_observation())
    second = lines(tmp_path / "w2.jsonl", late, langfuse_score(), langfuse_score())
    for number, order in enumerate(itertools.permutations([first, second])):
        found = tables_after(tmp_path / str(number), *([file] for file in order))
        assert len(found["feedback_events"]) == 1
        (row,) = found["interactions"]
        assert "over there" in row
        assert 1 in row


def test_a_score_named_like_a_column_is_a_vote_and_leaves_the_column_alone(tmp_path: Path) -> None:
    scores = lines(
        tmp_path / "scores.jsonl",
        langfuse_score(name="user_feedback_value", value=0.0),
        langfuse_score(id="s2", name="input"),
    )
    rows = lines(tmp_path / "rows.jsonl", langfuse_observation())
    found = tables_after(tmp_path / "store", [scores], [rows])
    assert len(found["feedback_events"]) == 2
    assert "where?" in found["interactions"][0]


def test_the_project_of_langsmith_never_becomes_a_session_and_v1_and_v2_agree(
    shared_folder: Path, tmp_path: Path
) -> None:
    columns = "question, answer, session_id, asked_at, model, error, latency_ms, input_tokens, feedback"
    found = []
    for name in ("langsmith_list_runs.jsonl", "langsmith_runs_v2.jsonl", "langsmith_bulk"):
        store = LogStore(tmp_path / f"{name}.duckdb")
        ingest([shared_folder / "logs" / name], store=store)
        with store.unit() as connection:
            found.append(connection.execute(f"SELECT {columns} FROM interactions ORDER BY asked_at").fetchall())  # noqa: S608
    assert found[0] == found[1] == found[2]
    assert {row[2] for row in found[0]} == {"sess-a1", "sess-b2", "sess-c3", "sess-d4", "sess-e5"}


def test_hashes_that_look_like_card_numbers_come_through_redaction_with_their_texts(tmp_path: Path) -> None:
    texts = (f"passage {number}" for number in itertools.count())
    runs = ((text, re.findall(r"(?<!\d)\d{13,19}(?!\d)", chunk_text_hash(text))) for text in texts)
    text = next(text for text, found in runs if any(is_card(run, run) for run in found))
    search = retriever("2", "1", at=1, **{"retrieval.documents.0.document.content": text})
    store = LogStore(tmp_path / "logs.duckdb")
    ingest(
        [lines(tmp_path / "log.jsonl", batch(chain(input__value="mail me at ann@example.com"), search))], store=store
    )
    with store.unit() as connection:
        found = connection.execute(
            "SELECT question, text, chunk_id FROM interactions JOIN retrieved USING (number) "
            "LEFT JOIN chunk_texts USING (text_hash)"
        ).fetchall()
    ((question, stored, chunk_id),) = found
    assert (stored, chunk_id) == (text, chunk_text_hash(text))
    assert "ann@example.com" not in question

"""Every file of the plain samples holds the same seven turns, whatever its quirk."""

import json
from pathlib import Path
from typing import Any

import pytest

from ingest.adapters.mapping_file import MappingFile, parse_mapping
from ingest.ingest_report import IngestReport
from ingest.loading import ingest
from ingest.log_store import LogStore
from tests.ingest.ingest_support import APP_MAPPING, rows

WHOLE = [
    *("app.jsonl", "app.jsonl.gz", "app.jsonl.zst", "app_array_multiline.json", "app_blank_lines.jsonl"),
    *("app_bom.jsonl", "app_concatenated_pretty.json", "app_crlf.jsonl", "app_epoch_ms.jsonl"),
    *("app_epoch_ms_string.jsonl", "app_epoch_ns.jsonl", "app_epoch_s_float.jsonl", "app_epoch_s_int.jsonl"),
    *("app_epoch_us.jsonl", "app_iso_mixed_offsets.jsonl", "app_iso_naive.jsonl", "app_iso_z.jsonl"),
    *("app_python_nan.jsonl", "app_utf16.jsonl", "app_wrapped_envelope.json", "csv_json_cell.csv"),
    *("pandas.csv", "pandas_default_orient.json", "pandas_index.csv", "pandas_json_string_naive_ts.parquet"),
    *("pandas_nested.parquet", "pandas_records_iso.json", "pandas_records_lines.jsonl"),
    "python_logging_prefix.log",
]
CHUNK_ROWS = """
source: app
interactions:
  id: request_id
  session_id: conv
  asked_at: ts
  question: query
  answer: reply
  retrieved: {rows: {group_by: request_id, rank: rank}, chunk_id: chunk, text: text, score: score}
"""
ARRAYS = """
source: app
interactions:
  id: id
  session_id: session
  asked_at: time
  question: question
  answer: answer
  retrieved: {arrays: true, chunk_id: context_ids, text: contexts, score: scores}
"""
CHAT = """
source: app
interactions:
  messages: {session: session, time: created_at, message_id: message_id, parent_id: parent_id}
  id: user.message_id
  aliases: [assistant.message_id]
  session_id: user.session
  asked_at: user.created_at
  question: user.content
  answer: assistant.content
  retrieved: {list: assistant.sources, chunk_id: chunk, doc_id: doc, text: text, score: similarity}
"""
FIRST_US = 1_793_609_970_123_456
CHUNKS = """
SELECT r.chunk_id, r.doc_id, t.text, round(r.score, 6)
FROM retrieved AS r JOIN chunk_texts AS t USING (text_hash) JOIN interactions AS i USING (number)
ORDER BY i.asked_at, r.rank
"""
SCORES = """
SELECT chunk_id, round(score, 6) FROM retrieved JOIN interactions USING (number) ORDER BY asked_at, rank
"""
VOTES = "SELECT question, feedback, feedback_comment FROM interactions WHERE feedback IS NOT NULL ORDER BY feedback"
SHAPES = {"one_row_per_chunk.csv": CHUNK_ROWS, "parallel_arrays.jsonl": ARRAYS, "chat_messages.jsonl": CHAT}
TO_THE_SECOND = {"app_epoch_s_int.jsonl"}
TO_THE_MILLISECOND = {
    *("app_epoch_ms.jsonl", "app_epoch_ms_string.jsonl", "app_iso_mixed_offsets.jsonl", "app_iso_z.jsonl"),
    *("pandas_default_orient.json", "pandas_records_iso.json", "pandas_records_lines.jsonl"),
}


@pytest.fixture(scope="module")
def expected(shared_folder: Path) -> list[dict[str, Any]]:
    turns = json.loads((shared_folder / "logs" / "expected_turns.json").read_text(encoding="utf-8"))["turns"]
    return sorted(turns, key=lambda turn: str(turn["n"]))


def read(path: Path, mapping: str | MappingFile, store: LogStore) -> IngestReport:
    chosen = parse_mapping(mapping, "a test") if isinstance(mapping, str) else mapping
    report = ingest([path], store=store, mapping=chosen, workers=1)
    assert report.read == report.made + report.skipped_total + report.quarantined
    return report


def turns_of(store: LogStore) -> list[tuple[Any, ...]]:
    return rows(store, "SELECT session_id, question, answer FROM interactions ORDER BY asked_at, interaction_id")


@pytest.mark.parametrize("name", WHOLE)
def test_every_quirk_gives_the_same_turns_chunks_and_instants(
    name: str, plain: Path, expected: list[dict[str, Any]], app_mapping: MappingFile, store: LogStore
) -> None:
    report = read(plain / name, app_mapping, store)
    assert (report.interactions.new, report.quarantined) == (7, 0)
    assert turns_of(store) == [(turn["session_id"], turn["question"], turn["answer"]) for turn in expected]
    assert rows(store, "SELECT error FROM interactions ORDER BY asked_at") == [(turn["error"],) for turn in expected]
    assert rows(store, "SELECT count(user_id), count(DISTINCT user_id) FROM interactions") == [(6, 4)]
    wanted = [chunk for turn in expected for chunk in turn["retrieved"]]
    assert rows(store, CHUNKS) == [(c["chunk_id"], c["doc_id"], c["text"], round(c["score"], 6)) for c in wanted]
    assert rows(store, "SELECT count(*) = count(DISTINCT text_hash) FROM chunk_texts") == [(True,)]
    (first,) = rows(store, "SELECT epoch_us(min(asked_at)) FROM interactions")[0]
    step = 1_000_000 if name in TO_THE_SECOND else 1_000 if name in TO_THE_MILLISECOND else 1
    assert first // step == FIRST_US // step
    assert any(caution.code == "naive_times" for caution in report.cautions) == ("naive" in name)


@pytest.mark.parametrize("name", SHAPES)
def test_other_shapes_give_the_same_turns(
    name: str, plain: Path, expected: list[dict[str, Any]], store: LogStore
) -> None:
    report = read(plain / name, SHAPES[name], store)
    assert report.interactions.new == 7
    assert turns_of(store) == [(turn["session_id"], turn["question"], turn["answer"]) for turn in expected]
    # The model timed out on one turn: the chat log has no answer row to carry its chunks.
    wanted = [turn for turn in expected if turn["answer"] or name != "chat_messages.jsonl"]
    assert rows(store, SCORES) == [(c["chunk_id"], round(c["score"], 6)) for turn in wanted for c in turn["retrieved"]]


def test_a_stream_of_turns_and_votes_out_of_order_keeps_all_but_its_cut_line(
    plain: Path, app_mapping: MappingFile, store: LogStore
) -> None:
    report = read(plain / "app_mixed_stream_dups_out_of_order_truncated.jsonl", app_mapping, store)
    assert (report.read, report.quarantined, report.interactions.new, report.interactions.repeated) == (12, 1, 6, 3)
    assert [(reject.line, reject.reason[:8]) for reject in report.rejects] == [(12, "not JSON")]
    assert rows(store, VOTES) == [
        ("What is the refund window for annual plans?", -1, "wrong, annual is 30 days"),
        ("How do I reset my password?", 1, None),
    ]


def test_the_mapping_of_the_format_notes_is_one_we_read() -> None:
    notes = APP_MAPPING.replace("source: app", "source: app\nformat: jsonl")
    assert parse_mapping(notes, "notes").source == "app"

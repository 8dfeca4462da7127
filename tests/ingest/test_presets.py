"""The shipped mappings recognise what the tools wrote, and make the expected turns of it."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ingest.loading import ingest
from ingest.log_store import LogStore
from tests.ingest.ingest_support import rows, write_lines


class Sample(NamedTuple):
    """A sample, the format its content tells, its turns, how many have session, user, answer, chunk text, feedback."""

    file: str
    form: str
    turns: int
    filled: tuple[int, ...]


SAMPLES = [
    Sample("litellm_standard_logging.jsonl", "litellm", 7, (7, 6, 6, 0, 0)),
    Sample("openai_stored_completions.jsonl", "openai_completions", 6, (6, 5, 6, 0, 0)),
    Sample("helicone_export.jsonl", "helicone", 7, (7, 6, 6, 0, 2)),
    Sample("app_dify_messages.json", "dify", 7, (7, 0, 6, 7, 2)),
    Sample("app_anythingllm_chats.csv", "anythingllm", 6, (0, 6, 6, 0, 2)),
    Sample("langchain_astream_events_v2.jsonl", "langchain_events", 2, (2, 0, 2, 2, 0)),
    Sample("llamaindex_events.jsonl", "llamaindex_events", 3, (0, 0, 3, 3, 0)),
    Sample("haystack_run_outputs.jsonl", "haystack", 6, (6, 0, 6, 6, 0)),
]
COUNTS = """
SELECT count(session_id), count(user_id), count(answer),
    (SELECT count(DISTINCT number) FROM retrieved WHERE text_hash IS NOT NULL), count(feedback)
FROM interactions
"""


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.file for sample in SAMPLES])
def test_a_sample_is_recognised_and_gives_its_turns(sample: Sample, shared_folder: Path, store: LogStore) -> None:
    name, form, turns, filled = sample
    report = ingest([shared_folder / "logs" / name], store=store, workers=1)
    assert (report.files[0].format, report.interactions.new, report.quarantined) == (form, turns, 0)
    assert report.read == report.made + report.skipped_total
    assert rows(store, COUNTS) == [filled]
    expected = json.loads((shared_folder / "logs" / "expected_turns.json").read_text(encoding="utf-8"))["turns"]
    answers = {turn["question"]: turn["answer"] for turn in expected}
    for question, answer in rows(store, "SELECT question, answer FROM interactions"):
        assert answers[question] == answer


def test_openai_responses_give_file_search_results_as_chunks(tmp_path: Path, store: LogStore) -> None:
    result = {"file_id": "f1", "filename": "kb.md", "score": 0.8, "text": "Open Settings", "attributes": {}}
    response: dict[str, Any] = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_795_996_932,
        "conversation": {"id": "conv_1"},
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "How do I reset?"}]}],
        "output": [
            {"type": "file_search_call", "queries": ["reset"], "results": [result]},
            {"type": "message", "content": [{"type": "output_text", "text": "Open Settings."}]},
        ],
    }
    ingest([write_lines(tmp_path / "r.jsonl", [response])], store=store, workers=1)
    assert rows(store, "SELECT session_id, question, answer FROM interactions") == [
        ("conv_1", "How do I reset?", "Open Settings.")
    ]
    assert rows(store, "SELECT doc_id, score, id_origin FROM retrieved") == [("f1", 0.8, "text_hash")]


def test_a_regenerated_answer_of_open_webui_is_a_turn_of_its_own_with_its_own_vote(
    tmp_path: Path, store: LogStore
) -> None:
    sources = [
        {
            "document": ["Open Settings", "Other"],
            "metadata": [{"file_id": "f1"}, {"file_id": "f2"}],
            "distances": [0.8, 0.5],
        }
    ]
    messages = {
        "m1": {"id": "m1", "parentId": None, "role": "user", "content": "How?", "timestamp": 1_795_996_932},
        "m2": {
            "id": "m2",
            "parentId": "m1",
            "role": "assistant",
            "content": "Bad",
            "sources": sources,
            "annotation": {"rating": -1},
        },
        "m3": {"id": "m3", "parentId": "m1", "role": "assistant", "content": "Better"},
    }
    chat = [{"id": "chat1", "user_id": "u", "chat": {"history": {"messages": messages, "currentId": "m3"}}}]
    (tmp_path / "chats.json").write_text(json.dumps(chat), encoding="utf-8")
    report = ingest([tmp_path / "chats.json"], store=store, workers=1)
    assert report.files[0].format == "open_webui"
    assert rows(store, "SELECT interaction_id, answer, feedback FROM interactions ORDER BY 1") == [
        ("open-webui:m2", "Bad", -1),
        ("open-webui:m3", "Better", None),
    ]
    assert rows(store, "SELECT doc_id, score FROM retrieved ORDER BY rank") == [("f1", 0.8), ("f2", 0.5)]

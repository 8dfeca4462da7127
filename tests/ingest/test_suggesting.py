"""A mapping proposed from a log of any make reads the turns of that log."""

import json
from pathlib import Path
from typing import Any

import pytest

from evalsets.errors import BadInputError
from ingest.adapters.mapping_file import parse_mapping
from ingest.previewing import Preview, preview
from ingest.reading.probing import probe
from ingest.reading.sources import find_files
from ingest.suggesting.mapping import suggest
from tests.ingest.ingest_support import write_lines

ASKED = ("How do I pay?", "Wo ist das?", "And then?", "Stop it")
TURNS = list(enumerate(ASKED))
Records = list[dict[str, Any]]


def nested() -> Records:
    return [
        {"meta": {"requestId": f"r{n}", "ts": 1_790_000_000 + n, "sessionId": "s", "user": {"id": "u"}}}
        | {"payload": {"input": {"text": q}, "output": {"text": "A " + q, "docs": [{"docId": "d", "chunkText": "t"}]}}}
        for n, q in TURNS
    ]


def camel_case() -> Records:
    return [
        {"traceId": f"r{n}", "conversationId": "s", "userQuestion": q, "botAnswer": "A " + q, "responseTimeMs": 300}
        | {"createdAt": f"2026-10-01T00:00:0{n}Z", "retrievedDocs": [{"chunkId": "c", "content": "x", "score": 1}]}
        for n, q in TURNS
    ]


def conversations() -> Records:
    return [
        {"id": f"c{n}", "conversations": [{"from": "human", "value": q}, {"from": "gpt", "value": "A " + q}]}
        for n, q in TURNS
    ]


def messages() -> Records:
    asked = [
        {"thread": "t", "sender": "human", "body": q, "sent_at": 1_790_000_000 + 9 * n, "msg_id": n} for n, q in TURNS
    ]
    replied = [
        {
            "thread": "t",
            "sender": "bot",
            "body": "A " + q,
            "sent_at": 1_790_000_001 + 9 * n,
            "msg_id": n + 50,
            "reply_to": n,
        }
        for n, q in TURNS
    ]
    return asked + replied


def model_calls() -> Records:
    return [
        {"request": {"model": "m", "messages": [{"role": "system", "content": "x"}, {"role": "user", "content": q}]}}
        | {"response": {"id": f"c{n}", "choices": [{"message": {"role": "assistant", "content": "A " + q}}]}}
        for n, q in TURNS
    ]


def evaluations() -> Records:
    return [{"user_input": q, "response": "A " + q, "retrieved_contexts": ["p1", "p2"]} for _, q in TURNS]


def names_by_their_ends() -> Records:
    chunks = json.dumps([{"chunk_id": "c", "content": "x", "score": 1}])
    return [
        {"chat_session_id": "s", "sent": 1_790_000_000 + n, "user_prompt": q, "llm_response": "A " + q}
        | {"used_documents": chunks, "is_helpful": n % 2 == 0}
        for n, q in TURNS
    ]


def unnamed_question() -> Records:
    return [{"nr": n, "Kundentext": q, "Antwort": "A " + q} for n, q in TURNS]


SHAPES = {
    "names by their ends": (names_by_their_ends, "session_id asked_at retrieved"),
    "nested": (nested, "session_id user_id asked_at retrieved"),
    "camel case": (camel_case, "session_id asked_at retrieved latency_ms"),
    "conversations": (conversations, ""),
    "messages": (messages, "session_id asked_at"),
    "model calls": (model_calls, "model"),
    "evaluations": (evaluations, "retrieved"),
    "unnamed question": (unnamed_question, ""),
}


def proposed(log: Path) -> tuple[str, Preview]:
    written = suggest(probe(find_files([log])[0]))
    return written, preview([log], mapping=parse_mapping(written, "a proposal")).previews[0]


@pytest.mark.parametrize("name", SHAPES)
def test_a_proposed_mapping_reads_its_log(name: str, tmp_path: Path) -> None:
    records, filled = SHAPES[name]
    _, shown = proposed(write_lines(tmp_path / "log", records()))
    assert sorted(row["question"] for row in shown.rows) == sorted(ASKED)
    assert all(row["answer"] == "A " + row["question"] for row in shown.rows)
    shares = {rate.field: rate.share for rate in shown.fill}
    assert [field for field in filled.split() if shares[field] < 1] == []
    assert (shown.rejects, shown.missing_paths) == ([], [])


def test_records_in_an_envelope_and_votes_in_words_are_seen(tmp_path: Path) -> None:
    turns = [{"uuid": n, "request": {"query": q}, "reply": "A", "user_rating": "gut" if n else "👎"} for n, q in TURNS]
    (tmp_path / "log").write_text(json.dumps({"rows": turns}), encoding="utf-8")
    written, shown = proposed(tmp_path / "log")
    assert (shown.interactions, shown.votes) == (4, 4)
    assert "# say 1 for up and -1 for down" in written


def test_one_odd_record_hides_no_field_and_votes_stand_in_their_own_section(tmp_path: Path) -> None:
    log: Records = [{"id": n, "query": q, "ts": "2026-11-02T08:00:00Z", "took_ms": 5} for n, q in TURNS * 2]
    log += [{"id": 9, "query": "broken?", "ts": "never", "took_ms": "slow"}, {"id": 10, "query": ["parts?"]}]
    log += [{"event": "vote", "id": n, "thumb": "up", "ts": "2026-11-02T09:00:00Z"} for n in (1, 2)]
    written, _ = proposed(write_lines(tmp_path / "log", log))
    asked, votes = written.split("feedback:")
    assert "asked_at: ts" in asked
    assert "latency_ms: took_ms" in asked
    assert "thumb" not in asked
    assert "value: thumb" in votes  # with no map, which would leave out the votes not seen yet


def test_a_day_and_a_time_of_day_in_two_columns_become_one_time(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(
        "date,time,question,answer\n30.11.2026,10:22:11,Where?,There\n30.11.2026,10:23 PM,When?,Soon\n",
        encoding="utf-8",
    )
    written, shown = proposed(tmp_path / "log")
    assert "asked_at: {path: 'join('' '', [date, time])', timezone: UTC}" in written
    asked = {row["question"]: str(row["asked_at"]) for row in shown.rows}
    assert asked == {"Where?": "2026-11-30 10:22:11+00:00", "When?": "2026-11-30 22:23:00+00:00"}


def test_a_log_without_a_question_names_its_fields(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="level, detail"):
        proposed(write_lines(tmp_path / "log", [{"level": 1, "detail": "started"}] * 3))


def test_the_id_of_a_conversation_is_its_session_and_what_mongodb_wraps_is_a_value(tmp_path: Path) -> None:
    talk = [{"from": "human", "value": "where?"}, {"from": "gpt", "value": "there"}]
    found, _ = proposed(write_lines(tmp_path / "talks", [{"id": "c1", "conversations": talk}]))
    assert "session_id: id" in found
    wrapped = {"_id": {"$oid": "6" * 24}, "createdAt": {"$date": "2026-11-02T08:00:00Z"}, "question": "where?"}
    found, shown = proposed(write_lines(tmp_path / "dump", [wrapped]))
    assert "id: _id" in found
    assert shown.rows[0]["asked_at"].year == 2026

"""Every shipped mapping gives the same turns from a log in the shape of its tool, also as a dump of a database."""

import csv
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ingest.adapters.mapping_file import preset_names
from ingest.loading import ingest
from ingest.log_store import LogStore
from tests.ingest.ingest_support import rows

ASKED_S = 1_796_000_000


class Turn(NamedTuple):
    """One turn as it happened."""

    number: int
    question: str
    answer: str | None
    chunks: tuple[tuple[str, str, float], ...]
    vote: int | None = None
    error: str | None = None

    @property
    def at(self) -> int:
        return ASKED_S + 60 * self.number

    @property
    def iso(self) -> str:
        return datetime.fromtimestamp(self.at, UTC).isoformat()


TURNS = (
    Turn(
        0, "Wo finde ich die „Rechnung“?", "Unter Konto,\nganz unten.", (("k1", "Text eins", 0.9), ("k2", "zwei", 0.4))
    ),
    Turn(1, "And last year's?", "Pick a year first.", (("k2", "zwei", 0.7),), vote=-1),
    Turn(2, "[1] what is this mark?", "A footnote.", (("k3", "drei", 0.2),), vote=1),
    Turn(3, "Cancel my plan", None, (), error="upstream timed out"),
)
SESSION, USER = "conv-7", "user-3"
Records = list[dict[str, Any]]


def chat(turn: Turn) -> Records:
    earlier = [{"role": "user", "content": "an earlier question"}, {"role": "assistant", "content": "its answer"}]
    return [{"role": "system", "content": "Be brief."}, *earlier, {"role": "user", "content": turn.question}]


def choices(turn: Turn) -> Records:
    message = {"role": "assistant", "content": turn.answer}
    return [{"index": 0, "finish_reason": "stop", "message": message}] if turn.answer else []


def litellm() -> Records:
    return [
        {"id": f"id-{t.number}", "litellm_call_id": f"call-{t.number}", "call_type": "acompletion", "stream": False}
        | {"status": "failure" if t.error else "success", "error_str": t.error, "custom_llm_provider": "openai"}
        | {"session_id": SESSION, "trace_id": "other", "end_user": USER, "model": "m", "messages": chat(t)}
        | {"response": {"choices": choices(t)} if t.answer else None, "response_cost": 0.002}
        | {"startTime": t.at + 0.0, "endTime": t.at + 1.5, "prompt_tokens": 11, "completion_tokens": 7}
        for t in TURNS
    ] + [{"litellm_call_id": "e", "call_type": "aembedding", "custom_llm_provider": "openai", "messages": "text"}]


def openai_completions() -> Records:
    return [
        {"completion": {"id": f"c-{t.number}", "object": "chat.completion", "created": t.at, "model": "m"}
         | {"choices": choices(t), "metadata": {"session_id": SESSION, "user_id": USER}}
         | {"usage": {"prompt_tokens": 11, "completion_tokens": 7}}, "messages": chat(t)}
        for t in TURNS
    ]  # fmt: skip


def openai_responses() -> Records:
    def output(t: Turn) -> Records:
        results = [
            {"file_id": "f", "filename": "kb.md", "score": score, "text": text, "attributes": {"chunk_id": key}}
            for key, text, score in t.chunks
        ]
        search = {"type": "file_search_call", "id": "fs", "queries": ["rewritten"], "results": results}
        said: dict[str, Any] = {"type": "output_text", "text": t.answer, "annotations": []}
        message = [{"type": "message", "role": "assistant", "content": [said]}] if t.answer else []
        return [{"type": "reasoning", "summary": []}, search, *message]

    return [
        {"id": f"resp-{t.number}", "object": "response", "created_at": t.at, "model": "m", "output": output(t)}
        | {"status": "failed" if t.error else "completed", "error": {"message": t.error} if t.error else None}
        | {"conversation": {"id": SESSION}, "safety_identifier": USER}
        | {"input": [{"role": "user", "content": [{"type": "input_text", "text": t.question}]}]}
        | {"usage": {"input_tokens": 11, "output_tokens": 7}}
        for t in TURNS
    ]


def helicone() -> Records:
    return [
        {"request_id": f"req-{t.number}", "request_created_at": t.iso, "request_user_id": USER, "request_model": "m"}
        | {"request_properties": {"Helicone-Session-Id": SESSION}, "request_body": {"model": "m", "messages": chat(t)}}
        | {"response_body": {"error": {"message": t.error}} if t.error else {"choices": choices(t)}}
        | {"response_status": 504 if t.error else 200, "delay_ms": 1500, "prompt_tokens": 11, "completion_tokens": 7}
        | {"costUSD": 0.002, "feedback_rating": None if t.vote is None else t.vote > 0}
        for t in TURNS
    ]


def dify() -> Records:
    def resources(t: Turn) -> Records:
        return [
            {"position": place + 1, "dataset_id": "ds", "document_id": "d", "segment_id": key, "content": text}
            | {"score": score}
            for place, (key, text, score) in enumerate(t.chunks)
        ]

    return [
        {
            "id": f"msg-{t.number}",
            "conversation_id": SESSION,
            "inputs": {},
            "query": t.question,
            "answer": t.answer or "",
        }
        | {"feedback": {"rating": "like" if t.vote > 0 else "dislike"} if t.vote else None, "created_at": t.at}
        | {"retriever_resources": resources(t), "from_end_user_id": USER, "model_id": "m", "message_tokens": 11}
        | {"answer_tokens": 7, "provider_response_latency": 1.5, "total_price": "0.0020000"}
        | {"status": "error" if t.error else "normal", "error": t.error}
        for t in TURNS
    ]


def anythingllm() -> Records:
    rating = {1: "GOOD", -1: "BAD", None: "--"}
    return [
        {"id": t.number + 1, "workspace": "help", "prompt": t.question, "response": t.answer or "", "username": USER}
        | {"sent_at": t.iso, "rating": rating[t.vote]}
        for t in TURNS
    ]


def anythingllm_chats() -> Records:
    def reply(t: Turn) -> dict[str, Any]:
        sources = [{"id": key, "text": text, "title": "d", "score": score} for key, text, score in t.chunks]
        return {"text": t.answer, "type": "chat", "sources": sources}

    return [
        {"id": t.number + 1, "workspaceId": 3, "prompt": t.question, "response": reply(t), "user_id": USER}
        | {"thread_id": SESSION, "createdAt": t.at * 1000, "feedbackScore": None if t.vote is None else t.vote > 0}
        for t in TURNS
    ]


def webui_messages(t: Turn) -> dict[str, Any]:
    sources = [
        {"source": {"name": "kb"}, "document": [text for _, text, _ in t.chunks]}
        | {"metadata": [{"file_id": "d", "chunk_id": key} for key, _, _ in t.chunks]}
        | {"distances": [score for _, _, score in t.chunks]}
    ]
    asked: dict[str, Any] = {"id": f"u{t.number}", "role": "user", "content": t.question, "timestamp": t.at}
    replied: dict[str, Any] = {
        "id": f"a{t.number}",
        "parentId": f"u{t.number}",
        "role": "assistant",
        "content": t.answer or "",
    }
    replied |= {"model": "m", "sources": sources, "error": {"content": t.error} if t.error else None}
    return {asked["id"]: asked, replied["id"]: replied}


def open_webui() -> Records:
    messages: dict[str, Any] = {}
    for t in TURNS:
        messages |= webui_messages(t)
        if t.vote:
            messages[f"a{t.number}"]["annotation"] = {"rating": t.vote}
    return [{"id": SESSION, "user_id": USER, "title": "x", "chat": {"history": {"messages": messages}}}]


def open_webui_feedback() -> Records:
    return [
        {"id": f"fb-{t.number}", "user_id": USER, "type": "rating", "data": {"rating": t.vote, "reason": None}}
        | {"meta": {"message_id": f"a{t.number}", "chat_id": SESSION, "model_id": "m"}}
        | {"snapshot": {"chat": {"chat": {"history": {"messages": webui_messages(t)}}}}}
        for t in TURNS
        if t.vote
    ]


def langchain_runs() -> Records:
    return [
        {"id": f"run-{t.number}", "name": "rag", "run_type": "chain", "error": t.error}
        | {"inputs": {"question": t.question}, "outputs": {"answer": t.answer} if t.answer else None}
        | {"start_time": t.iso, "end_time": t.iso.replace(":20+", ":21+"), "parent_run_id": None}
        | {"dangerously_allow_filesystem": False, "extra": {"metadata": {"thread_id": SESSION, "user_id": USER}}}
        for t in TURNS
    ]


def langchain_events() -> Records:
    def events(t: Turn) -> Records:
        root, metadata = f"run-{t.number}", {"thread_id": SESSION, "user_id": USER}
        found = [{"id": key, "page_content": text, "metadata": {"score": score}} for key, text, score in t.chunks]
        usage = {"input_tokens": 11, "output_tokens": 7}
        reply = {"content": t.answer, "usage_metadata": usage, "response_metadata": {"model_name": "m"}}
        steps: list[tuple[str, str, list[str], dict[str, Any]]] = [
            ("on_chain_start", root, [], {"input": t.question}),
            ("on_retriever_end", f"r{root}", [root], {"input": {"query": "rewritten"}, "output": found}),
        ]
        if t.answer:
            steps.append(("on_chat_model_end", f"m{root}", [root], {"output": reply}))
            steps.append(("on_chain_end", root, [], {"output": t.answer}))
        else:
            steps.append(("on_chain_error", root, [], {"error": t.error}))
        return [
            {"event": event, "name": "x", "run_id": run, "parent_ids": above, "tags": [], "metadata": metadata}
            | {"data": told}
            for event, run, above, told in steps
        ]

    return [event for t in TURNS for event in events(t)]


def llamaindex_events() -> Records:
    def nodes(t: Turn) -> Records:
        return [
            {"node": {"id_": key, "text": text, "metadata": {"file_name": "d"}}, "score": score}
            for key, text, score in t.chunks
        ]

    def said(t: Turn) -> dict[str, Any]:
        answer = t.answer or ""
        return {"response": answer} if t.number else {"response_gen": [answer[:3], answer[3:]]}  # the latter streamed

    start = [{"id_": "e", "span_id": "q-1", "tags": {}, "timestamp": TURNS[0].iso, "query": {"query_str": "x"}}]
    steps = ("CompactAndRefine.synthesize", "RetrieverQueryEngine.query")  # a chat engine has the first alone
    return start + [
        {"id_": f"e-{t.number}-{step}", "span_id": f"{step}-{t.number}", "timestamp": t.iso.replace("+", f".{place}1+")}
        | {"tags": {"session_id": SESSION, "user_id": USER}, "query": {"query_str": t.question}}
        | {"response": said(t) | {"source_nodes": nodes(t), "metadata": {}}}
        for t in TURNS
        for place, step in enumerate(steps[: 1 + t.number % 2])
    ]


def haystack() -> Records:
    def documents(t: Turn) -> Records:
        return [
            {"id": key, "content": text, "score": score, "doc_id": "d", "blob": None} for key, text, score in t.chunks
        ]

    meta = [{"model": "m", "usage": {"prompt_tokens": 11, "completion_tokens": 7}}]
    return [
        {"question": t.question, "session": SESSION, "user": USER, "ts": t.iso}
        | {"result": {"retriever": {"documents": documents(t)}, "llm": {"replies": [t.answer], "meta": meta}}}
        for t in TURNS
        if t.answer
    ]


def canonical() -> Records:
    return [
        {"interaction_id": f"bot:{t.number}", "session_id": SESSION, "user_id": USER, "asked_at": t.iso, "model": "m"}
        | {"question": t.question, "answer": t.answer, "feedback": t.vote, "error": t.error, "input_tokens": 11}
        | {"retrieved": [{"chunk_id": k, "doc_id": "d", "text": x, "score": s, "rank": 0} for k, x, s in t.chunks]}
        | {"output_tokens": 7, "latency_ms": 1500.0, "cost": 0.002, "stream_cut": False}
        for t in TURNS
    ]


class Shape(NamedTuple):
    """What the log of a tool holds of the turns."""

    write: Callable[[], Records]
    filled: str
    """Which fields it fills, of: session, user, time, chunks, votes, model, tokens, latency, cost, error."""
    turns: tuple[int, ...] = (0, 1, 2, 3)
    is_one_table: bool = True
    """Whether a database holds a turn of it in a row."""


SHAPES = {
    "litellm": Shape(litellm, "session user time model tokens latency cost error"),
    "openai_completions": Shape(openai_completions, "session user time model tokens"),
    "openai_responses": Shape(openai_responses, "session user time chunks model tokens error"),
    "helicone": Shape(helicone, "session user time votes model tokens latency cost error"),
    "dify": Shape(dify, "session user time chunks votes model tokens latency cost error"),
    "anythingllm": Shape(anythingllm, "user time votes"),
    "anythingllm_chats": Shape(anythingllm_chats, "session user time chunks votes"),
    "open_webui": Shape(open_webui, "session user time chunks votes model error", is_one_table=False),
    "open_webui_feedback": Shape(open_webui_feedback, "session user time chunks votes model", (1, 2)),
    "langchain_runs": Shape(langchain_runs, "session user time latency error"),
    "langchain_events": Shape(langchain_events, "session user chunks model tokens error", is_one_table=False),
    "llamaindex_events": Shape(llamaindex_events, "session user time chunks", (0, 1, 2), is_one_table=False),
    "haystack": Shape(haystack, "session user time chunks model tokens", (0, 1, 2)),
    "canonical": Shape(canonical, "session user time chunks votes model tokens latency cost error"),
}


def lines(records: Records) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def pretty(records: Records) -> bytes:
    return json.dumps({"exported": "2026", "data": records}, indent=2).encode()


def table(records: Records, shown: Callable[[Any], str] = json.dumps) -> bytes:
    names = list(dict.fromkeys(name for record in records for name in record))
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=";")
    writer.writerow(names)
    for record in records:
        cells = [record.get(name) for name in names]
        writer.writerow([shown(cell) if isinstance(cell, (dict, list)) else cell for cell in cells])
    return out.getvalue().encode("utf-8-sig")


def parquet(records: Records) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet as pq

    names = list(dict.fromkeys(name for record in records for name in record))
    as_text = [
        {name: json.dumps(cell) if isinstance(cell := record.get(name), (dict, list)) else cell for name in names}
        for record in records
    ]
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(as_text), out)
    return out.getvalue()


def test_every_preset_is_in_the_table() -> None:
    assert sorted(SHAPES) == preset_names()


WRITERS: dict[str, Callable[[Records], bytes]] = {
    "lines": lines,
    "envelope": pretty,
    "csv of json": table,
    "csv of python": lambda records: table(records, repr),
    "parquet of json": parquet,
}
CASES = [
    (name, writer)
    for name, shape in SHAPES.items()
    for writer in WRITERS
    if shape.is_one_table or writer in {"lines", "envelope"}
]


@pytest.mark.parametrize(("name", "writer"), CASES, ids=[": ".join(case) for case in CASES])
def test_a_preset_gives_the_turns(name: str, writer: str, tmp_path: Path, store: LogStore) -> None:
    shape = SHAPES[name]
    (tmp_path / "log").write_bytes(WRITERS[writer](shape.write()))
    report = ingest([tmp_path / "log"], store=store, workers=1)
    assert (report.files[0].format, report.quarantined) == (name, 0)
    assert report.read == report.made + report.skipped_total
    turns = [TURNS[number] for number in shape.turns]
    assert _told(store) == [_expected(turn, set(shape.filled.split())) for turn in turns]


TOLD = """
SELECT question, answer, session_id, user_id IS NOT NULL AND user_id <> $user, epoch_ms(asked_at) // 1000, feedback,
    model, input_tokens, output_tokens, latency_ms, cost, error,
    (SELECT list((chunk_id, text, round(score, 6)) ORDER BY rank) FROM retrieved JOIN chunk_texts USING (text_hash)
     WHERE retrieved.number = interactions.number)
FROM interactions ORDER BY asked_at, interaction_id
"""


def _told(store: LogStore) -> list[tuple[Any, ...]]:
    found = rows(store, TOLD.replace("$user", "?"), [USER])
    return [
        (*row[:-1], [tuple(chunk.values()) if isinstance(chunk, dict) else tuple(chunk) for chunk in row[-1] or []])
        for row in found
    ]


def _expected(turn: Turn, has: set[str]) -> tuple[Any, ...]:
    took = 1000.0 if "cost" not in has else 1500.0
    return (
        turn.question,
        turn.answer,
        SESSION if "session" in has else None,
        "user" in has,
        turn.at if "time" in has else None,
        turn.vote if "votes" in has else None,
        "m" if "model" in has and (turn.answer or "time" in has) else None,
        *((11, 7) if "tokens" in has and (turn.answer or "time" in has) else (None, None)),
        took if "latency" in has else None,
        0.002 if "cost" in has else None,
        turn.error if "error" in has else None,
        list(turn.chunks) if "chunks" in has else [],
    )

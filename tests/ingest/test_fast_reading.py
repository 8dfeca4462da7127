"""A large log read by DuckDB itself gives exactly what the mapping reader gives, odd lines included."""

import json
from pathlib import Path
from typing import Any

import pytest

from ingest import loading
from ingest.adapters.mapping_file import MappingFile, parse_mapping
from ingest.fast_slices import SliceReader
from ingest.loading import ingest
from ingest.log_store import LogStore
from tests.ingest.ingest_support import APP_MAPPING, rows, tables

IN_RECORD = APP_MAPPING.split("feedback:", maxsplit=1)[0] + "  feedback: thumb\n  feedback_comment: note\n"
FEW_FIELDS = """
source: it's
interactions: {where: "event != 'feedback'", id: request_id, question: query, answer: reply, metadata: none}
"""


def turn(number: int, **changes: Any) -> dict[str, Any]:
    record = {
        "request_id": f"r{number}",
        "conv": f"c{number // 3}",
        "uid": f"u{number % 4}@corp.example",
        "ts": f"2026-11-02T08:{number % 60:02d}:00.5Z",
        "query": f"question {number}? mail a{number}@b.example",
        "reply": f"answer {number}.",
        "sources": [
            {"chunk": f"k{(number + at) % 5}", "doc": "d", "text": f"text {(number + at) % 5}", "similarity": at / 3}
            for at in range(number % 4)
        ],
        "llm": "m",
        "prompt_tag": "v1",
        "took_ms": 12.5,
        "tok_in": 7,
        "tok_out": 8,
        "usd": 0.25,
        "err": None,
    }
    return record | changes


def odd_lines() -> list[bytes]:
    records = [
        turn(100, query=None),
        turn(101, ts="2026-11-02T08:00:00"),
        turn(102, ts=1_793_609_970_123),
        turn(103, ts=1_793_609_970.25),
        turn(104, took_ms="fast"),
        turn(105, took_ms="12,5", tok_in=8.0),
        turn(106, sources=None),
        turn(107, sources=[{"text": "only a text"}, "bare"]),
        turn(108, sources=7),
        turn(109, reply=[{"type": "text", "text": "parts"}], err=""),
        turn(110, query="__REDACTED__", reply="x"),
        turn(111, extra={"cc": "who@corp.example"}, other=None),
        turn(112, conv=4711, uid=None, llm=""),
        turn(113, query="[1] in brackets", reply="  "),
        turn(
            114,
            query="Grüße „Café“ 日本",
            sources=[{"chunk": "é", "doc": "", "text": "  spaced   out ", "similarity": "0.5"}],
        ),
        turn(115, request_id=""),
        {"event": "feedback", "request_id": "r3", "thumb": "down", "note": "n@b.example", "ts": "2026-11-02T09:00:00Z"},
        {"request_id": "bare", "query": "only a question"},
        turn(116, thumb="up", note="fine"),
        turn(117, thumb="down"),
        turn(3, reply="a second state"),
        turn(118, tok_out=2**70),
    ]
    broken = [
        b'{"request_id": "cut',
        b"",
        b"   ",
        b"[1]",
        b'{"request_id": "s", "query": "\\ud83d"}',
        b'{"a": NaN}',
        b"\xff",
    ]
    return [*(json.dumps(record, ensure_ascii=False).encode() for record in records), *broken]


def both_ways(
    log: Path, mapping: MappingFile, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    found = []
    for name, limit in (("slow", 1 << 40), ("fast", 0)):
        monkeypatch.setattr(loading, "FAST_BYTES", limit)
        store = LogStore(folder / name / "logs.duckdb")
        store.path.parent.mkdir(parents=True)
        (store.path.parent / "salt").write_text("ab" * 32, encoding="ascii")
        report = ingest([log], store=store, mapping=mapping, workers=1)
        account = report.model_dump(
            include={"read", "made", "skipped", "quarantined", "interactions", "feedback", "redactions"}
        )
        found.append(
            (tables(store), {**account, "hash": rows(store, "SELECT content_hash FROM interactions ORDER BY ALL")})
        )
    return found


@pytest.mark.parametrize(
    "written", [APP_MAPPING, IN_RECORD, FEW_FIELDS], ids=["votes apart", "votes in the record", "few fields"]
)
@pytest.mark.parametrize("has_odd_lines", [False, True], ids=["clean", "with odd lines"])
def test_reading_fast_gives_the_same_tables_and_account(
    written: str,
    has_odd_lines: bool,  # noqa: FBT001 - a parameter of the test
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    filled: list[bool] = []
    read = SliceReader.read

    def watched(reader: SliceReader, part: Any) -> Any:
        block = read(reader, part)
        filled.append(block is not None)
        return block

    monkeypatch.setattr(SliceReader, "read", watched)
    lines = [json.dumps(turn(number)).encode() for number in range(60)]
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"\n".join([*lines[:30], *(odd_lines() if has_odd_lines else []), *lines[30:]]) + b"\n")
    slow, fast = both_ways(log, parse_mapping(written, "a test"), tmp_path, monkeypatch)
    assert filled == [True]
    for name, found in slow[0].items():
        assert fast[0][name] == found, name
    assert fast[1] == slow[1]


def test_a_log_that_is_odd_all_over_is_left_to_the_mapping_reader(
    tmp_path: Path, app_mapping: MappingFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(json.dumps(turn(n, ts="2026-11-02T08:00:00")) for n in range(20)), encoding="utf-8")
    slow, fast = both_ways(log, app_mapping, tmp_path, monkeypatch)
    assert slow == fast

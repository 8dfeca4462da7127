"""Ingest is idempotent, order-free, complete in its account, and keeps what it cannot read."""

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
import zstandard

from evalsets.errors import BadInputError
from ingest.adapters.mapping_file import MappingFile, parse_mapping
from ingest.ingest_report import CautionAccount, IngestReport
from ingest.loading import ingest
from ingest.log_store import LogStore
from tests.ingest.ingest_support import rows, tables, write_lines


def turn(number: int, **changes: Any) -> dict[str, Any]:
    record = {
        "request_id": f"r{number}",
        "conv": f"c{number // 3}",
        "uid": f"u{number % 4}",
        "ts": f"2026-11-02T08:{number % 60:02d}:00Z",
        "query": f"question {number}?",
        "reply": f"answer {number}.",
        "sources": [{"chunk": f"k{number % 5}", "doc": "d", "text": f"text {number % 5}", "similarity": 0.5}],
        "took_ms": 12.5,
    }
    return record | changes


def test_ingesting_twice_changes_nothing(tmp_path: Path, app_mapping: MappingFile, store: LogStore) -> None:
    log = write_lines(tmp_path / "log.jsonl", [turn(number) for number in range(20)])
    ingest([log], store=store, mapping=app_mapping, workers=1)
    before = tables(store)
    again = ingest([log], store=store, mapping=app_mapping, workers=1)
    log.write_bytes(log.read_bytes() + b"\n")
    reread = ingest([log], store=store, mapping=app_mapping, workers=1)
    assert tables(store) == before
    assert [report.interactions.unchanged for report in (again, reread)] == [20, 20]
    assert (again.files[0].is_unchanged, reread.files[0].is_unchanged) == (True, False)


def test_the_order_of_files_does_not_matter(tmp_path: Path, app_mapping: MappingFile) -> None:
    votes = [{"event": "feedback", "request_id": f"r{n}", "thumb": "up", "ts": "2026-11-02T09:00:00Z"} for n in (1, 5)]
    files = [
        write_lines(tmp_path / "a.jsonl", [turn(number) for number in range(6)]),
        write_lines(tmp_path / "b.jsonl", [turn(number) for number in range(4, 9)]),
        write_lines(tmp_path / "votes.jsonl", votes),
    ]
    found: list[Any] = []
    for order in (files, files[::-1], [files[2], files[0], files[1]]):
        store = LogStore(tmp_path / f"store{len(found)}" / "logs.duckdb")
        store.path.parent.mkdir()
        (store.path.parent / "salt").write_text("aa" * 32, encoding="ascii")
        for file in order:
            ingest([file], store=store, mapping=app_mapping, workers=1)
        found.append(tables(store))
    assert found[0] == found[1] == found[2]


def test_a_newer_state_of_an_interaction_replaces_the_older(tmp_path: Path, store: LogStore) -> None:
    mapping = parse_mapping(
        "source: s\ninteractions: {id: id, question: q, answer: a, updated_at: at,"
        " retrieved: {list: chunks, chunk_id: id}}",
        "a test",
    )
    old = {"id": 1, "q": "why", "a": "partial", "at": 1_790_000_000, "chunks": [{"id": "x"}]}
    new = old | {"a": "whole", "at": 1_790_000_900, "chunks": [{"id": "y"}, {"id": "z"}]}
    for records in ([old], [new], [old, old]):
        report = ingest([write_lines(tmp_path / "l.jsonl", records)], store=store, mapping=mapping, workers=1)
    assert (report.interactions.older, report.interactions.repeated) == (1, 1)
    assert rows(store, "SELECT answer FROM interactions") == [("whole",)]
    assert rows(store, "SELECT chunk_id, rank FROM retrieved ORDER BY rank") == [("y", 0), ("z", 1)]


def test_what_was_retrieved_carries_the_number_of_its_interaction_which_stays(tmp_path: Path, store: LogStore) -> None:
    mapping = parse_mapping(
        "source: s\ninteractions: {id: id, question: q, answer: a, retrieved: {list: chunks, chunk_id: id}}", "a test"
    )
    numbers: list[Any] = []
    for first, last, words in ((0, 4, "a"), (3, 9, "b"), (0, 9, "c")):
        records = [{"id": n, "q": "why", "a": f"{words} {n}", "chunks": [{"id": words}]} for n in range(first, last)]
        ingest([write_lines(tmp_path / f"{words}.jsonl", records)], store=store, mapping=mapping, workers=1)
        numbers.append(dict(rows(store, "SELECT interaction_id, number FROM interactions")))
        found = rows(store, "SELECT answer, chunk_id FROM interactions JOIN retrieved USING (number)")
        assert len(found) == last
        assert all(answer.startswith(chunk) for answer, chunk in found)
    assert [len(set(known.values())) for known in numbers] == [4, 9, 9]
    assert numbers[0].items() <= numbers[1].items()
    assert numbers[1] == numbers[2]


def test_a_vote_key_first_seen_after_25000_rows_is_kept(
    tmp_path: Path, app_mapping: MappingFile, store: LogStore
) -> None:
    vote = {"event": "feedback", "request_id": "r3", "thumb": "down", "ts": "2026-11-02T09:00:00Z"}
    log = write_lines(tmp_path / "log.jsonl", [*(turn(number) for number in range(25_000)), vote])
    report = ingest([log], store=store, mapping=app_mapping, workers=1)
    assert (report.feedback.bound, report.feedback.unbound) == (1, 0)
    assert rows(store, "SELECT interaction_id FROM interactions WHERE feedback = -1") == [("app:r3",)]


def test_bad_lines_are_quarantined_with_their_place_and_reason_and_the_rest_loads(
    tmp_path: Path, app_mapping: MappingFile, store: LogStore
) -> None:
    good = [json.dumps(turn(number)).encode() for number in range(6)]
    bad = {
        b'{"request_id": "x", "query": ': "not JSON",
        b"[1, 2]": "not an object",
        json.dumps(turn(90, query=None)).encode(): "no question",
        json.dumps(turn(91, request_id=None)).encode(): "no id",
        json.dumps(turn(92, took_ms="fast")).encode(): "latency_ms 'fast' is not a number",
        json.dumps(turn(93, ts="yesterday")).encode(): "asked_at 'yesterday' is not a time",
        json.dumps(turn(94, sources=7)).encode(): "retrieved",
        json.dumps(turn(95, sources=[{"chunk": "k", "similarity": "high"}])).encode(): "retrieved score 'high'",
    }
    lines = [line for pair in zip([*good, b"", b""], bad, strict=True) for line in pair]
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"\n".join(lines) + b"\n")
    report = ingest([log], store=store, mapping=app_mapping, workers=1)
    assert (report.interactions.new, report.quarantined, report.read) == (6, 8, 14)
    assert report.read == report.made + report.skipped_total + report.quarantined
    found = {reject.line: reject.reason for reject in report.rejects}
    assert sorted(found) == list(range(2, 17, 2))
    assert all(reason in found[2 * at + 2] for at, reason in enumerate(bad.values()))


def test_what_python_writes_though_json_forbids_it_is_mended_and_said(
    tmp_path: Path, app_mapping: MappingFile, store: LogStore
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(
        b'{"request_id": "a", "query": "broken \\ud83d emoji", "took_ms": NaN}\n'
        b'{"request_id": "b", "query": "bad \xff byte", "request_id": "c"}\n'
        b'{"request_id": 9007199254740993, "query": "big"}\n'
    )
    report = ingest([log], store=store, mapping=app_mapping, workers=1)
    assert [(caution.code, caution.count) for caution in report.cautions if caution.code == "mended_text"] == [
        ("mended_text", 2)
    ]
    assert rows(store, "SELECT interaction_id, question FROM interactions ORDER BY 1") == [
        ("app:9007199254740993", "big"),
        ("app:a", "broken � emoji"),
        ("app:c", "bad � byte"),
    ]


def test_damaged_archives_give_what_they_hold_and_one_reject(
    tmp_path: Path, app_mapping: MappingFile, store: LogStore
) -> None:
    source = random.Random(3)  # noqa: S311 - made-up text
    noise = [turn(number, reply=str(source.getrandbits(4000))) for number in range(3000)]
    content = write_lines(tmp_path / "whole.jsonl", noise).read_bytes()
    (tmp_path / "two.jsonl.gz").write_bytes(gzip.compress(content[:1000]) + gzip.compress(content[1000:]))
    cut_gzip = gzip.compress(content)
    (tmp_path / "cut.gz").write_bytes(cut_gzip[: len(cut_gzip) // 2])
    cut_zstd = zstandard.compress(content)
    (tmp_path / "cut.zst").write_bytes(cut_zstd[: len(cut_zstd) // 2])
    whole = ingest([tmp_path / "two.jsonl.gz"], store=store, mapping=app_mapping, workers=1)
    assert (whole.interactions.new, whole.quarantined) == (3000, 0)
    cut = ingest([tmp_path / "cut.gz"], store=store, mapping=app_mapping, workers=1)
    assert cut.quarantined >= 1
    assert cut.interactions.unchanged > 500
    ingest([tmp_path / "cut.zst"], store=store, mapping=app_mapping, workers=1)
    assert rows(store, "SELECT count(*) FROM interactions") == [(3000,)]


def test_docker_wrappers_and_prefixes_are_looked_through(
    tmp_path: Path, app_mapping: MappingFile, store: LogStore
) -> None:
    inner = [json.dumps(turn(number)) for number in range(4)]
    docker = [{"log": f"{line}\n", "stream": "stdout", "time": "2026-11-02T08:00:00.123456789Z"} for line in inner]
    docker.insert(2, {"log": "Traceback (most recent call last):\n", "stream": "stderr", "time": "x"})
    report = ingest([write_lines(tmp_path / "d.log", docker)], store=store, mapping=app_mapping, workers=1)
    assert (report.interactions.new, report.skipped) == (4, {"log text without a record": 1})
    prefixed = tmp_path / "p.log"
    prefixed.write_text("\n".join(f"2026-11-02T08:00:00Z stdout F {line}" for line in inner), encoding="utf-8")
    again = ingest([prefixed], store=store, mapping=app_mapping, workers=1)
    assert again.interactions.unchanged == 4


def test_folders_globs_and_hive_folders_are_read_and_their_columns_added(tmp_path: Path, store: LogStore) -> None:
    for day in (1, 2):
        folder = tmp_path / "logs" / f"day=2026-11-0{day}" / "tenant=acme"
        folder.mkdir(parents=True)
        write_lines(folder / "part.jsonl", [{"id": day, "q": f"question {day}"}])
    (tmp_path / "logs" / "_SUCCESS").write_text("", encoding="utf-8")
    (tmp_path / "logs" / "tmp").mkdir()
    (tmp_path / "logs" / "tmp" / "x.jsonl").write_text("rubbish", encoding="utf-8")
    mapping = parse_mapping("source: s\ninteractions: {id: id, question: q, session_id: tenant}", "a test")
    report = ingest([tmp_path / "logs"], store=store, mapping=mapping, workers=1)
    assert (len(report.files), report.interactions.new) == (2, 2)
    glob = ingest([str(tmp_path / "logs" / "*" / "*" / "*.jsonl")], store=store, mapping=mapping, workers=1)
    assert glob.interactions.unchanged == 2
    assert rows(store, "SELECT DISTINCT session_id FROM interactions") == [("acme",)]


def test_a_path_that_leads_nowhere_is_a_warning_and_with_strict_an_error(tmp_path: Path, store: LogStore) -> None:
    log = write_lines(tmp_path / "l.jsonl", [{"id": 1, "q": "why", "err": None}])
    mapping = parse_mapping("source: s\ninteractions: {id: id, question: q, answer: anwser, error: err}", "a test")
    with pytest.raises(BadInputError, match="no record has 'anwser'"):
        ingest([log], store=store, mapping=mapping, strict=True, workers=1)
    assert not store.exists or rows(store, "SELECT count(*) FROM interactions") == [(0,)]
    report = ingest([log], store=store, mapping=mapping, workers=1)
    assert [caution.code for caution in report.cautions if "anwser" in caution.message] == ["path_missing:anwser"]


def test_what_is_of_no_known_format_is_one_clear_error(tmp_path: Path, store: LogStore) -> None:
    prose = tmp_path / "prose.txt"
    prose.write_text("> Entering new chain\nno record here\n", encoding="utf-8")
    with pytest.raises(BadInputError, match="holds no records"):
        ingest([prose], store=store)
    unknown = write_lines(tmp_path / "u.jsonl", [{"frage": "?", "antwort": "!"}])
    with pytest.raises(BadInputError, match="errata mapping suggest"):
        ingest([unknown], store=store)
    with pytest.raises(BadInputError, match="no such file"):
        ingest([tmp_path / "missing.jsonl"], store=store)
    with pytest.raises(BadInputError, match="no format is called 'langfuze'"):
        ingest([unknown], store=store, format="langfuze")


def test_suspicious_session_ids_are_said(tmp_path: Path, app_mapping: MappingFile) -> None:
    sessions = {"session_constant": ["one"] * 30, "session_per_request": [f"s{number}" for number in range(30)]}
    for code, of_turn in sessions.items():
        log = write_lines(tmp_path / f"{code}.jsonl", [turn(number, conv=of_turn[number]) for number in range(30)])
        report = ingest([log], store=LogStore(tmp_path / code / "l.duckdb"), mapping=app_mapping, workers=1)
        assert code in [caution.code for caution in report.cautions]


def test_turns_that_share_a_time_or_come_out_of_order_are_said(tmp_path: Path, app_mapping: MappingFile) -> None:
    at = "2026-03-02T09:{:02d}:00Z".format
    logs = {
        "turns_share_a_time": [turn(n, conv="one" if n < 3 else "two", ts=at(5)) for n in range(4)],
        "turns_out_of_order": [turn(n, conv="one", ts=at(9 - n)) for n in range(3)],
        "": [turn(n, conv="one", ts=at(n)) for n in range(3)],
    }
    for code, records in logs.items():
        log = write_lines(tmp_path / f"{code}.jsonl", records)
        report = ingest([log], store=LogStore(tmp_path / f"{code}-store" / "l.duckdb"), mapping=app_mapping, workers=1)
        assert [caution.code for caution in report.cautions if "turns" in caution.code] == [code] * bool(code)
        assert all("2 of " in caution.message for caution in report.cautions if "turns" in caution.code)


def test_many_parts_read_by_worker_processes_give_what_one_process_gives(
    tmp_path: Path, app_mapping: MappingFile
) -> None:
    records = [turn(number, reply="x" * 900) for number in range(14_000)]
    lines = [json.dumps(record).encode() for record in records]
    lines[7000] = b'{"request_id": "cut'
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"\n".join(lines))
    found: list[Any] = []
    for workers in (1, 2):
        store = LogStore(tmp_path / f"w{workers}" / "logs.duckdb")
        store.path.parent.mkdir()
        (store.path.parent / "salt").write_text("ab" * 32, encoding="ascii")
        report = ingest([log], store=store, mapping=app_mapping, workers=workers)
        assert (report.read, report.interactions.new, report.quarantined) == (14_000, 13_999, 1)
        assert [reject.line for reject in report.rejects] == [7001]
        found.append(tables(store))
    assert found[0] == found[1]


def test_conversation_documents_of_the_public_set_load_whole(shared_folder: Path, store: LogStore) -> None:
    mapping = Path(__file__).parent / "mappings" / "mtragun.yaml"
    report = ingest(
        [shared_folder / "data" / "rag_sessions_mtragun_dev.jsonl"], store=store, mapping=mapping, workers=1
    )
    assert (report.read, report.made, report.quarantined) == (239, 239, 0)
    assert rows(store, "SELECT count(*), count(DISTINCT session_id), count(answer) FROM interactions") == [
        (1060, 239, 821)
    ]


def test_mapped_paths_that_lead_nowhere_are_told_in_one_line() -> None:
    codes = ("path_missing:conv", "naive_times", "path_missing:uid")
    report = IngestReport(cautions=[CautionAccount(code=code, message=f"about {code}", count=2) for code in codes])
    assert report.warnings() == [
        "about naive_times (2 times)",
        "mapped paths that lead nowhere in any record of a file: 'conv', 'uid'; --strict makes this an error",
    ]


def test_a_record_with_two_faults_on_a_line_of_two_records_is_quarantined_once(tmp_path: Path, store: LogStore) -> None:
    def batch(*spans: object) -> dict[str, Any]:
        return {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}

    whole = {"traceId": "0a" * 16, "spanId": "0b" * 8}
    log = tmp_path / "log.json"
    log.write_text(json.dumps([batch(whole, "no span", 5), batch(whole)]), encoding="utf-8")
    report = ingest([log], store=store, format="otlp", workers=1)
    assert (report.read, report.quarantined, len(report.rejects)) == (2, 1, 2)

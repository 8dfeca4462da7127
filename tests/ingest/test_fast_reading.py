"""A large log read by DuckDB itself gives exactly what the mapping reader gives, odd lines included."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from ingest import file_reading
from ingest.adapters.mapping_file import MappingFile, parse_mapping
from ingest.fast import chunks
from ingest.fast.slices import SliceReader
from ingest.loading import ingest
from ingest.log_store import LogStore
from ingest.settings import PrivacySettings
from tests.ingest.ingest_support import APP_MAPPING, rows, tables

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}
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
        turn(200, request_id=10**25 + 1),
        turn(201, request_id=10**25 + 2, conv=-(2**70), uid=10**22),
        turn(202, sources=[{"chunk": 10**25 + at, "doc": "d", "text": "t"} for at in range(2)]),
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
        turn(119, sources="é" * 300),  # DuckDB's message about it may end inside a character
        turn(120, sources="xé" * 300),
        turn(121, sources="xxé" * 300),
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


def watched_slices(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Note of each slice whether it was read fast."""
    fast_blocks: list[bool] = []
    read = SliceReader.read

    def watched(reader: SliceReader, part: Any) -> Any:
        block = read(reader, part)
        fast_blocks.append(block is not None)
        return block

    monkeypatch.setattr(SliceReader, "read", watched)
    return fast_blocks


def both_ways(
    log: Path, mapping: MappingFile, folder: Path, monkeypatch: pytest.MonkeyPatch, **options: Any
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    found = []
    for name, limit in (("slow", 1 << 40), ("fast", 0)):
        monkeypatch.setattr(file_reading, "FAST_BYTES", limit)
        store = LogStore(folder / name / "logs.duckdb")
        store.path.parent.mkdir(parents=True)
        (store.path.parent / "salt").write_text("ab" * 32, encoding="ascii")
        report = ingest([log], store=store, mapping=mapping, **{"workers": 1, **options})
        account = report.model_dump(
            include={"read", "made", "skipped", "quarantined", "interactions", "feedback", "redactions"}
        )
        found.append(
            (tables(store), {**account, "hash": rows(store, "SELECT content_hash FROM interactions ORDER BY ALL")})
        )
    return found


def assert_same_store(slow: tuple[dict[str, Any], dict[str, Any]], fast: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """Compare table by table, so that a failure names the one that differs, then the accounts."""
    for name, found in slow[0].items():
        assert fast[0][name] == found, name
    assert fast[1] == slow[1]


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
    fast_blocks = watched_slices(monkeypatch)
    lines = [json.dumps(turn(number)).encode() for number in range(60)]
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"\n".join([*lines[:30], *(odd_lines() if has_odd_lines else []), *lines[30:]]) + b"\n")
    slow, fast = both_ways(log, parse_mapping(written, "a test"), tmp_path, monkeypatch)
    assert fast_blocks == [True]
    assert_same_store(slow, fast)


def test_a_log_that_is_odd_all_over_is_left_to_the_mapping_reader(
    tmp_path: Path, app_mapping: MappingFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(json.dumps(turn(n, ts="2026-11-02T08:00:00")) for n in range(20)), encoding="utf-8")
    slow, fast = both_ways(log, app_mapping, tmp_path, monkeypatch)
    assert slow == fast


NESTED = """
source: nested
interactions:
  id: meta.request
  session_id: meta.session
  asked_at: meta.times.asked
  question: input.text
  answer: output.text
  retrieved: {list: output.found, chunk_id: node.id, doc_id: node.doc, text: node.text, score: score}
  model: {const: m-1}
  prompt_version: {path: meta.stage, map: {a: first, b: second}}
  latency_ms: {path: meta.times.took, unit: s}
  cost: {const: 0.5}
"""


def nested_turn(number: int, **changes: Any) -> dict[str, Any]:
    nodes = [{"node": {"id": f"k{at}", "doc": "d", "text": f"text {at}"}, "score": at / 4} for at in range(number % 3)]
    times = {"asked": f"2026-11-02T08:{number % 60:02d}:00", "took": number / 8}
    record = {
        "meta": {"request": f"r{number}", "session": f"s{number // 3}", "times": times, "stage": "ab"[number % 2]},
        "input": {"text": f"question {number}?"},
        "output": {"text": f"answer {number}.", "found": nodes},
        "kept": number,
    }
    return record | changes


def odd_nested_turns() -> list[dict[str, Any]]:
    return [
        nested_turn(100, input='{"text": "an object in a text?"}'),
        nested_turn(101, **{"input.text": "a dotted key?"}),
        nested_turn(102, output=None),
        nested_turn(103, output={"text": "x", "found": [{"node": {"id": "k", "doc": "d", "text": ["a", "b"]}}]}),
        nested_turn(104, output={"text": "x", "found": [{"node": "k1"}]}),
        nested_turn(105, meta={"request": "r105", "times": {"asked": 1_793_609_970, "took": "1,5"}, "stage": True}),
        nested_turn(106, input={"text": "  "}),
        nested_turn(107, output={"text": "x", "found": [{"node": {"id": "k", "text": "null"}, "score": "0.5"}]}),
    ]


@pytest.mark.parametrize("packing", ["plain", "gzip", "zstd"])
@pytest.mark.parametrize("has_odd_lines", [False, True], ids=["clean", "with odd lines"])
def test_dotted_paths_constants_and_packed_files_are_read_fast_to_the_same_tables(
    packing: str,
    has_odd_lines: bool,  # noqa: FBT001 - a parameter of the test
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fast_blocks = watched_slices(monkeypatch)
    records = [nested_turn(number) for number in range(60)]
    records[30:30] = odd_nested_turns() if has_odd_lines else []
    log = tmp_path / "log.jsonl"
    log.write_bytes(PACKERS[packing](b"".join(json.dumps(record).encode() + b"\n" for record in records)))
    slow, fast = both_ways(log, parse_mapping(NESTED, "a test"), tmp_path, monkeypatch)
    assert fast_blocks == [True]
    assert_same_store(slow, fast)


@pytest.mark.parametrize("remembered", [3, 100_000])
def test_a_log_of_many_slices_gives_the_same_tables_and_each_text_once(
    remembered: int, tmp_path: Path, app_mapping: MappingFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_reading, "SLICE_BYTES", 2000)
    monkeypatch.setattr(chunks, "_MOST_PASSAGES", remembered)
    fast_blocks = watched_slices(monkeypatch)
    lines = [json.dumps(turn(number)).encode() for number in range(60)]
    lines[20:20] = odd_lines()
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"\n".join(lines))
    slow, fast = both_ways(log, app_mapping, tmp_path, monkeypatch, workers=2)
    assert fast_blocks.count(True) > 5
    assert_same_store(slow, fast)


KEPT: dict[str, list[dict[str, Any]]] = {
    "none": [{}],
    "null only": [{"extra": None}],
    "one line only": [{}, {}, {"extra": 1}],
    "null beside a value": [{"extra": None, "more": {"deep": None}}, {"extra": None}],
    "in place of a mapped key": [{"extra": 1, "llm": None}, {"extra": None}],
    "inside a chunk": [{"sources": [{"chunk": "k", "doc": "d", "text": "t", "similarity": 0.5, "page": 3}]}],
    "a structure in a mapped key": [{"reply": {"parts": 1}}],
    "a string that looks like a key": [{"query": 'what is "a": 1?'}],
}


@pytest.mark.parametrize("spacing", [(",", ":"), (", ", ": "), (" , ", " : ")], ids=["compact", "spaced", "wide"])
@pytest.mark.parametrize("kind", KEPT)
def test_what_nothing_maps_is_kept_however_rare_it_is_and_null_is_nothing(
    kind: str, spacing: tuple[str, str], tmp_path: Path, app_mapping: MappingFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast_blocks = watched_slices(monkeypatch)
    changes = KEPT[kind]
    records = [turn(number, **(changes[number % 8] if number % 8 < len(changes) else {})) for number in range(40)]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(record, separators=spacing) + "\n" for record in records), encoding="utf-8")
    slow, fast = both_ways(log, app_mapping, tmp_path, monkeypatch)
    assert fast_blocks == [True]
    assert_same_store(slow, fast)
    kept = rows(LogStore(tmp_path / "fast" / "logs.duckdb"), "SELECT count(metadata) FROM interactions")
    assert kept == [(5 if any(change.get("extra") or change.get("more") for change in changes) else 0,)]


def test_the_keys_of_a_log_with_nothing_unmapped_are_only_counted(
    tmp_path: Path, app_mapping: MappingFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[bool] = []

    def look(_: SliceReader) -> bool:
        looked.append(True)
        return True

    monkeypatch.setattr(SliceReader, "_has_rests", look)
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(turn(number)) + "\n" for number in range(60)), encoding="utf-8")
    both_ways(log, app_mapping, tmp_path, monkeypatch)
    assert not looked
    with log.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(turn(60, extra=1)) + "\n")
    (tmp_path / "again").mkdir()
    both_ways(log, app_mapping, tmp_path / "again", monkeypatch)
    assert looked


@pytest.mark.parametrize(
    ("mapped", "fast", "kept"),
    [("prompt_version: team", 2, 40), ("prompt_version: prompt_tag", 2, 40), ("cost: team", 0, 0)],
    ids=["mapped", "unmapped", "not as a text"],
)
def test_what_folders_say_is_read_fast_to_the_same_tables(
    mapped: str, fast: int, kept: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast_blocks = watched_slices(monkeypatch)
    changes: list[dict[str, Any]] = [
        {},
        {"team": "b"},
        {"team": None},
        {"kept": 1, "day": None},
        {"day": "x", "a": 2.5},
    ]
    log = tmp_path / "logs" / "day=2026-11-02" / "team=it's"
    log.mkdir(parents=True)
    for name, kinds in (("plain", 1), ("mixed", 5)):
        records = [turn(number, request_id=f"{name}{number}", **changes[number % kinds]) for number in range(20)]
        written = "".join(json.dumps(record) + "\n" for record in records)
        (log / f"{name}.jsonl").write_text(written, encoding="utf-8")
    mapping = parse_mapping(f"source: x\ninteractions: {{id: request_id, question: query, {mapped}}}\n", "a test")
    assert_same_store(*both_ways(tmp_path / "logs", mapping, tmp_path, monkeypatch))
    assert fast_blocks == [True] * fast
    store = LogStore(tmp_path / "fast" / "logs.duckdb")
    assert rows(store, "SELECT count(*) FROM interactions WHERE contains(metadata, 'day')") == [(kept,)]


SPARE = {
    "no document": "{list: sources, chunk_id: chunk, text: text, score: similarity}",
    "no chunk id": "{list: sources, text: text}",
    "document in metadata, no chunk id": "{list: sources, doc_id: metadata.path, text: text}",
}


def spare_turn(number: int) -> dict[str, Any]:
    """Return a turn whose chunks have ids in one of many places, or none."""
    sources: list[dict[str, Any]] = turn(number)["sources"]
    places: list[Any] = [
        {},
        {"metadata": None},
        {"metadata": {"url": " é.html", "node_id": f" n{number % 3} "}},
        {"metadata": {"source": "a.md", "doc_id": "", "path": "p", "id": None, "_id": 7}},
        {"metadata": {"doc_id": ["a"], "id": {"b": 1}}},
        {"text": None},
        {"text": "", "chunk": None, "metadata": {}},
    ]
    extra = places[number % len(places)] if number % 3 == 0 else {}
    return turn(number, sources=[chunk | extra for chunk in sources])


@pytest.mark.parametrize("retrieved", SPARE.values(), ids=SPARE)
def test_chunks_without_a_mapped_id_or_document_are_read_fast_to_the_same_tables(
    retrieved: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast_blocks = watched_slices(monkeypatch)
    log = tmp_path / "log.jsonl"
    records = [spare_turn(number) for number in range(96)]
    if "metadata" not in retrieved:
        records.append(turn(99, sources=[{"chunk": "k", "text": "t", "metadata": "no object"}]))
    log.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    written = APP_MAPPING.split("  retrieved:", maxsplit=1)
    mapping = parse_mapping(f"{written[0]}  retrieved: {retrieved}\n{written[1].split(chr(10), 1)[1]}", "a test")
    slow, fast = both_ways(log, mapping, tmp_path, monkeypatch)
    assert fast_blocks == [True]
    assert_same_store(slow, fast)
    origins = rows(LogStore(tmp_path / "fast" / "logs.duckdb"), "SELECT DISTINCT id_origin FROM retrieved ORDER BY ALL")
    assert len(origins) == (1 if "chunk_id" in retrieved else 2)


@pytest.mark.parametrize("fields", ["question: query", "session_id: conv, asked_at: ts, question: query"])
def test_ids_that_have_to_be_derived_are_the_same_read_fast(
    fields: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast_blocks = watched_slices(monkeypatch)
    times = ["2026-11-02T08:00:00Z", "2026-11-02T08:00:00.25+01:00", None, "1793609970"]
    records = [turn(number, ts=times[number % 4]) for number in range(40)] + [turn(40, query=None)]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    mapping = parse_mapping(f"source: x\ninteractions: {{{fields}, answer: reply}}\n", "a test")
    slow, fast = both_ways(log, mapping, tmp_path, monkeypatch)
    assert fast_blocks == [True]
    assert_same_store(slow, fast)


def test_patterns_of_ones_own_are_replaced_in_a_log_read_fast(
    tmp_path: Path, app_mapping: MappingFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast_blocks = watched_slices(monkeypatch)
    records = [turn(number, reply=f"see TCK-{number} or write to b@c.example", kept="TCK-7") for number in range(40)]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    privacy = PrivacySettings(patterns={"ticket": r"TCK-\d+"})
    slow, fast = both_ways(log, app_mapping, tmp_path, monkeypatch, privacy=privacy)
    assert fast_blocks == [True]
    assert_same_store(slow, fast)
    assert fast[1]["redactions"]["ticket"] == 80


def test_ids_beyond_64_bits_keep_every_digit(tmp_path: Path, app_mapping: MappingFile, store: LogStore) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(json.dumps(turn(at, request_id=10**25 + at)) for at in range(3)), encoding="utf-8")
    ingest([log], store=store, mapping=app_mapping, workers=1)
    assert rows(store, "SELECT interaction_id FROM interactions ORDER BY 1") == [
        (f"app:{10**25 + at}",) for at in range(3)
    ]

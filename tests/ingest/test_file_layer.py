"""Files in layouts nobody has shown us hold the same records, and every record in them is accounted for."""

import csv
import gzip
import io
import json
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from evalsets.errors import BadInputError
from ingest.adapters.mapping_file import MappingFile, parse_mapping
from ingest.loading import ingest
from ingest.log_store import LogStore
from ingest.reading import blocks, digesting, probing
from ingest.reading.blocks import LinePart, line_parts, read_part, with_content
from ingest.reading.digesting import digest_of_all, file_digest
from ingest.reading.sources import SourceFile
from ingest.reading.unwrapping import Layers
from tests.ingest.ingest_support import APP_MAPPING, read, rows
from tests.ingest.test_ingest import turn

TURNS = [turn(number) for number in range(8)]
LINES = [json.dumps(record) for record in TURNS]
LONG = [turn(number, reply=f"answer {number}. " + "and so on " * 6000) for number in range(8)]
IDS = [(f"app:r{number}",) for number in range(8)]
ASKED = "SELECT interaction_id FROM interactions ORDER BY 1"


def pretty(value: Any) -> str:
    return json.dumps(value, indent=2)


def frame(orient: str, *, by: Callable[[int], str] = str) -> dict[str, Any]:
    if orient == "index":
        return {by(number): record for number, record in enumerate(TURNS)}
    return {name: {by(number): record[name] for number, record in enumerate(TURNS)} for name in TURNS[0]}


def docker(text: str, at: int = 16_384) -> str:
    pieces = [text[start : start + at] for start in range(0, len(text), at)]
    return "\n".join(json.dumps({"log": piece, "stream": "stdout", "time": "2026-11-02T08:00:00Z"}) for piece in pieces)


def table(delimiter: str = ",", **dialect: Any) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, **dialect)
    writer.writerows([TURNS[0].keys(), *([*map(cell, record.values())] for record in TURNS)])
    return out.getvalue()


def cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list) else value


def cri(line: str, at: int = 100) -> str:
    pieces = [line[start : start + at] for start in range(0, len(line), at)]
    marks = ["P"] * (len(pieces) - 1) + ["F"]
    prefix = "2026-11-02T08:00:00.123456789Z"
    noise = f"{prefix} stderr F warming up"  # of another stream, between the pieces
    return f"\n{noise}\n".join(f"{prefix} stdout {mark} {piece}" for mark, piece in zip(marks, pieces, strict=True))


def of_fluent_bit(line: str) -> str:
    pieces = [line[start : start + 100] for start in range(0, len(line), 100)]
    marks = ["P"] * (len(pieces) - 1) + ["F"]
    wrapped = ({"stream": "stdout", "logtag": mark, "log": piece} for mark, piece in zip(marks, pieces, strict=True))
    return "\n".join(map(json.dumps, wrapped))


LAYOUTS: dict[str, str | bytes] = {
    "envelope under a name of its own": pretty({"took": 3, "my_turns": TURNS, "next": None}),
    "envelope three levels down": json.dumps({"status": 200, "response": {"body": {"turns": TURNS}}}),
    "an envelope a line": "\n".join(json.dumps({"page": at, "data": TURNS[at : at + 2]}) for at in range(0, 8, 2)),
    "pretty envelope larger than the first look": pretty({"meta": {"n": [1]}, "data": LONG, "next": None}),
    "one pretty record larger than the first look": pretty(turn(0, reply="so " * 200_000)),
    "an envelope with a record a line": '{"page": 1, "turns": [\n' + ",\n".join(LINES) + '], "next": null}\n',
    "CloudWatch events": json.dumps({"events": [{"timestamp": 1, "message": line} for line in LINES]}),
    "CloudWatch log events": json.dumps({"logEvents": [{"id": "1", "message": line} for line in LINES]}),
    "Google Cloud entries": "\n".join(json.dumps({"insertId": "x", "jsonPayload": record}) for record in TURNS),
    "search hits": pretty({"hits": {"total": 8, "hits": [{"_id": "x", "_source": record} for record in TURNS]}}),
    "a split Docker line first": "\n".join(docker(json.dumps(record) + "\n") for record in LONG),
    "frame by columns, named rows": json.dumps(frame("columns", by=lambda number: f"row{number}")),
    "frame by index, named rows": json.dumps(frame("index", by=lambda number: f"row{number}")),
    "frame by columns of one row": json.dumps({name: {"0": value} for name, value in TURNS[0].items()}),
    "printed Python dicts": "\n".join(map(repr, TURNS)),
    "lines copied out of an array": ",\n".join(LINES),
    "printed Python dicts after a prefix": "\n".join(f"2026-11-02 INFO app: {record}" for record in TURNS),
    "prefixes in brackets": "\n".join(f"[2026-11-02 08:00:00] [info] {line}" for line in LINES),
    "pods before the lines": "\n".join(f"[pod/app-7d9/app] {line}" for line in LINES),
    "JSON written twice": "\n".join(map(json.dumps, LINES)),
    "an array of JSON texts": json.dumps(LINES),
    "lines that containerd split": "\n".join(map(cri, LINES)),
    "lines that containerd split, by Fluent Bit": "\n".join(map(of_fluent_bit, LINES)),
    "split Docker lines of another script": "\n".join(
        docker(json.dumps(turn(number, reply="長" * 9000), ensure_ascii=False) + "\n", at=5500) for number in range(8)
    ),
    "an array of arrays below their names": json.dumps([list(TURNS[0]), *(list(record.values()) for record in TURNS)]),
    "rows beside their columns": json.dumps(
        {"columns": [{"name": name} for name in TURNS[0]], "rows": [list(record.values()) for record in TURNS]}
    ),
    "a table that says its delimiter": "sep=;\n" + table(";"),
    "a table with backslashes before quotes": table(doublequote=False, escapechar="\\"),
    "UTF-32": "\n".join(LINES).encode("utf-32"),
}


ONE_TURN = {"one pretty record larger than the first look", "frame by columns of one row"}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_all_records(layout: str, tmp_path: Path, app_mapping: MappingFile, store: LogStore) -> None:
    report = read(LAYOUTS[layout], tmp_path, store, app_mapping)
    assert report.quarantined == 0
    assert rows(store, ASKED) == (IDS[:1] if layout in ONE_TURN else IDS)


def test_every_bad_record_of_a_one_line_array_is_counted(
    tmp_path: Path, app_mapping: MappingFile, store: LogStore
) -> None:
    log = json.dumps([turn(number, ts="never" if number < 5 else 1) for number in range(8)])
    report = read(log, tmp_path, store, app_mapping)
    assert (report.read, report.made, report.quarantined, report.interactions.new) == (8, 3, 5, 3)


@pytest.mark.parametrize("write", [json.dumps, pretty])
@pytest.mark.parametrize("is_large", [False, True])
def test_a_broken_or_cut_envelope_keeps_its_other_records(
    write: Callable[[Any], str],
    is_large: bool,  # noqa: FBT001 - a parameter of the test
    tmp_path: Path,
    app_mapping: MappingFile,
    store: LogStore,
) -> None:
    log = write({"took": {"ms": 3}, "turns": LONG if is_large else TURNS})
    report = read(log[: log.rindex('"r7"') + 3], tmp_path, store, app_mapping)
    assert (report.read, report.quarantined) == (8, 1)
    report = read(log.replace('"r3"', "r3"), tmp_path, store, app_mapping)
    assert (report.read, report.quarantined) == (8, 1)
    assert rows(store, ASKED) == IDS


def test_an_object_too_large_to_be_read_at_once_is_read_record_by_record(
    tmp_path: Path, app_mapping: MappingFile, store: LogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probing, "WHOLE_BYTES", 1000)
    log = pretty({"turns": LONG[:4]}) + "\n" + pretty({"turns": LONG[4:], "next": {"page": 2}})
    assert read(log, tmp_path, store, app_mapping).read == 8
    assert rows(store, ASKED) == IDS


def test_an_otlp_document_too_large_to_be_read_at_once_is_read_a_resource_at_a_time(
    tmp_path: Path, shared_folder: Path, store: LogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probing, "WHOLE_BYTES", 1000)
    lines = (shared_folder / "logs" / "otlp_openinference_full.jsonl").read_text(encoding="utf-8").splitlines()
    resources = [resource for line in lines for resource in json.loads(line)["resourceSpans"]]
    log = tmp_path / "log"
    log.write_text(pretty({"resourceSpans": resources * 3}))
    report = ingest([log], store=store, workers=1)
    assert (report.files[0].format, report.read, report.interactions.new) == ("otlp", len(resources) * 3, 7)


def test_a_gzip_cut_off_in_its_first_block_keeps_what_can_be_read(
    tmp_path: Path, app_mapping: MappingFile, store: LogStore
) -> None:
    report = read(gzip.compress("\n".join(LINES).encode())[:-20], tmp_path, store, app_mapping)
    assert report.made >= 6
    assert "damaged" in report.rejects[-1].reason


def test_a_wrapper_is_undone_where_the_mapping_says_so_and_kept_where_its_paths_need_it(
    tmp_path: Path, store: LogStore
) -> None:
    wrapped = "\n".join(json.dumps({"at": 1, "payload": line}) for line in LINES)
    named = parse_mapping(APP_MAPPING.replace("source: app", "source: app\nunwrap: payload"), "a test")
    assert read(wrapped, tmp_path, store, named).interactions.new == 8
    around = "\n".join(json.dumps({"at": number, "message": line}) for number, line in enumerate(LINES))
    whole = "source: other\ninteractions: {id: at, question: message.query}\n"
    assert read(around, tmp_path, store, parse_mapping(whole, "a test")).interactions.new == 8


def test_a_table_saved_by_a_spreadsheet_on_windows_keeps_its_letters(tmp_path: Path, store: LogStore) -> None:
    mapping = parse_mapping("source: t\ninteractions: {id: id, question: Frage, answer: Antwort}\n", "a test")
    table = "id;Frage;Antwort\r\n1;Wie ändere ich das?;„So“ für 5 €\r\n2;Und übermorgen?;Später\r\n"
    report = read(table.encode("cp1252"), tmp_path, store, mapping)
    assert report.files[0].layout == "csv, cp1252"
    assert rows(store, "SELECT question, answer FROM interactions ORDER BY 1 DESC") == [
        ("Wie ändere ich das?", "„So“ für 5 €"),
        ("Und übermorgen?", "Später"),
    ]


def test_a_bad_byte_in_a_table_is_told(tmp_path: Path, store: LogStore) -> None:
    mapping = parse_mapping("source: t\ninteractions: {id: id, question: q}\n", "a test")
    report = read("id,q\n1,für\n2,bro".encode() + b"\xff\n", tmp_path, store, mapping)
    assert [caution.code for caution in report.cautions if caution.code == "mended_text"] == ["mended_text"]


@pytest.mark.parametrize("empty", ["NULL", "\\N", "NaN", "NaT", "<NA>"])
def test_a_cell_without_a_value_is_none_as_databases_and_data_frames_write_it(
    empty: str, tmp_path: Path, app_mapping: MappingFile, store: LogStore
) -> None:
    read(f"request_id,query,reply,took_ms,err\nr1,why?,{empty},{empty},{empty}\n", tmp_path, store, app_mapping)
    assert rows(store, "SELECT question, answer, latency_ms, error FROM interactions") == [("why?", None, None, None)]


def test_texts_of_parquet_may_lack_their_mark(tmp_path: Path, app_mapping: MappingFile, store: LogStore) -> None:
    place = tmp_path / "log"
    parquet.write_table(pa.table({"request_id": [b"r1"], "query": [b"why?"], "reply": [b"\xff\xfe"]}), place)
    ingest([place], store=store, mapping=app_mapping, workers=1)
    assert rows(store, "SELECT interaction_id, question, answer FROM interactions") == [("app:r1", "why?", None)]


def test_rows_without_names_are_named_by_their_places(tmp_path: Path, store: LogStore) -> None:
    by_place = "source: app\ninteractions: {id: '\"0\"', question: '\"1\"', answer: '\"2\"'}\n"
    log = json.dumps([[number, f"question {number}?", None] for number in range(3)])
    assert read(log, tmp_path, store, parse_mapping(by_place, "a test")).interactions.new == 3
    assert rows(store, "SELECT max(question) FROM interactions") == [("question 2?",)]


def test_each_line_of_a_text_without_records_is_told_of(
    tmp_path: Path, app_mapping: MappingFile, store: LogStore
) -> None:
    report = read("2026-11-02 started\n\n2026-11-02 stopped\n", tmp_path, store, app_mapping)
    assert [(reject.line, reject.reason) for reject in report.rejects] == [
        (1, "no JSON object in the line"),
        (3, "no JSON object in the line"),
    ]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("split", [docker, partial(cri, at=8_000)])
def test_a_split_line_at_the_end_of_a_part_is_read_whole(
    split: Callable[[str], str], pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    place = tmp_path / "log"
    place.write_bytes(pack("\n".join(split(json.dumps(record) + "\n") for record in LONG).encode()))
    found = probing.probe(SourceFile(place, "log", {}))
    for part_bytes in (30_000, 70_000, 300_000):
        read_blocks = [read_part(part) for part in line_parts(found, part_bytes=part_bytes)]
        assert [value["request_id"] for block in read_blocks for value in block.block.values] == [
            record["request_id"] for record in LONG
        ]
        assert not [reject for block in read_blocks for reject in block.rejects]
        assert sum(block.lines for block in read_blocks) == place_lines(place)


def place_lines(place: Path) -> int:
    content = place.read_bytes()
    return (gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content).count(b"\n")


def test_a_split_line_without_its_end_is_quarantined_once(
    tmp_path: Path, app_mapping: MappingFile, store: LogStore
) -> None:
    log = "\n".join(docker(json.dumps(record) + "\n") for record in LONG)
    report = read(log[: log.rindex("\n")], tmp_path, store, app_mapping)
    assert (report.interactions.new, report.quarantined) == (7, 1)
    assert report.rejects[0].reason == "a line in pieces has no end"


def test_half_a_character_is_mended_in_every_container(
    tmp_path: Path, app_mapping: MappingFile, store: LogStore
) -> None:
    half = turn(1, reply="half \ud83d", sources=[{"chunk": "k\ud83d", "text": "t"}])
    table = "request_id,query,reply,sources\nr2,why?,a,\"[{'chunk': 'k\\ud83d', 'text': 't'}]\"\n"
    for log in (json.dumps([half]), json.dumps(half), pretty({"data": [half]}), table):
        report = read(log, tmp_path, store, app_mapping)
        assert (report.quarantined, report.made) == (0, 1)
    assert rows(store, "SELECT DISTINCT answer FROM interactions ORDER BY 1") == [("a",), ("half \ufffd",)]
    assert rows(store, "SELECT DISTINCT chunk_id FROM retrieved") == [("k\ufffd",)]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\x03\x04\x14\x00\x00\x00", "is a zip archive or an Excel workbook: unpack it, or save it as CSV."),
        (b"SQLite format 3\x00\x10\x00", "is a SQLite database: write its tables as CSV, Parquet or JSON."),
    ],
)
def test_a_file_of_another_make_says_what_to_do_with_it(
    content: bytes, said: str, tmp_path: Path, app_mapping: MappingFile, store: LogStore
) -> None:
    (tmp_path / "log").write_bytes(content)
    for mapping in (app_mapping, None):
        with pytest.raises(BadInputError, match=said):
            ingest([tmp_path / "log"], store=store, mapping=mapping, workers=1)


def test_records_that_begin_after_many_lines_of_log_text_are_found(
    tmp_path: Path, app_mapping: MappingFile, store: LogStore
) -> None:
    noise = [f"2026-11-02 07:{at % 60:02d}:00 INFO warming up, step {at}" for at in range(900)]
    report = read(
        "\n".join([*noise, *(f"2026-11-02 08:00:00 INFO {line}" for line in LINES)]), tmp_path, store, app_mapping
    )
    assert rows(store, ASKED) == IDS
    assert report.skipped == {"log text without a record": 900}


@given(content=st.lists(st.sampled_from([b"a", b"\n", b"0123456789" * 9])).map(b"".join), pieces=st.integers(1, 3))
def test_parts_of_a_line_file_tell_the_digest_of_all_of_it(content: bytes, pieces: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        for module in (digesting, blocks):
            patched.setattr(module, "PIECE_BYTES", 16)
        log = Path(folder) / "log"
        log.write_bytes(content)
        parts = [
            LinePart("log", str(log), at, 16 * pieces, None, Layers(), has_prefixes=False, partitions={})
            for at in range(0, len(content), 16 * pieces)
        ]
        read = [with_content(part) for part in parts]
        assert b"".join([part.content or b"" for part, _ in read]) == content
        told = digest_of_all(b"".join([digests for _, digests in read]), len(content))
        assert told == file_digest(log)
        assert digest_of_all(b"".join([digests for _, digests in read]), len(content) + 16) is None
        log.write_bytes(content + b"a")
        assert told != file_digest(log)

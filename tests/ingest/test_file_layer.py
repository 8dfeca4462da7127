"""Files in layouts nobody has shown us hold the same records, and every record in them is accounted for."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ingest.adapters.mapping_file import MappingFile, parse_mapping
from ingest.ingest_report import IngestReport
from ingest.loading import ingest
from ingest.log_store import LogStore
from ingest.reading import probing
from tests.ingest.ingest_support import APP_MAPPING, rows
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
    "UTF-32": "\n".join(LINES).encode("utf-32"),
}


ONE_TURN = {"one pretty record larger than the first look", "frame by columns of one row"}


def read(log: str | bytes, folder: Path, store: LogStore, mapping: MappingFile) -> IngestReport:
    place = folder / "log"
    place.write_bytes(log if isinstance(log, bytes) else log.encode())
    report = ingest([place], store=store, mapping=mapping, workers=1)
    assert report.read == report.made + report.skipped_total + report.quarantined
    return report


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

"""Logs of one's own come back from collectors and log stores wrapped in many ways; all of them are looked through."""

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from ingest.adapters.mapping_file import MappingFile, parse_mapping
from ingest.log_store import LogStore
from ingest.reading.probing import probe
from ingest.reading.sources import SourceFile
from ingest.suggesting.mapping import suggest
from tests.ingest.ingest_support import APP_MAPPING, read, rows
from tests.ingest.test_ingest import turn

TURNS = [turn(number) for number in range(8)]
TEXTS = [json.dumps(record) for record in TURNS]
IDS = [(f"app:r{number}",) for number in range(8)]
AT = "2026-11-02T08:00:00.123Z"
ASKED = "SELECT interaction_id FROM interactions ORDER BY 1"


def lines(records: list[Any]) -> str:
    return "\n".join(map(json.dumps, records)) + "\n"


def table(header: list[str], cells: list[list[Any]]) -> str:
    out = io.StringIO(newline="")
    csv.writer(out).writerows([header, *cells])
    return out.getvalue()


def subscription(texts: list[str]) -> dict[str, Any]:
    events = [{"id": str(at), "timestamp": 1_793_600_000_000 + at, "message": text} for at, text in enumerate(texts)]
    return {"messageType": "DATA_MESSAGE", "owner": "1", "logGroup": "/app", "logStream": "s", "logEvents": events}


def insights_row(text: str) -> list[dict[str, str]]:
    values = {"@timestamp": "2026-11-02 08:00:00.123", "@message": text, "@ptr": "CmEKJgo"}
    return [{"field": name, "value": value} for name, value in values.items()]


def loguru(record: dict[str, Any], **changes: Any) -> dict[str, Any]:
    time = {"repr": AT, "timestamp": 1_793_600_000.1}
    kept = {
        "elapsed": {"seconds": 0.1},
        "extra": {},
        "level": {"name": "INFO", "no": 20},
        "message": "turn",
        "time": time,
    }
    return {"text": "2026-11-02 | INFO | app:run:1 - turn\n", "record": kept | record} | changes


def typed(value: Any) -> dict[str, Any]:
    """Write a value as DynamoDB does."""
    if isinstance(value, dict):
        return {"M": {name: typed(held) for name, held in value.items()}}
    if isinstance(value, list):
        return {"L": list(map(typed, value))}
    return {"S": value} if isinstance(value, str) else {"N": str(value)}


def pairs_of(record: dict[str, Any], quote: Callable[[Any], str]) -> str:
    return " ".join(f"{name}={quote(value)}" for name, value in record.items())


STREAMS = [
    {"stream": {"app": "bot", "pod": str(pod)}, "values": [["1793600000123456789", text] for text in TEXTS[pod::2]]}
    for pod in range(2)
]
COLUMNS = [{"name": "TimeGenerated", "type": "datetime"}, {"name": "LogMessage", "type": "dynamic"}]
SPLUNK = [{"_raw": text, "_time": AT, "host": "h", "sourcetype": "_json"} for text in TEXTS]
WRAPPED: dict[str, str | bytes] = {
    "CloudWatch Insights, from the API": json.dumps({"results": list(map(insights_row, TEXTS)), "status": "Complete"}),
    "CloudWatch Insights, console JSON": json.dumps([{"@timestamp": AT, "@message": record} for record in TURNS]),
    "CloudWatch Insights, console CSV": table(["@timestamp", "@message"], [[AT, text] for text in TEXTS]),
    "CloudWatch log events": json.dumps({"events": [{"timestamp": 1, "message": f"{text}\n"} for text in TEXTS]}),
    "CloudWatch subscription in S3": b"".join(
        gzip.compress(json.dumps(subscription(TEXTS[at : at + 3])).encode()) for at in range(0, 8, 3)
    ),
    "CloudWatch subscription, a line each": lines([subscription([text]) for text in TEXTS]),
    "CloudWatch export task": "\n".join(f"{AT} {text}" for text in TEXTS),
    "Lambda's own format": lines([{"timestamp": AT, "level": "INFO", "message": record} for record in TURNS]),
    "logcli jsonl": lines([{"labels": {"app": "bot"}, "line": text, "timestamp": AT} for text in TEXTS]),
    "logcli default": "\n".join(f'{AT} {{app="bot", pod="p"}} {text}' for text in TEXTS),
    "Loki's query_range": json.dumps({"status": "success", "data": {"resultType": "streams", "result": STREAMS}}),
    "Loki's push": json.dumps({"streams": STREAMS}),
    "Loki, with structured metadata": json.dumps(
        {"data": {"result": [{"stream": {}, "values": [["1", text, {"parsed": {}}] for text in TEXTS]}]}}
    ),
    "Grafana's download": json.dumps([{"line": text, "timestamp": "1", "date": AT, "fields": {}} for text in TEXTS]),
    "Splunk HEC": "".join(json.dumps({"time": 1.5, "sourcetype": "_json", "event": record}) for record in TURNS),
    "Splunk HEC with texts": lines([{"time": 1.5, "host": "h", "event": text} for text in TEXTS]),
    "Splunk's export": lines([{"preview": False, "offset": at, "result": row} for at, row in enumerate(SPLUNK)]),
    "Splunk's results": json.dumps({"init_offset": 0, "fields": [{"name": "_raw"}], "results": SPLUNK}),
    "Splunk's json_rows": json.dumps({"fields": [*SPLUNK[0]], "rows": [list(row.values()) for row in SPLUNK]}),
    "Splunk's json_cols": json.dumps(
        {"fields": [*SPLUNK[0]], "columns": [[row[name] for row in SPLUNK] for name in SPLUNK[0]]}
    ),
    "Splunk's CSV": table([*SPLUNK[0]], [list(row.values()) for row in SPLUNK]),
    "loguru, bound": lines([loguru({"message": "started"}), *[loguru({"extra": record}) for record in TURNS]]),
    "loguru, by keyword": lines([loguru({"extra": {"turn": record}}) for record in TURNS]),
    "loguru, in the message": lines(
        [loguru({"message": text}, text=f"2026-11-02 | INFO | app:run:1 - {text}\n") for text in TEXTS]
    ),
    "structlog, flat": lines([{"event": "started", "level": "info"}, *({"level": "info", **turn} for turn in TURNS)]),
    "structlog, in the event": lines([{"event": text, "level": "info", "timestamp": AT} for text in TEXTS]),
    "structlog, by keyword": lines([{"event": "turn", "turn": record, "timestamp": AT} for record in TURNS]),
    "Datadog's archive": lines([{"_id": "x", "date": AT, "attributes": record, "tags": []} for record in TURNS]),
    "Datadog's archive, in the message": lines([{"_id": "x", "date": AT, "message": text} for text in TEXTS]),
    "Datadog's API": json.dumps(
        {"data": [{"id": "x", "type": "log", "attributes": {"attributes": record}} for record in TURNS], "meta": {}}
    ),
    "Datadog's CSV": table(["Date", "Host", "Service", "Message"], [[AT, "h", "app", text] for text in TEXTS]),
    "Google Cloud, gcloud's array": json.dumps([{"insertId": "x", "jsonPayload": record} for record in TURNS]),
    "Google Cloud, nested": lines([{"insertId": "x", "jsonPayload": {"message": text}} for text in TEXTS]),
    "Google Cloud, by keyword": json.dumps({"entries": [{"jsonPayload": {"turn": record}} for record in TURNS]}),
    "Azure's tables": json.dumps(
        {"tables": [{"name": "PrimaryResult", "columns": COLUMNS, "rows": [[AT, text] for text in TEXTS]}]}
    ),
    "Azure's tables, old": json.dumps(
        {"Tables": [{"Columns": [{"ColumnName": "Message"}], "Rows": [[text] for text in TEXTS]}]}
    ),
    "Azure's event hub": json.dumps({"records": [{"time": AT, "properties": {"Message": text}} for text in TEXTS]}),
    "Azure's dimensions": lines([{"time": AT, "message": "turn", "customDimensions": text} for text in TEXTS]),
    "Azure's containers": lines([{"TimeGenerated": AT, "LogEntry": text, "Computer": "n"} for text in TEXTS]),
    "Vector, parsed": lines([{"host": "h", "message": record, "source_type": "file"} for record in TURNS]),
    "Filebeat": lines([{"@timestamp": AT, "message": text, "log": {"offset": 1}} for text in TEXTS]),
    "Filebeat, decoded": lines([{"@timestamp": AT, "json": record, "log": {"offset": 1}} for record in TURNS]),
    "OpenSearch, a dump": lines([{"_index": "i", "_id": "x", "_source": record} for record in TURNS]),
    "OpenSearch, nested hits": json.dumps(
        {"took": 1, "hits": {"hits": [{"_id": "x", "_source": {"@timestamp": AT, "message": text}} for text in TEXTS]}}
    ),
    "Elasticsearch's ES|QL": json.dumps(
        {"columns": [{"name": name} for name in TURNS[0]], "values": [list(record.values()) for record in TURNS]}
    ),
    "ClickHouse's compact JSON": json.dumps(
        {"meta": [{"name": name} for name in TURNS[0]], "data": [list(record.values()) for record in TURNS], "rows": 8}
    ),
    "Docker around loguru": lines([{"log": json.dumps(loguru({"extra": r})) + "\n", "stream": "x"} for r in TURNS]),
    "DynamoDB's export": lines([{"Item": typed(record)["M"]} for record in TURNS]),
    "DynamoDB's scan": json.dumps({"Items": [typed(record)["M"] for record in TURNS], "Count": 8}),
    "Graylog": lines([{"version": "1.1", "host": "h", "short_message": text, "_env": "x"} for text in TEXTS]),
    "Kafka": lines([{"topic": "t", "partition": 0, "offset": 1, "key": None, "payload": text} for text in TEXTS]),
    "an event bus": lines([{"detail-type": "turn", "source": "app", "detail": record} for record in TURNS]),
    "logfmt": "\n".join(f"level=info {pairs_of(record, json.dumps)} at=1" for record in TURNS),
    "structlog's pairs": "\n".join(["started up", *(f"{AT} [info] turn {pairs_of(record, repr)}" for record in TURNS)]),
    "structlog's pairs in colours": "\n".join(
        f"\x1b[2m{AT}\x1b[0m [\x1b[32minfo\x1b[0m] \x1b[1mturn\x1b[0m {pairs_of(record, repr)}" for record in TURNS
    ),
    "journald": lines([{"MESSAGE": text, "__REALTIME_TIMESTAMP": "1793600000000000"} for text in TEXTS]),
    "Fluentd's file": "\n".join(f"{AT}\tapp.turns\t{text}" for text in TEXTS),
    "Papertrail's archive": "\n".join(f"1\t{AT}\t{AT}\t9\th\t1.1.1.1\tUser\tInfo\tapp\t{text}" for text in TEXTS),
}


@pytest.mark.parametrize("wrapper", WRAPPED)
def test_every_wrapper_is_looked_through(
    wrapper: str, tmp_path: Path, app_mapping: MappingFile, store: LogStore
) -> None:
    report = read(WRAPPED[wrapper], tmp_path, store, app_mapping)
    assert report.quarantined == 0
    assert rows(store, ASKED) == IDS
    assert rows(store, "SELECT count(*), count(score) FROM retrieved") == [(8, 8)]


@pytest.mark.parametrize("wrapper", WRAPPED)
def test_the_proposed_mapping_reads_every_wrapped_log(wrapper: str, tmp_path: Path, store: LogStore) -> None:
    place = tmp_path / "log"
    log = WRAPPED[wrapper]
    place.write_bytes(log if isinstance(log, bytes) else log.encode())
    proposed = suggest(probe(SourceFile(place, "log", {})))
    read(log, tmp_path, store, parse_mapping(proposed, "a test"))
    asked = rows(store, "SELECT count(*), count(session_id), count(asked_at), count(answer) FROM interactions")
    assert asked == [(8, 8, 8, 8)], proposed
    assert rows(store, "SELECT count(*), count(score) FROM retrieved") == [(8, 8)], proposed


@pytest.mark.parametrize(
    ("wrap", "time"),
    [
        (lambda record: {"time": 1_793_600_000.5, "host": "h", "event": record}, "time"),
        (lambda record: {"timestamp": AT, "jsonPayload": {"message": json.dumps(record)}}, "timestamp"),
        (lambda record: {"result": {"_time": AT, "_raw": json.dumps(record)}}, "_time"),
    ],
)
def test_a_wrapper_hands_on_the_time_that_the_mapping_asks_for(
    wrap: Any, time: str, tmp_path: Path, store: LogStore
) -> None:
    log = lines([wrap({name: value for name, value in record.items() if name != "ts"}) for record in TURNS])
    mapping = yaml.safe_load(APP_MAPPING)
    mapping["interactions"]["asked_at"] = time
    read(log, tmp_path, store, MappingFile.model_validate(mapping))
    assert rows(store, ASKED) == IDS
    assert rows(store, "SELECT count(asked_at), count(metadata) FROM interactions") == [(8, 0)]
    proposed = suggest(probe(SourceFile(tmp_path / "log", "log", {})))
    assert f"asked_at: {time}" in proposed or f".{time}" in proposed

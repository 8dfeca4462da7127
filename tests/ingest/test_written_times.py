"""Times as people write them; where day and month may change places, all values of a log decide, and doubt is said."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingest.adapters.mapping_file import parse_mapping
from ingest.ingest_report import IngestReport
from ingest.loading import ingest
from ingest.log_store import LogStore
from ingest.normalising import instant
from tests.ingest.ingest_support import rows

MAPPING = """
source: app
interactions: {id: id, asked_at: at, question: q, answer: a}
feedback: {target: target, value: thumb, at: at}
"""
ASKED = "SELECT DISTINCT strftime(asked_at AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M') FROM interactions ORDER BY 1"


@pytest.mark.parametrize(
    "written",
    [
        *("12/31/2026 1:05 PM", "31/12/2026 13:05", "31.12.2026, 13:05", "12/31/26 01:05 pm", "12-31-2026 13:05"),
        *("Dec 31, 2026 @ 13:05:00.000", "December 31, 2026 1:05:00 PM", "31. Dec 2026 13:05", "31 Dec 2026 13:05"),
        *("2026/12/31 1:05 PM", "2026.12.31 13:05", "2026-12-31 14:05:00 +0100 CET", "12/31/2026 14:05:00 +01:00"),
        *("2026-12-31 13:05:00 +0000 UTC", "Thu, 31 Dec 2026 13:05:00 GMT", "12/31/2026\u202f1:05\u202fPM"),
    ],
)
def test_a_time_is_read_in_every_usual_spelling(written: str) -> None:
    found = instant(written.removesuffix(" CET"))
    assert found is not None
    assert found.at == datetime(2026, 12, 31, 13, 5, tzinfo=UTC)


@pytest.mark.parametrize("written", ["13/13/2026", "12/31/2026 13:05 PM", "31/31/26", "yesterday", "12/2026", "1/2/3"])
def test_what_is_no_time_is_refused(written: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whatever it says: who asked names the field and the value
        instant(written)


def read(folder: Path, store: LogStore, *logs: list[str], mapping: str = MAPPING) -> IngestReport:
    for number, times in enumerate(logs):
        records = [{"id": f"{number}-{at}", "at": time, "q": "q?", "a": "a"} for at, time in enumerate(times)]
        (folder / f"{number}.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return ingest([folder], store=store, mapping=parse_mapping(mapping, "a test"), workers=1)


@pytest.mark.parametrize(
    ("decider", "asked"), [("25/12/2026 09:00", "2026-04-03 09:00"), ("12/25/2026 9:00 AM", "2026-03-04 09:00")]
)
@pytest.mark.parametrize("is_apart", [False, True])
def test_one_date_that_is_possible_one_way_only_decides_for_all(
    decider: str,
    asked: str,
    is_apart: bool,  # noqa: FBT001 - a parameter of the test
    tmp_path: Path,
    store: LogStore,
) -> None:
    logs = [["03/04/2026 09:00"] * 20_000, [decider]] if is_apart else [["03/04/2026 09:00"] * 20_000 + [decider]]
    report = read(tmp_path, store, *logs)
    assert rows(store, ASKED) == [(asked,), ("2026-12-25 09:00",)]
    assert not any(caution.code == "open_date_order" for caution in report.cautions)


def test_dates_that_nothing_decides_are_read_month_first_and_said(tmp_path: Path, store: LogStore) -> None:
    report = read(tmp_path, store, ["03/04/2026 09:00", "05/05/2026 09:00"])
    assert rows(store, ASKED) == [("2026-03-04 09:00",), ("2026-05-05 09:00",)]
    assert [c.message for c in report.cautions if c.code == "open_date_order"] != []


def test_the_order_of_dates_can_be_said(tmp_path: Path, store: LogStore) -> None:
    said = MAPPING.replace("asked_at: at", "asked_at: {path: at, date_order: dmy}")
    report = read(tmp_path, store, ["03/04/2026 09:00"], mapping=said)
    assert rows(store, ASKED) == [("2026-04-03 09:00",)]
    assert not any(caution.code == "open_date_order" for caution in report.cautions)

"""Groups of whole row groups give the tables that one group gives, wherever an ingest of them ends."""

import json
from pathlib import Path
from typing import Any

import pytest

from evalsets.errors import ErrataError
from ingest import storing
from ingest.adapters.mapping_file import MappingFile
from ingest.loading import ingest
from ingest.log_store import LogStore
from ingest.merging import Merged, merge
from tests.ingest.ingest_support import rows, tables

ROW_GROUP = 7


def record(number: int) -> dict[str, Any]:
    sources = [
        {"chunk": f"k{(number + at) % 5}", "text": f"text {(number + at) % 5}", "similarity": at / 3}
        for at in range(number % 4)
    ]
    thumb = "down" if number % 9 == 0 else None
    return {"request_id": f"r{number}", "query": f"q{number}", "sources": sources, "thumb": thumb}


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    for name, numbers in (("a", range(25)), ("b", range(25, 27)), ("c", range(27, 57))):
        written = "".join(json.dumps(record(number)) + "\n" for number in numbers)
        (folder / f"{name}.jsonl").write_text(f"{written}no record\n", encoding="utf-8")
    return folder


def store_in(folder: Path) -> LogStore:
    folder.mkdir()
    (folder / "salt").write_text("ab" * 32, encoding="ascii")
    return LogStore(folder / "logs.duckdb")


def test_an_ingest_of_small_groups_that_ends_anywhere_completes_to_the_same_tables(
    logs: Path, tmp_path: Path, app_mapping: MappingFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = store_in(tmp_path / "whole")
    ingest([logs], store=whole, mapping=app_mapping)
    monkeypatch.setattr(storing, "_ROW_GROUP", ROW_GROUP)
    monkeypatch.setattr(storing, "GROUP_BYTES", 2000)
    for most in range(3):
        sizes: list[int] = []

        def merge_some(
            connection: Any, group: Any, sizes: list[int] = sizes, most: int = most, **options: Any
        ) -> Merged:
            sizes.append(sum(found.size for found in group))
            if len(sizes) > most:
                raise ErrataError("the disk is full")
            return merge(connection, group, **options)

        store = store_in(tmp_path / f"torn{most}")
        with monkeypatch.context() as patched:
            patched.setattr(storing, "merge", merge_some)
            with pytest.raises(ErrataError, match="the disk is full"):
                ingest([logs], store=store, mapping=app_mapping)
        assert all(size % ROW_GROUP == 0 for size in sizes[:2])
        ingest([logs], store=store, mapping=app_mapping)
        assert tables(store) == tables(whole)


def test_of_two_answers_in_one_ingest_the_longer_stays_whatever_group_it_comes_in(
    tmp_path: Path, app_mapping: MappingFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for name, is_long in (("a", 0), ("b", 1)):
        records = [record(n) | {"reply": "yes, it is" if n % 2 == is_long else "yes"} for n in range(30)]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    whole, grouped = store_in(tmp_path / "whole"), store_in(tmp_path / "grouped")
    ingest([folder], store=whole, mapping=app_mapping)
    monkeypatch.setattr(storing, "_ROW_GROUP", ROW_GROUP)
    monkeypatch.setattr(storing, "GROUP_BYTES", 2000)
    report = ingest([folder], store=grouped, mapping=app_mapping)
    assert (report.interactions.new, report.interactions.changed) == (30, 15)
    assert rows(grouped, "SELECT DISTINCT answer FROM interactions") == [("yes, it is",)]
    names = ("interactions", "retrieved", "chunk_texts")
    assert tables(grouped, *names) == tables(whole, *names)

from datetime import UTC, datetime
from pathlib import Path

import pytest

from evalsets.chunks import Chunk
from ingest.corpus.index import CorpusIndex, keep_current
from ingest.log_store import LogStore

HANDBOOK = [
    Chunk("kb-1#0", "Refunds for annual plans take 30 days.", "kb-1"),
    Chunk("kb-1#1", "Monthly plans are not refunded.", "kb-1"),
    Chunk("kb-1#2", "Rückerstattungen dauern 30 Tage.", "kb-1"),
    Chunk("kb-2#0", "Invoices are sent on the first day of a month.", "kb-2"),
    Chunk("kb-3#0", "東京の営業所は九時に開きます。", "kb-3"),
]


@pytest.fixture
def index(tmp_path: Path) -> CorpusIndex:
    built = CorpusIndex(tmp_path / "corpus-index")
    built.refresh(HANDBOOK, version="1")
    return built


def ids(hits: list) -> list[str]:  # type: ignore[type-arg]
    return [hit.chunk_id for hit in hits]


def test_a_search_ranks_by_words_however_they_are_cased_accented_or_inflected(index: CorpusIndex) -> None:
    assert ids(index.search("REFUND annual")) == ["kb-1#0", "kb-1#1"]
    assert ids(index.search("ruckerstattungen")) == ["kb-1#2"]
    assert ids(index.search("京 営業")) == ["kb-3#0"]


def test_query_syntax_has_no_meaning_and_an_empty_query_finds_nothing(index: CorpusIndex) -> None:
    assert set(ids(index.search('text:"refunds" AND ('))) == {"kb-1#0", "kb-1#1"}
    assert index.search(' "():* ') == []
    assert index.search("refund \ud800")[0].doc_id == "kb-1"


def test_a_search_can_be_kept_to_one_document(index: CorpusIndex) -> None:
    assert ids(index.search("30 day", doc_id="kb-2")) == ["kb-2#0"]


def test_neighbours_stand_in_the_order_of_the_document(index: CorpusIndex) -> None:
    assert ids(index.neighbours("kb-1#1", reach=1)) == ["kb-1#0", "kb-1#1", "kb-1#2"]
    assert index.neighbours("nowhere") == []


def test_a_missing_or_broken_index_finds_nothing_and_can_be_built(tmp_path: Path) -> None:
    index = CorpusIndex(tmp_path)
    (tmp_path / "CURRENT").write_text("garbage")
    assert (index.search("refund"), index.get("kb-1#0"), index.version) == ([], None, "")
    assert index.refresh(HANDBOOK) == len(HANDBOOK)
    assert index.get("kb-1#0") is not None


def test_a_reader_sees_a_new_build_at_once_and_the_old_files_go(index: CorpusIndex) -> None:
    reader = CorpusIndex(index.folder)
    assert reader.count() == 5
    index.refresh([Chunk("only", "refund", "d")], version="2")
    assert (ids(reader.search("refund")), reader.version) == (["only"], "2")
    assert len(list(index.folder.glob("index-*"))) == 1


def store_chunk(store: LogStore, chunk_id: str, text: str, second: int) -> None:
    with store.unit() as connection:
        connection.execute(
            "INSERT OR REPLACE INTO corpus_chunks (chunk_id, doc_id, position, text, text_hash, added_at) "
            "VALUES (?, 'd', 0, ?, '', ?)",
            [chunk_id, text, datetime(2026, 11, 2, 9, 0, second, tzinfo=UTC)],
        )


def test_the_index_follows_the_chunk_store_through_additions_changes_and_removals(tmp_path: Path) -> None:
    store, index = LogStore(tmp_path / "logs.duckdb"), CorpusIndex(tmp_path / "index")
    store_chunk(store, "a", "refund", 1)
    store_chunk(store, "b", "invoice", 1)
    assert (keep_current(index, store), keep_current(index, store)) == (2, 0)
    store_chunk(store, "a", "parcel", 2)
    assert keep_current(index, store) == 1
    assert (index.search("refund"), ids(index.search("parcel"))) == ([], ["a"])
    with store.unit() as connection:
        connection.execute("DELETE FROM corpus_chunks WHERE chunk_id = 'b'")
    keep_current(index, store)
    assert (index.search("invoice"), index.count()) == ([], 1)

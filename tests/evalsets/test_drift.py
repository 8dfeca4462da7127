import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from curation_app.sample import CORPUS_PATH
from evalsets.chunks import Chunk, chunk_text_hash
from evalsets.eval_set import EvalSet
from evalsets.items import GoldChunk, Item
from evalsets.sets.drift import DriftKind, DriftReport, find_drift, repaired


class Span(NamedTuple):
    """A chunk as the words of its document from `start` to `end`."""

    chunk_id: str
    doc_id: str
    start: int
    end: int


Cut = Callable[[str, list[str]], Iterator[Span]]


def by_size(size: int, overlap: int = 0, prefix: str = "") -> Cut:
    def cut(doc_id: str, words: list[str]) -> Iterator[Span]:
        for number, start in enumerate(range(0, max(1, len(words) - overlap), size - overlap)):
            yield Span(f"{prefix}{doc_id}#{number}", doc_id, start, min(start + size, len(words)))

    return cut


def by_heading(doc_id: str, words: list[str]) -> Iterator[Span]:
    """Cut where a sentence ends after at least thirty words, as a heading would."""
    start = number = 0
    for place, word in enumerate(words):
        if place - start >= 30 and re.search(r"[.!?]$", word):
            yield Span(f"section {doc_id}/{number}", doc_id, start, place + 1)
            start, number = place + 1, number + 1
    if start < len(words):
        yield Span(f"section {doc_id}/{number}", doc_id, start, len(words))


def chunks_of(documents: dict[str, list[str]], cut: Cut) -> dict[Span, Chunk]:
    spans = [span for doc_id, words in documents.items() for span in cut(doc_id, words)]
    return {
        span: Chunk(span.chunk_id, " ".join(documents[span.doc_id][span.start : span.end]), span.doc_id)
        for span in spans
    }


def set_over(chunks: list[Chunk]) -> tuple[EvalSet, dict[str, str]]:
    items = [
        Item.model_validate(
            {
                "id": f"item-{number:05d}",
                "question": f"question {number}",
                "gold_chunk_ids": [chunk.chunk_id],
                "gold_chunks": [
                    GoldChunk(chunk_id=chunk.chunk_id, doc_id=chunk.doc_id, text_hash=chunk_text_hash(chunk.text))
                ],
                "expected": "it is there",
                "mode": "retrieval_miss",
                "added_on": "2026-11-02",
                "source": "production",
            }
        )
        for number, chunk in enumerate(chunks)
    ]
    texts = {chunk_text_hash(chunk.text): chunk.text for chunk in chunks}
    return EvalSet(name="labels", items=tuple(items)), texts


def constructed(old: Span, text: str, ids: dict[str, set[str]], spans: list[Span]) -> DriftKind:
    """What a cut made of an old chunk, from the places alone."""
    if old.chunk_id in ids.get(text, set()):
        return DriftKind.VALID
    if text in ids:
        return DriftKind.MOVED
    inside = [span for span in spans if span.start <= old.start and old.end <= span.end]
    return DriftKind.MERGED if inside else DriftKind.SPLIT


def drift_of(documents: dict[str, list[str]], before: Cut, after: Cut) -> tuple[DriftReport, list[DriftKind]]:
    old, new = chunks_of(documents, before), chunks_of(documents, after)
    eval_set, texts = set_over(list(old.values()))
    report = find_drift(eval_set, {chunk.chunk_id: chunk for chunk in new.values()}, texts)
    ids: dict[str, set[str]] = defaultdict(set)
    spans: dict[str, list[Span]] = defaultdict(list)
    for span, chunk in new.items():
        ids[chunk.text].add(span.chunk_id)
        spans[span.doc_id].append(span)
    return report, [constructed(span, chunk.text, ids, spans[span.doc_id]) for span, chunk in old.items()]


def wrong(report: DriftReport, truth: list[DriftKind], documents: dict[str, list[str]]) -> list[str]:
    whole = {doc_id: " ".join(words) for doc_id, words in documents.items()}
    return [
        f"{each.chunk_id}: {each.kind}, not {expected}"
        for each, expected in zip(report.gold, truth, strict=True)
        if each.kind is not expected and not _stands_elsewhere(each.old_text, whole)
    ]


def _stands_elsewhere(text: str, whole: dict[str, str]) -> bool:
    return sum(document.count(text) for document in whole.values()) > 1


CUTS = {
    "the same size under new ids": (by_size(80), by_size(80, prefix="v2-")),
    "larger": (by_size(60), by_size(180)),
    "smaller": (by_size(120), by_size(50)),
    "shifted by an odd size": (by_size(100), by_size(73)),
    "with overlap": (by_size(100), by_size(100, overlap=30)),
    "without the overlap it had": (by_size(90, overlap=20), by_size(110)),
    "by heading": (by_size(64), by_heading),
    "from headings to size": (by_heading, by_size(90)),
}


@pytest.fixture(scope="session")
def passages(shared_folder: Path) -> dict[str, list[str]]:
    lines = (shared_folder / "data" / "rag_passages_mtragun_dev.jsonl").read_text(encoding="utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line]
    return {row["doc_id"]: row["text"].split() for row in rows[::2]}


@pytest.fixture(scope="session")
def handbook() -> dict[str, list[str]]:
    documents: dict[str, list[str]] = defaultdict(list)
    for line in CORPUS_PATH.read_text(encoding="utf-8").split("\n"):
        if line:
            row = json.loads(line)
            documents[row["doc_id"]] += row["text"].split()
    return dict(documents)


@pytest.mark.parametrize("name", CUTS)
def test_every_label_on_the_recut_handbook_is_sorted_as_constructed(handbook: dict[str, list[str]], name: str) -> None:
    report, truth = drift_of(handbook, *CUTS[name])
    assert wrong(report, truth, handbook) == []


@pytest.mark.parametrize("name", CUTS)
def test_every_label_on_recut_public_passages_is_sorted_as_constructed(
    passages: dict[str, list[str]], name: str
) -> None:
    report, truth = drift_of(passages, *CUTS[name])
    assert wrong(report, truth, passages) == []


@pytest.mark.parametrize(("before", "after"), [(400, 250), (250, 400), (400, 333), (500, 120), (120, 500)])
def test_chunks_cut_in_mid_word_are_followed_too(handbook: dict[str, list[str]], before: int, after: int) -> None:
    texts = {doc_id: " ".join(words) for doc_id, words in handbook.items()}

    def cut(size: int, prefix: str) -> dict[Span, Chunk]:
        return {
            Span(f"{prefix}{doc_id}@{start}", doc_id, start, min(start + size, len(text))): Chunk(
                f"{prefix}{doc_id}@{start}", text[start : start + size], doc_id
            )
            for doc_id, text in texts.items()
            for start in range(0, len(text), size)
        }

    old, new = cut(before, "old-"), cut(after, "new-")
    eval_set, known = set_over(list(old.values()))
    report = find_drift(eval_set, {chunk.chunk_id: chunk for chunk in new.values()}, known)
    ids: dict[str, set[str]] = defaultdict(set)
    for chunk in new.values():
        ids[" ".join(chunk.text.split())].add(chunk.chunk_id)
    truth = [
        constructed(span, " ".join(chunk.text.split()), ids, [each for each in new if each.doc_id == span.doc_id])
        for span, chunk in old.items()
    ]
    assert [gold.kind for gold in report.gold] == truth


OLD = Chunk(
    "kb-3#0", "Refunds for annual plans are paid within 30 days of the request, to the card that was charged.", "kb-3"
)


def kind_in(corpus: list[Chunk], old: Chunk = OLD) -> DriftReport:
    eval_set, texts = set_over([old])
    return find_drift(eval_set, {chunk.chunk_id: chunk for chunk in corpus}, texts)


def test_an_edited_text_is_changed_and_shows_what_it_became() -> None:
    report = kind_in([OLD._replace(text=OLD.text.replace("30", "60"))])
    (gold,) = report.gold
    assert (gold.kind, gold.old_text) == (DriftKind.CHANGED, OLD.text)
    assert not report.fits
    assert list(report.for_review()) == ["item-00000"]


def test_an_edited_text_under_a_new_id_is_changed_too() -> None:
    (gold,) = kind_in([Chunk("new", OLD.text.replace("30", "60"), "kb-3")]).gold
    assert (gold.kind, gold.found_in[0].chunk_id) == (DriftKind.CHANGED, "new")


def test_an_id_that_now_holds_another_text_is_gone() -> None:
    (gold,) = kind_in(
        [OLD._replace(text="The office is closed on public holidays, and on the second of January.")]
    ).gold
    assert (gold.kind, gold.note) == (DriftKind.GONE, "its id now holds another text")


def test_white_space_and_unicode_form_are_no_drift() -> None:
    old = OLD._replace(text="Caf\u00e9 opens at 8")
    report = kind_in([old._replace(text="Cafe\u0301  opens\nat 8")], old)
    assert report.fits


def test_a_gold_of_two_words_is_found_in_a_larger_chunk() -> None:
    old = Chunk("a", "Room B12", "d")
    (gold,) = kind_in([Chunk("b", "Meetings are held in Room B12 on Mondays.", "d")], old).gold
    assert gold.kind is DriftKind.MERGED


def test_text_without_spaces_is_followed_when_it_is_split() -> None:
    text = (
        "\u9000\u6b3e\u5c06\u5728\u7533\u8bf7\u540e\u4e09\u5341\u5929\u5185\u652f\u4ed8\u5230\u539f\u4ed8\u6b3e\u5361"
    )
    (gold,) = kind_in([Chunk("a", text[:9], "d"), Chunk("b", text[9:], "d")], Chunk("old", text, "d")).gold
    assert [chunk.chunk_id for chunk in gold.found_in] == ["a", "b"]


def test_a_plain_list_without_hashes_fits_while_its_ids_are_there() -> None:
    eval_set, _ = set_over([OLD])
    plain = eval_set.changed(items=tuple(item.model_copy(update={"gold_chunks": ()}) for item in eval_set.items))
    assert find_drift(plain, {OLD.chunk_id: OLD}, {}).fits
    assert find_drift(plain, {}, {}).counts()[DriftKind.GONE] == 1


def test_moved_and_merged_gold_is_repaired_and_then_fits() -> None:
    other = Chunk("kb-9#1", "Invoices are sent on the first working day of every month by mail.", "kb-9")
    eval_set, texts = set_over([OLD, other])
    corpus = {
        chunk.chunk_id: chunk
        for chunk in (OLD._replace(chunk_id="moved"), other._replace(chunk_id="larger", text=f"Billing. {other.text}"))
    }
    report = find_drift(eval_set, corpus, texts)
    assert [gold.kind for gold in report.gold] == [DriftKind.MOVED, DriftKind.MERGED]
    mended = eval_set.changed(items=tuple(repaired(eval_set, report)))
    assert find_drift(mended, corpus, {}).fits

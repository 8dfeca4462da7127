"""Whether gold chunks still stand in the corpus, what became of those that do not, and what can be repaired."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import takewhile
from typing import NamedTuple

from evalsets.chunks import Chunk, chunk_text_hash
from evalsets.eval_set import EvalSet
from evalsets.items import GoldChunk, Item, StrictModel
from evalsets.passage_matching import (
    Match,
    MatchedCorpus,
    Passage,
    covered_places,
    match_passages,
    one_spaced,
    passage_words,
)

_RESEMBLES = 0.5
"""Share of a gold text's words that another chunk must hold to be what became of it."""
_SAME_ID_RESEMBLES = 0.3
_BROKEN_WORDS_A_SEAM = 1
_COMPARED = 5


class DriftKind(StrEnum):
    """What became of a gold chunk."""

    VALID = "valid"
    MOVED = "moved"
    MERGED = "merged"
    SPLIT = "split"
    CHANGED = "changed"
    GONE = "gone"


REPAIRABLE = (DriftKind.MOVED, DriftKind.MERGED)
"""The kinds that keep the whole text in one chunk, so that no person has to look."""


class GoldDrift(StrictModel):
    """One gold chunk of one item, and where its text stands now."""

    item_id: str
    chunk_id: str
    kind: DriftKind
    found_in: tuple[GoldChunk, ...] = ()
    """The chunks that hold its text now, best first; for changed ones, what it most likely became."""
    coverage: float = 1.0
    """Share of its words that `found_in` holds."""
    old_text: str = ""
    """Its text when it was labelled, where that is known."""
    note: str = ""


class DriftReport(StrictModel):
    """What became of every gold chunk of a set."""

    name: str
    version: int
    corpus_size: int
    gold: tuple[GoldDrift, ...]

    @property
    def fits(self) -> bool:
        """Whether every gold chunk stands as it was labelled."""
        return all(each.kind is DriftKind.VALID for each in self.gold)

    def counts(self) -> dict[DriftKind, int]:
        """Count the gold chunks by what became of them; every kind is a key."""
        counts = Counter(each.kind for each in self.gold)
        return {kind: counts[kind] for kind in DriftKind}

    def for_review(self) -> dict[str, list[GoldDrift]]:
        """Return by item what a person has to look at: all that drifted and cannot be repaired by itself."""
        rest: dict[str, list[GoldDrift]] = defaultdict(list)
        for each in self.gold:
            if each.kind is not DriftKind.VALID and each.kind not in REPAIRABLE:
                rest[each.item_id].append(each)
        return dict(rest)


def find_drift(eval_set: EvalSet, corpus: Mapping[str, Chunk], texts: Mapping[str, str]) -> DriftReport:
    """Sort every gold chunk of a set by what became of it in `corpus` (by id, in document order).

    `texts` gives gold texts by hash as they were labelled; a chunk whose text is not known can only be found by hash.
    """
    labels = [_Label(item.id, gold) for item in eval_set.items for gold in _gold_of(item)]
    by_hash = _by_hash({label.gold.text_hash for label in labels}, corpus)
    settled = {label: _by_id_or_hash(label, corpus, by_hash) for label in dict.fromkeys(labels)}
    lost = {
        label.gold.text_hash: Passage(texts[label.gold.text_hash], label.gold.doc_id)
        for label, found in settled.items()
        if found is None and label.gold.text_hash in texts
    }
    matched = match_passages(lost, list(corpus.values())) if lost else MatchedCorpus({}, [])
    return DriftReport(
        name=eval_set.name,
        version=eval_set.version,
        corpus_size=len(corpus),
        gold=tuple(settled[label] or _by_text(label, corpus, texts, matched) for label in labels),
    )


class _Label(NamedTuple):
    item_id: str
    gold: GoldChunk

    def drift(self, kind: DriftKind, found: Iterable[Chunk] = (), **more: object) -> GoldDrift:
        chunks = tuple(_as_gold(chunk) for chunk in found)
        return GoldDrift.model_validate(
            {"item_id": self.item_id, "chunk_id": self.gold.chunk_id, "kind": kind, "found_in": chunks, **more}
        )


def _gold_of(item: Item) -> Iterator[GoldChunk]:
    recorded = {gold.chunk_id: gold for gold in item.gold_chunks}
    for chunk_id in item.gold_chunk_ids:
        yield recorded.get(chunk_id, GoldChunk(chunk_id=chunk_id))


def _as_gold(chunk: Chunk) -> GoldChunk:
    return GoldChunk(chunk_id=chunk.chunk_id, doc_id=chunk.doc_id, text_hash=chunk_text_hash(chunk.text))


def _by_hash(wanted: set[str], corpus: Mapping[str, Chunk]) -> dict[str, list[Chunk]]:
    found: dict[str, list[Chunk]] = defaultdict(list)
    for chunk in corpus.values():
        text_hash = chunk_text_hash(chunk.text)
        if text_hash in wanted:
            found[text_hash].append(chunk)
    return found


def _by_id_or_hash(label: _Label, corpus: Mapping[str, Chunk], by_hash: Mapping[str, list[Chunk]]) -> GoldDrift | None:
    gold, here = label.gold, corpus.get(label.gold.chunk_id)
    if not gold.text_hash:
        if here is not None:
            return label.drift(DriftKind.VALID, [here], note="its text at labelling time was not recorded")
        return label.drift(DriftKind.GONE, coverage=0.0, note="no text was recorded to look for it by")
    twins = by_hash.get(gold.text_hash, [])
    if here is not None and here in twins:
        return label.drift(DriftKind.VALID, [here])
    if twins:
        return label.drift(DriftKind.MOVED, sorted(twins, key=lambda chunk: chunk.doc_id != gold.doc_id)[:1])
    return None


def _by_text(label: _Label, corpus: Mapping[str, Chunk], texts: Mapping[str, str], matched: MatchedCorpus) -> GoldDrift:
    gold, here = label.gold, corpus.get(label.gold.chunk_id)
    text = texts.get(gold.text_hash)
    if text is None:
        kind = DriftKind.CHANGED if here is not None else DriftKind.GONE
        return label.drift(kind, [here] if here else [], coverage=0.0, note="its text at labelling time is not known")
    matches = matched.matches[gold.text_hash]
    whole = one_spaced(text)
    holders = [match.chunk for match in matches if whole in one_spaced(match.chunk.text)]
    if holders:
        return label.drift(DriftKind.MERGED, [min(holders, key=lambda chunk: _distance(chunk, gold))], old_text=text)
    pieces = _pieces(text, gold.doc_id, matches, matched)
    if pieces:
        return label.drift(DriftKind.SPLIT, pieces, old_text=text)
    return _changed_or_gone(label, here, text, matches)


def _distance(chunk: Chunk, gold: GoldChunk) -> tuple[bool, int]:
    return chunk.doc_id != gold.doc_id, len(chunk.text)


def _pieces(text: str, doc_id: str, matches: list[Match], matched: MatchedCorpus) -> list[Chunk]:
    """Return the chunks that together hold all of a text, in reading order; none when they do not.

    A text cut anew lies in chunks that follow each other; pieces from here and there would be a coincidence.
    """
    words = passage_words(text)
    seeds = [match for match in matches if match.chunk.doc_id == doc_id][:_COMPARED] + matches[:_COMPARED]
    for seed in seeds:
        found = _stretch(words, seed, matched)
        if joined := _joined(text, found.places, matched):
            return joined
        is_whole = len(found.missing) <= _BROKEN_WORDS_A_SEAM * (len(found.places) + 1)
        if len(found.places) > 1 and is_whole:
            return [matched.corpus[place] for place in found.places]
    return []


def _joined(text: str, places: range, matched: MatchedCorpus) -> list[Chunk]:
    """Return the chunks of a stretch, or of its next neighbours, that hold the text end to end; none when they do not.

    White space does not count, so that a word cut in two at a seam is whole again.
    """
    whole = _compact(text)
    wide = range(max(0, places.start - 1), min(len(matched.corpus), places.stop + 1))
    pieces = [matched.corpus[place] for place in wide]
    texts = [_compact(chunk.text) for chunk in pieces]
    if whole not in "".join(texts):
        return []
    while len(pieces) > 1 and whole in "".join(texts[1:]):
        pieces, texts = pieces[1:], texts[1:]
    while len(pieces) > 1 and whole in "".join(texts[:-1]):
        pieces, texts = pieces[:-1], texts[:-1]
    return pieces if len(pieces) > 1 else []


def _compact(text: str) -> str:
    return one_spaced(text).replace(" ", "")


class _Stretch(NamedTuple):
    """Chunks that follow each other, by place, and the places of the words that they do not hold."""

    places: range
    missing: frozenset[int]


def _stretch(words: list[str], seed: Match, matched: MatchedCorpus) -> _Stretch:
    found = _Stretch(range(seed.place, seed.place + 1), frozenset(range(len(words))))
    found = found._replace(missing=found.missing - covered_places(words, seed.chunk.text))
    for step in (-1, 1):
        while added := _added(words, found, matched, step):
            first = found.places.start - (step < 0)
            found = _Stretch(range(first, found.places.stop + (step > 0)), found.missing - added)
    return found


def _added(words: list[str], found: _Stretch, matched: MatchedCorpus, step: int) -> frozenset[int]:
    """Return the missing words that the chunk right before (-1) or after (1) the stretch holds."""
    inner = matched.corpus[found.places.start if step < 0 else found.places.stop - 1]
    outer = matched.chunk_at(found.places.start - 1 if step < 0 else found.places.stop)
    if outer is None or outer.doc_id != inner.doc_id or not found.missing:
        return frozenset()
    return found.missing & (covered_places(words, outer.text) | _at_the_edge(words, found.missing, outer.text, step))


def _at_the_edge(words: list[str], missing: frozenset[int], chunk_text: str, step: int) -> frozenset[int]:
    # A remainder too short to share a shingle stands at the end of the chunk before, or the start of the one after.
    order = range(len(words)) if step < 0 else range(len(words) - 1, -1, -1)
    run = sorted(takewhile(missing.__contains__, order))
    there = passage_words(chunk_text)
    edge = there[-len(run) :] if step < 0 else there[: len(run)]
    return frozenset(run) if run and edge == words[run[0] : run[-1] + 1] else frozenset()


def _changed_or_gone(label: _Label, here: Chunk | None, text: str, matches: list[Match]) -> GoldDrift:
    words = passage_words(text)
    nearest = matches[:_COMPARED] + [match for match in matches[_COMPARED:] if match.chunk is here]
    shares = {match.chunk: len(covered_places(words, match.chunk.text)) / max(1, len(words)) for match in nearest}
    best = max(shares, key=lambda chunk: shares[chunk], default=None)
    same_id = shares.get(here, 0.0) if here is not None else 0.0
    if here is not None and same_id >= max(_SAME_ID_RESEMBLES, shares.get(best, 0.0) / 2 if best else 0.0):
        return label.drift(DriftKind.CHANGED, [here], coverage=same_id, old_text=text)
    if best is not None and shares[best] >= _RESEMBLES:
        return label.drift(DriftKind.CHANGED, [best], coverage=shares[best], old_text=text)
    note = "its id now holds another text" if here is not None else ""
    return label.drift(DriftKind.GONE, coverage=shares.get(best, 0.0) if best else 0.0, old_text=text, note=note)


def repaired(eval_set: EvalSet, report: DriftReport) -> list[Item]:
    """Return the items whose gold can be repaired, with the ids under which the same text stands now."""
    new_gold: dict[str, dict[str, GoldChunk]] = defaultdict(dict)
    for each in report.gold:
        if each.kind in REPAIRABLE:
            new_gold[each.item_id][each.chunk_id] = each.found_in[0]
    return [_with_gold(eval_set.by_id[item_id], chunks) for item_id, chunks in new_gold.items()]


def _with_gold(item: Item, replaced: Mapping[str, GoldChunk]) -> Item:
    recorded = {gold.chunk_id: gold for gold in item.gold_chunks}
    gold = [replaced.get(id_) or recorded.get(id_) or GoldChunk(chunk_id=id_) for id_ in item.gold_chunk_ids]
    distinct = {chunk.chunk_id: chunk for chunk in gold}
    return item.model_copy(
        update={
            "gold_chunk_ids": tuple(distinct),
            "gold_chunks": tuple(chunk for chunk in distinct.values() if chunk.text_hash or chunk.doc_id),
        }
    )

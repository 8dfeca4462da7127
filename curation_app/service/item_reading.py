"""One item of a run read closely: what was retrieved and what it gave, what the answer missed, and its history."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from curation_app.service.evidence import unsupported_sentences
from curation_app.service.run_history import StoredRun, load_report
from curation_app.service.set_places import chunks_by_id
from curation_app.service.set_references import resolve
from curation_app.workspace import Workspace
from evalsets.errors import ErrataError
from evalsets.items import Item
from evalsets.judges.verdict import Verdict
from evalsets.metrics.facts import missing_facts
from evalsets.report import ItemResult, Report
from evalsets.running.clock import CallClock, load_clock
from evalsets.words import content_words
from ingest.mining.candidates import CandidateChunk, CandidateTurn

HISTORY_RUNS = 50
"""How many of a set's latest runs an item's history looks at."""


class ChunkReading(NamedTuple):
    """A retrieved chunk, or a gold chunk that was not retrieved (`rank` None)."""

    chunk_id: str
    doc_id: str
    text: str
    rank: int | None
    score: float | None
    is_gold: bool
    facts: tuple[str, ...]
    """Facts of the item that stand in it."""
    gave: float | None
    """Share of the answer's content words that stand in it."""


class PastOutcome(NamedTuple):
    """What became of the item in one stored run."""

    run: StoredRun
    outcome: int
    """1 passed, 0 failed, -1 not scored."""


class ItemReading(NamedTuple):
    """Everything an item's page shows."""

    result: ItemResult
    chunks: tuple[ChunkReading, ...]
    unsupported: tuple[str, ...]
    facts_hit: tuple[str, ...]
    facts_missed: tuple[str, ...]
    history: tuple[PastOutcome, ...]
    """In the runs of the set, newest first."""
    timing: CallClock | None
    """What its calls took, where the run's clock was kept."""
    verdict: Verdict | None


def read_item(workspace: Workspace, run: StoredRun, item_id: str, runs: Sequence[StoredRun]) -> ItemReading | None:
    """Return one item of a run, with chunk texts from the chunk store and facts from the set; None when unknown."""
    report = load_report(run.path)
    result = next((item for item in report.items if item.id == item_id), None)
    if result is None:
        return None
    item = _item_of(workspace, report, item_id)
    texts = _texts(workspace, result)
    answer = result.answer or ""
    facts = item.answer_facts if item else ()
    missed = missing_facts(facts, answer)
    chunks = tuple(_chunks(result, facts, texts))
    return ItemReading(
        result=result,
        chunks=chunks,
        unsupported=() if result.declined else unsupported_sentences(_as_turn(result, chunks)),
        facts_hit=tuple(fact[0] for fact in facts if fact not in missed),
        facts_missed=tuple(fact[0] for fact in missed),
        history=_history(item_id, report.eval_set.name, runs),
        timing=clock.items.get(item_id) if (clock := load_clock(run.path)) else None,
        verdict=Verdict.model_validate(result.verdict) if result.verdict else None,
    )


def _item_of(workspace: Workspace, report: Report, item_id: str) -> Item | None:
    try:
        eval_set = resolve(f"{report.eval_set.name}@{report.eval_set.version}", workspace.root).eval_set
    except ErrataError:
        return None
    return next((item for item in eval_set.items if item.id == item_id), None)


def _texts(workspace: Workspace, result: ItemResult) -> dict[str, str]:
    wanted = [*(chunk.chunk_id for chunk in result.retrieved), *result.gold_chunk_ids]
    try:
        found = chunks_by_id(workspace, wanted) or {}
    except ErrataError:
        return {}
    return {chunk_id: chunk.text for chunk_id, chunk in found.items()}


def _chunks(result: ItemResult, facts: Sequence[tuple[str, ...]], texts: Mapping[str, str]) -> list[ChunkReading]:
    answer_words = set(content_words(result.answer or ""))
    retrieved = [
        ChunkReading(
            chunk.chunk_id,
            chunk.doc_id,
            texts.get(chunk.chunk_id, ""),
            rank,
            chunk.score,
            chunk.is_gold,
            _facts_in(facts, texts.get(chunk.chunk_id, "")),
            _gave(answer_words, texts.get(chunk.chunk_id, "")),
        )
        for rank, chunk in enumerate(result.retrieved, 1)
    ]
    seen = {chunk.chunk_id for chunk in retrieved}
    missing = [
        ChunkReading(chunk_id, "", text, None, None, True, _facts_in(facts, text), None)  # noqa: FBT003 - fields in order
        for chunk_id in result.gold_chunk_ids
        if chunk_id not in seen
        for text in (texts.get(chunk_id, ""),)
    ]
    return [*retrieved, *missing]


def _facts_in(facts: Sequence[tuple[str, ...]], text: str) -> tuple[str, ...]:
    missed = missing_facts(facts, text)
    return tuple(fact[0] for fact in facts if fact not in missed)


def _gave(answer_words: set[str], text: str) -> float | None:
    if not answer_words or not text:
        return None
    return len(answer_words & set(content_words(text))) / len(answer_words)


def _as_turn(result: ItemResult, chunks: Sequence[ChunkReading]) -> CandidateTurn:
    retrieved = tuple(
        CandidateChunk(chunk_id=chunk.chunk_id, text=chunk.text) for chunk in chunks if chunk.rank is not None
    )
    return CandidateTurn(
        interaction_id=result.id, question=result.question, answer=result.answer or "", retrieved=retrieved
    )


def _history(item_id: str, set_name: str, runs: Sequence[StoredRun]) -> tuple[PastOutcome, ...]:
    latest = [run for run in runs if run.summary.set_name == set_name][:HISTORY_RUNS]
    return tuple(
        PastOutcome(run, outcomes[item_id])
        for run, outcomes in ((run, run.outcomes()) for run in latest)
        if item_id in outcomes
    )

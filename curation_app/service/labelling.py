"""What the Label page does: one reviewer, one item, every change saved, decisions that cannot land on another item."""

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from curation_app.labels import DecisionKind, LabelContent, LabelEvent
from curation_app.review_items import Decision, DraftSaved, ReviewItem
from curation_app.review_queue import QueueFilter
from curation_app.review_store import ReviewStore
from curation_app.service.evidence import MODE_WORDS, Evidence, contradictions, weigh_evidence
from curation_app.workspace import Settings, Workspace
from evalsets.chunks import chunk_text_hash
from evalsets.errors import ErrataError
from evalsets.items import GoldChunk
from ingest.corpus.documents import CorpusHit
from ingest.corpus.index import CorpusIndex, keep_current
from ingest.log_store import LogStore
from ingest.mining.candidates import CandidateTurn

FACT_SEPARATOR = " | "
CHUNK_LETTERS = "abcefhilmopqrtwyz"
"""Letters that toggle chunks: every one that no other key of the Label page uses."""


class NeedsAWordError(ErrataError):
    """A label that goes against the evidence, without a note that says why."""


class Desk(NamedTuple):
    """The stores of one workspace, as the pages use them."""

    workspace: Workspace
    settings: Settings
    store: ReviewStore
    corpus: CorpusIndex
    logs: LogStore

    def refresh_corpus(self) -> int:
        """Bring the corpus search up to the chunk store when that file has changed; return how many were written."""
        stamp = _file_stamp(self.logs.path)
        if not stamp or _seen_stamps.get(self.logs.path) == stamp:
            return 0
        written = keep_current(self.corpus, self.logs)
        _seen_stamps[self.logs.path] = _file_stamp(self.logs.path)
        return written

    def refresh_corpus_soon(self) -> None:
        """Bring the corpus search up to the chunk store beside the page: labelling never waits for an ingest."""
        last = _refreshed_at.get(self.logs.path, 0.0)
        if time.monotonic() - last < _REFRESH_EVERY_S or not _refreshing.acquire(blocking=False):
            return
        _refreshed_at[self.logs.path] = time.monotonic()
        worker = threading.Thread(target=self._refresh_quietly, daemon=True)
        worker.start()
        if not self.corpus.version:
            worker.join(_FIRST_BUILD_WAIT_S)

    def _refresh_quietly(self) -> None:
        try:
            with suppress(ErrataError):
                self.refresh_corpus()
        finally:
            _refreshing.release()

    def open_next(self, reviewer: str, filters: QueueFilter) -> ReviewItem | None:
        """Claim and return the next item under the filters."""
        return self.store.next_item(reviewer, filters)

    def save_fields(self, candidate_id: str, reviewer: str, fields: Mapping[str, Any]) -> DraftSaved:
        """Write fields of the draft as they are typed."""
        return self.store.save_draft(candidate_id, reviewer, fields)

    def decide(
        self, item: ReviewItem, reviewer: str, kind: DecisionKind, content: LabelContent, filters: QueueFilter
    ) -> ReviewItem | None:
        """Record a decision on this showing of the item and return the next one.

        Raises NeedsAWordError for a label against the evidence without a note, ClaimLostError when the item is held
        by someone else by now, BadInputError for a label without a mode. The draft is kept in each case.
        """
        if kind is DecisionKind.LABEL:
            if content.drafted_by:
                raise NeedsAWordError(f"not saved yet: the text is {content.drafted_by}'s draft. Accept it or edit it.")
            self._ask_for_a_word(item, content)
        decision = Decision(item.candidate.candidate_id, reviewer, kind, content, item.token)
        return self.store.submit_and_next(decision, filters)

    def step(self, candidate_id: str, reviewer: str, filters: QueueFilter, by: int) -> ReviewItem | None:
        """Leave an item undecided and open the next (by=1) or previous (by=-1) free one."""
        return self.store.step(candidate_id, reviewer, filters, by=by)

    def take_back(self, reviewer: str, token: str | None = None) -> ReviewItem | None:
        """Undo the reviewer's newest decision and return its item, or None when there is none."""
        undone = self.store.undo(reviewer, token=token)
        return self.store.item(undone.candidate_id, reviewer) if undone else None

    def close_group(self, reviewer: str, token: str) -> int:
        """Close what still waits in the group of the reviewer's newest decision; return how many were closed."""
        return self.store.close_group(reviewer, token)

    def evidence(self, item: ReviewItem, content: LabelContent) -> Evidence:
        """Weigh what is typed against what was retrieved and the corpus."""
        return weigh_evidence(content, item.candidate.flagged_turn, self.corpus)

    def gold_chunk(self, item: ReviewItem, chunk_id: str) -> GoldChunk:
        """Return a chunk as gold, with its document and text hash as they are in the corpus now."""
        stored = self.corpus.get(chunk_id)
        if stored is not None:
            return GoldChunk(chunk_id=stored.chunk_id, doc_id=stored.doc_id, text_hash=chunk_text_hash(stored.text))
        for chunk in item.candidate.flagged_turn.retrieved:
            if chunk.chunk_id == chunk_id:
                text_hash = chunk_text_hash(chunk.text) if chunk.text else ""
                return GoldChunk(chunk_id=chunk_id, doc_id=chunk.doc_id, text_hash=text_hash)
        return GoldChunk(chunk_id=chunk_id)

    def toggled_gold(self, item: ReviewItem, content: LabelContent, chunk_id: str) -> LabelContent:
        """Return the content with this chunk added to, or taken out of, the gold chunks."""
        kept = tuple(chunk for chunk in content.gold_chunks if chunk.chunk_id != chunk_id)
        if len(kept) == len(content.gold_chunks):
            kept = (*kept, self.gold_chunk(item, chunk_id))
        return content.model_copy(update={"gold_chunks": kept})

    def search(self, query: str, doc_id: str = "", limit: int = 6) -> list[CorpusHit]:
        """Search the corpus by words; a query that is a chunk's id puts that chunk first."""
        exact = self.corpus.get(query) if query.strip() else None
        hits = self.corpus.search(query, limit, doc_id=doc_id or None)
        return [exact, *(hit for hit in hits if hit.chunk_id != exact.chunk_id)] if exact else hits

    def _ask_for_a_word(self, item: ReviewItem, content: LabelContent) -> None:
        if content.note.strip() or content.mode is None:
            return
        turn = item.candidate.flagged_turn
        named = contradictions(content, turn)
        evidence = weigh_evidence(content, turn, self.corpus)
        if evidence.suggested not in (None, content.mode):
            named.append(f"{evidence.sentence} That points to {MODE_WORDS[evidence.suggested]}.")
        if named:
            raise NeedsAWordError(f"not saved yet: {named[0]} Change the label, or say why in the note and save again.")


_REFRESH_EVERY_S = 15.0
_FIRST_BUILD_WAIT_S = 2.0
_refreshing = threading.Lock()
_refreshed_at: dict[Path, float] = {}
_seen_stamps: dict[Path, tuple[int, ...]] = {}


def _file_stamp(path: Path) -> tuple[int, ...]:
    files = [path, path.with_name(path.name + ".wal")]
    return tuple(each.stat().st_mtime_ns for each in files if each.exists())


def open_desk(workspace: Workspace) -> Desk:
    """Return the desk of a workspace; made once per workspace and errata.toml."""
    return _desk(workspace.root, workspace.config_path.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _desk(root: Path, _config_changed_ns: int) -> Desk:
    workspace = Workspace(root)
    settings = workspace.settings()
    return Desk(
        workspace,
        settings,
        ReviewStore(workspace.review_path, settings.review),
        CorpusIndex(workspace.index_folder),
        LogStore(workspace.logs_path),
    )


def facts_from_text(text: str) -> tuple[tuple[str, ...], ...]:
    """Read facts as they are typed: one a line, alternatives set apart by a bar."""
    lines = [tuple(part.strip() for part in line.split("|") if part.strip()) for line in text.splitlines()]
    return tuple(line for line in lines if line)


def facts_as_text(facts: Sequence[Sequence[str]]) -> str:
    """Write facts as they are typed."""
    return "\n".join(FACT_SEPARATOR.join(fact) for fact in facts)


class TurnPlace(NamedTuple):
    """A turn of the session, its gap to the turn before, and whether it is the flagged one."""

    turn: CandidateTurn
    gap_s: float | None
    is_flagged: bool


def session_turns(item: ReviewItem) -> list[TurnPlace]:
    """Return the turns of the session in order, with the gaps between them."""
    places: list[TurnPlace] = []
    previous: datetime | None = None
    for turn in item.candidate.turns:
        gap_s = (turn.asked_at - previous).total_seconds() if turn.asked_at and previous else None
        places.append(TurnPlace(turn, gap_s, turn.interaction_id == item.candidate.interaction_id))
        previous = turn.asked_at or previous
    return places


def decision_words(event: LabelEvent) -> str:
    """Say a decision in words."""
    if event.kind is DecisionKind.LABEL and event.content.mode:
        return MODE_WORDS[event.content.mode]
    if event.kind is DecisionKind.FOLLOW:
        return "closed with its group, under the label of another like it"
    return event.kind.value.replace("_", " ")

"""The review store: candidates, labels, drafts and claims in review.duckdb."""

import json
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from curation_app.labels import SETTLING_KINDS, DecisionKind, LabelContent, LabelEvent, screen_token
from curation_app.review_candidates import (
    STORED_CANDIDATE,
    TakenOver,
    as_handed,
    as_handover,
    candidate_of,
    mark_batch,
    take_over,
    write_candidates,
    write_taken_over,
)
from curation_app.review_claims import claim, release
from curation_app.review_groups import close_members, closed_together, group_offer, open_members
from curation_app.review_items import ClaimLostError, Decision, DraftSaved, ReviewItem
from curation_app.review_queue import QueueFilter, available_query, browsing_query
from curation_app.review_reader import ReviewReader
from curation_app.review_rows import (
    EVERYONE,
    Result,
    append_event,
    current_decision_of,
    in_transaction,
    last_decision_of,
    read_draft,
    rows_of,
    starting_point,
    write_draft,
)
from evalsets.errors import BadInputError
from evalsets.items import Mode, Source
from ingest.mining.candidates import Candidate

if TYPE_CHECKING:
    from ingest.mining.run import MiningReport

_writing: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)
"""One writer at a time in this process: reviewers who want the same next item queue up instead of conflicting."""


class ReviewStore(ReviewReader):
    """Open `path` for one unit of work per call; safe for threads and for several processes."""

    def add_candidates(
        self, candidates: Iterable[Candidate], *, case_source: Source = Source.PRODUCTION, batch: str = ""
    ) -> int:
        """Add candidates, or refresh those that are there, without touching labels; return how many were new."""
        handed, now = as_handed(candidates, case_source), self._clock()
        if not handed.candidate_ids:
            return 0

        def add(connection: duckdb.DuckDBPyConnection) -> int:
            written = write_candidates(connection, handed, batch, now)
            if written.changed:
                write_taken_over(connection, TakenOver())
            return written.new

        return self._atomically(add)

    def take_over(self, report: "MiningReport", basis: str, *, after: TakenOver) -> int:
        """Bring the candidates to what a run of mining reports, and remember it; return how many were new.

        `after` is what was taken over when it ran. What is no longer in its queue stays as it is.
        """
        handover, now = as_handover(report, basis, after), self._clock()
        return self._atomically(lambda connection: take_over(connection, handover, now))

    def mark_batch(self, candidate_ids: Sequence[str], batch: str) -> None:
        """Name the batch that candidates were drawn into."""
        self._atomically(lambda connection: mark_batch(connection, candidate_ids, batch))

    def next_item(self, reviewer: str, filters: QueueFilter | None = None) -> ReviewItem | None:
        """Claim the item this reviewer should see next and return it; None when none is left.

        An item the reviewer already holds and has not decided comes first, so that a reload returns to it.
        """
        return self._atomically(lambda connection: self._next(connection, reviewer, filters or QueueFilter()))

    def item(self, candidate_id: str, reviewer: str) -> ReviewItem:
        """Return one candidate for this reviewer, claiming it when it is free; others may read a held one."""
        return self._atomically(lambda connection: self._open(connection, candidate_id, reviewer))

    def step(self, candidate_id: str, reviewer: str, filters: QueueFilter, *, by: int) -> ReviewItem | None:
        """Leave an item undecided and open the free one `by` places further in the list, or None at its end."""
        return self._atomically(lambda connection: self._step(connection, candidate_id, reviewer, filters, by))

    def claim(self, candidate_id: str, reviewer: str) -> str:
        """Claim an item by compare-and-swap; return the name of its holder, which is `reviewer` on success."""
        return self._atomically(lambda connection: self._claim(connection, candidate_id, reviewer))

    def release(self, candidate_id: str, reviewer: str) -> None:
        """Give up a claim."""
        self._atomically(lambda connection: self._release(connection, candidate_id, reviewer))

    def save_draft(self, candidate_id: str, reviewer: str, fields: Mapping[str, Any]) -> DraftSaved:
        """Write the given fields of a reviewer's draft (JSON-ready values) and prolong the claim."""
        unknown = sorted(set(fields) - set(LabelContent.model_fields))
        if unknown:
            raise BadInputError(f"a label has no field {unknown[0]!r}; it has {', '.join(LabelContent.model_fields)}")
        saved_at = self._clock()

        def save(connection: duckdb.DuckDBPyConnection) -> str:
            for field, value in fields.items():
                write_draft(connection, (candidate_id, reviewer, field, json.dumps(value), saved_at))
            return self._claim(connection, candidate_id, reviewer)

        holder = self._atomically(save)
        return DraftSaved(saved_at, "" if holder == reviewer else holder)

    def save_shared_draft(self, candidate_id: str, fields: Mapping[str, Any]) -> None:
        """Write what every reviewer of a candidate starts from, such as the text of an imported case."""
        saved_at = self._clock()

        def save(connection: duckdb.DuckDBPyConnection) -> None:
            for field, value in fields.items():
                write_draft(connection, (candidate_id, EVERYONE, field, json.dumps(value), saved_at))

        self._atomically(save)

    def submit(self, decision: Decision) -> bool:
        """Append a decision and release the claim; False when its token was used before, so nothing was added.

        Raises ClaimLostError when another reviewer holds the item; the text is then kept as a draft.
        """
        return self._atomically(lambda connection: self._submit(connection, decision))

    def submit_and_next(self, decision: Decision, filters: QueueFilter | None = None) -> ReviewItem | None:
        """Submit and claim the next item in one unit of work."""

        def advance(connection: duckdb.DuckDBPyConnection) -> ReviewItem | None:
            self._submit(connection, decision)
            return self._next(connection, decision.reviewer, filters or QueueFilter())

        return self._atomically(advance)

    def adjudicate(self, candidate_id: str, reviewer: str, content: LabelContent, *, token: str) -> bool:
        """Append the result that settles a disagreement; a content without a mode says that nothing failed."""
        if not content.note.strip():
            raise BadInputError("an adjudication needs its reason in the note: write why, then save again")
        decision = Decision(candidate_id, reviewer, DecisionKind.ADJUDICATE, content, token)
        return self._atomically(lambda connection: self._append(connection, decision))

    def last_decision(self, reviewer: str) -> LabelEvent | None:
        """Return the reviewer's newest decision that is not undone: what `undo` would take back."""
        with self.unit() as connection:
            return last_decision_of(connection, reviewer)

    def undo(self, reviewer: str, *, token: str | None = None) -> LabelEvent | None:
        """Take back the reviewer's newest decision (or the one named by `token`) and claim its item again.

        Returns the decision taken back, or None when there is none or it was taken back before.
        """
        return self._atomically(lambda connection: self._undo(connection, reviewer, token))

    def close_group(self, reviewer: str, token: str) -> int:
        """Close what still waits in the group of the reviewer's newest decision, which must be `token`'s.

        Each member gets an event of kind follow that names the decision; `undo` takes all of them back at once.
        Returns how many were closed.
        """
        return self._atomically(lambda connection: self._close_group(connection, reviewer, token))

    def import_events(self, events: Iterable[LabelEvent]) -> int:
        """Append events as they are, in the order given; return how many were new by their token."""
        listed = list(events)
        return self._atomically(lambda connection: sum(append_event(connection, event) for event in listed))

    def rename_code(
        self, mode: Mode, old: str, new: str, *, reviewer: str, candidate_ids: Sequence[str] | None = None
    ) -> None:
        """Read a sub-code as another from now on: for all labels (a merge), or for the named ones (a split)."""
        insert = """
            INSERT INTO sub_code_renames (mode, old_code, new_code, candidate_ids, reviewer, created_at)
            VALUES (?, ?, ?, ?, ?, ?)
        """
        wanted = None if candidate_ids is None else list(candidate_ids)
        with self.unit() as connection:
            connection.execute(insert, [mode.value, old, new, wanted, reviewer, self._clock()]).fetchall()

    def _atomically(self, work: Callable[[duckdb.DuckDBPyConnection], Result]) -> Result:
        """Do one unit of work in one transaction: one write to disk, and all of it or nothing."""
        with _writing[self.path], self.unit() as connection:
            return in_transaction(connection, lambda: work(connection))

    def _step(
        self, connection: duckdb.DuckDBPyConnection, candidate_id: str, reviewer: str, filters: QueueFilter, by: int
    ) -> ReviewItem | None:
        query, values = browsing_query(reviewer, filters, share=self.double_label_share, now=self._clock())
        ids = [key for (key,) in rows_of(connection, query, values)]
        if candidate_id not in ids:
            return self._next(connection, reviewer, filters)
        place = ids.index(candidate_id)
        for other in ids[place + 1 :] if by > 0 else ids[:place][::-1]:
            if self._claim(connection, other, reviewer) == reviewer:
                self._release(connection, candidate_id, reviewer)
                return self._open(connection, other, reviewer)
        return None

    def _undo(self, connection: duckdb.DuckDBPyConnection, reviewer: str, token: str | None) -> LabelEvent | None:
        last = last_decision_of(connection, reviewer)
        if last is None or (token is not None and token != last.token):
            return None
        appended = False
        for event in closed_together(connection, last):
            taking_back = Decision(
                event.candidate_id,
                reviewer,
                DecisionKind.UNDO,
                LabelContent(),
                f"undo-{event.token}",
                undoes=event.token,
            )
            appended |= self._append(connection, taking_back)
        if last.kind is not DecisionKind.FOLLOW:
            self._claim(connection, last.candidate_id, reviewer)
        return last if appended else None

    def _close_group(self, connection: duckdb.DuckDBPyConnection, reviewer: str, token: str) -> int:
        last, now = last_decision_of(connection, reviewer), self._clock()
        if last is None or last.token != token or last.kind not in SETTLING_KINDS:
            return 0
        members = open_members(connection, last.candidate_id, reviewer, now)
        for member in members:
            self._release(connection, member, reviewer)
        return close_members(connection, last, members, now)

    def _next(self, connection: duckdb.DuckDBPyConnection, reviewer: str, filters: QueueFilter) -> ReviewItem | None:
        query, values = available_query(reviewer, filters, share=self.double_label_share, now=self._clock())
        for candidate_id, _ in connection.execute(f"{query} LIMIT 64", values).fetchall():
            if self._claim(connection, candidate_id, reviewer) == reviewer:
                return self._opened(connection, candidate_id, reviewer, holder=reviewer)
        return None

    def _open(self, connection: duckdb.DuckDBPyConnection, candidate_id: str, reviewer: str) -> ReviewItem:
        holder = self._claim(connection, candidate_id, reviewer)
        return self._opened(connection, candidate_id, reviewer, holder=holder)

    def _opened(
        self, connection: duckdb.DuckDBPyConnection, candidate_id: str, reviewer: str, *, holder: str
    ) -> ReviewItem:
        query = f"""
            SELECT {STORED_CANDIDATE}, c.case_source,
                (SELECT count(*) FROM label_events AS e WHERE e.candidate_id = c.candidate_id AND e.reviewer = ?)
            FROM candidate_sessions AS s JOIN candidates AS c USING (candidate_id) WHERE c.candidate_id = ?
        """  # noqa: S608 - fixed columns; every value is bound
        found = connection.execute(query, [reviewer, candidate_id]).fetchall()
        if not found:
            raise BadInputError(f"no candidate {candidate_id!r} in {self.path}; `errata queue` lists them")
        *stored, case_source, revision = found[0]
        decision = current_decision_of(connection, candidate_id, reviewer)
        draft, saved_at = read_draft(connection, candidate_id, reviewer)
        undoable = last_decision_of(connection, reviewer)
        return ReviewItem(
            candidate_of(*stored),
            Source(case_source),
            draft or starting_point(connection, candidate_id, decision),
            screen_token(candidate_id, reviewer, revision),
            "" if holder == reviewer else holder,
            saved_at,
            decision,
            undoable,
            group_offer(connection, undoable, reviewer, self._clock()),
        )

    def _claim(self, connection: duckdb.DuckDBPyConnection, candidate_id: str, reviewer: str) -> str:
        return claim(connection, candidate_id, reviewer, now=self._clock(), minutes=self._settings.claim_minutes)

    def _release(self, connection: duckdb.DuckDBPyConnection, candidate_id: str, reviewer: str) -> None:
        release(connection, candidate_id, reviewer, self._clock())

    def _submit(self, connection: duckdb.DuckDBPyConnection, decision: Decision) -> bool:
        if decision.kind is DecisionKind.LABEL and decision.content.mode is None:
            raise BadInputError("a label needs a failure mode: pick one (keys 1 to 4), or press n for not a failure")
        holder = self._claim(connection, decision.candidate_id, decision.reviewer)
        if holder != decision.reviewer:
            raise ClaimLostError(
                f"not saved: {holder} has taken this item since. Your text is kept as a draft; "
                "go on with the next item, or come back when it is free."
            )
        appended = self._append(connection, decision)
        self._release(connection, decision.candidate_id, decision.reviewer)
        return appended

    def _append(self, connection: duckdb.DuckDBPyConnection, decision: Decision) -> bool:
        return append_event(connection, decision.as_event(self._clock()))

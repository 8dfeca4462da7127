"""What the Health page and `errata upkeep` show of a set, and what a person may do there."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from statistics import median
from typing import NamedTuple

from curation_app.review_store import ReviewStore
from curation_app.service.drifting import Drifted, drift_in_workspace, item_candidate
from curation_app.service.run_history import stored_runs
from curation_app.service.set_places import set_folder, whole_corpus
from curation_app.service.set_revisions import revise_set
from curation_app.workspace import Workspace
from evalsets.errors import BadInputError
from evalsets.eval_set import EvalSet
from evalsets.items import Mode
from evalsets.sets.changes import retiring
from evalsets.sets.freezing import FreezeResult, Stamp
from evalsets.sets.holdout_ledger import Look, judged_gap, read_ledger
from evalsets.sets.upkeep import (
    DueItem,
    ItemRecord,
    KnownFailingState,
    VersionCount,
    added_by_week,
    confirming,
    history,
    item_records,
    known_failing_states,
    oldest_items,
)
from ingest.log_store import LogStore
from ingest.mining.candidates import CandidateChunk, SignalHit

_FAILED_AT = """
    SELECT left(sha256(interaction_id), 16), asked_at FROM interactions
    WHERE asked_at IS NOT NULL AND list_contains(?, left(sha256(interaction_id), 16))
"""


class SetHealth(NamedTuple):
    """How a set stands today; nothing of its held-out items but their number."""

    eval_set: EvalSet
    held_out: int
    modes: Mapping[Mode, int]
    due: list[DueItem]
    known_failing: list[KnownFailingState]
    versions: list[VersionCount]
    by_week: Mapping[date, int]
    days_to_item: float | None
    """Median days from the failing interaction to the item made from it; None when neither is known."""
    records: list[ItemRecord]
    runs: int
    looks: list[Look]

    @property
    def overdue(self) -> list[DueItem]:
        """The items whose review is due."""
        return [each for each in self.due if each.is_due]

    @property
    def questionable(self) -> list[ItemRecord]:
        """Items that tell runs nothing: they never fail, always fail, or pass where the others fail."""
        return [
            each for each in self.records if each.never_fails or each.always_fails or (each.discrimination or 0) < 0
        ]

    @property
    def gap_sentence(self) -> str:
        """What the gap between dev and holdout means."""
        return judged_gap(self.looks)


def health_of(workspace: Workspace, name: str = "", *, today: date | None = None) -> SetHealth:
    """Read a set's versions, runs and ledger; BadInputError when nothing is frozen yet."""
    target = set_folder(workspace, name)
    newest = target.load_main()
    day = today or datetime.now(UTC).date()
    runs = [_passed(run.outcomes()) for run in stored_runs(workspace, set_name=newest.name)]
    records = [each for each in item_records(runs) if each.item_id in newest.by_id]
    return SetHealth(
        eval_set=newest,
        held_out=newest.holdout.count if newest.holdout else 0,
        modes=newest.mode_counts(),
        due=oldest_items(newest, today=day, after_days=workspace.settings().sets.review_after_days),
        known_failing=known_failing_states(newest, today=day, newest_run=runs[0] if runs else {}),
        versions=history(target.load_main(number) for number in target.versions()),
        by_week=added_by_week(newest),
        days_to_item=_days_to_item(workspace, newest),
        records=records,
        runs=len(runs),
        looks=read_ledger(target.ledger_path),
    )


def _passed(outcomes: Mapping[str, int]) -> dict[str, bool]:
    return {item_id: outcome == 1 for item_id, outcome in outcomes.items() if outcome >= 0}


def _days_to_item(workspace: Workspace, eval_set: EvalSet) -> float | None:
    added = {item.origin.interaction: item.added_on for item in eval_set.items if item.origin}
    store = LogStore(workspace.logs_path)
    if not added or not store.exists:
        return None
    with store.unit() as connection:
        rows = connection.execute(_FAILED_AT, [list(added)]).fetchall()
    days = [(added[key] - asked_at.date()).days for key, asked_at in rows]
    return median(days) if days else None


class Review(NamedTuple):
    """What a person decided about the oldest items: reasons by id for those to retire."""

    still_right: tuple[str, ...] = ()
    to_correct: tuple[str, ...] = ()
    to_retire: Mapping[str, str] = {}  # an empty mapping is never written to


class Reviewed(NamedTuple):
    """What came of a review: the new version, if there is one, and how many items went to the Label page."""

    frozen: FreezeResult | None
    sent: int


def record_review(workspace: Workspace, name: str, review: Review, *, by: str, signed_off_by: str = "") -> Reviewed:
    """Freeze what was confirmed and retired as one version, and send what is to be corrected to the Label page."""
    if not by.strip():
        raise BadInputError("give your name first: a review says who did it.")
    without_reason = [id_ for id_, reason in review.to_retire.items() if not reason.strip()]
    if without_reason:
        raise BadInputError(f"say why {', '.join(without_reason)} is retired.")
    sent = _send_to_label(workspace, name, review.to_correct)
    if not review.still_right and not review.to_retire:
        return Reviewed(None, sent)
    today = datetime.now(UTC).date()

    def change(eval_set: EvalSet) -> EvalSet:
        confirmed = confirming(review.still_right, by=by, on=today)(eval_set)
        return retiring(review.to_retire, by=by, on=today)(confirmed)

    note = f"Reviewed: {len(review.still_right)} still right, {len(review.to_retire)} retired"
    return Reviewed(revise_set(workspace, name, change, Stamp(note, by, signed_off_by=signed_off_by)), sent)


def _send_to_label(workspace: Workspace, name: str, ids: tuple[str, ...]) -> int:
    if not ids:
        return 0
    target = set_folder(workspace, name)
    eval_set, texts = target.load_main(), target.gold_texts()
    strangers = sorted(set(ids) - eval_set.by_id.keys())
    if strangers:
        raise BadInputError(f"{', '.join(map(repr, strangers))}: no item in use of {eval_set.name!r}.")
    candidates = []
    for id_ in ids:
        item = eval_set.by_id[id_]
        chunks = tuple(
            CandidateChunk(chunk_id=gold.chunk_id, doc_id=gold.doc_id, text=texts.get(gold.text_hash, ""), rank=rank)
            for rank, gold in enumerate(item.gold_chunks)
        )
        hit = SignalHit(signal="upkeep", score=1.0, reason="a reviewer said that this item is no longer right")
        occasion = f"upkeep of version {eval_set.version}"
        candidates.append(item_candidate(item, occasion=occasion, hit=hit, chunks=chunks))
    return ReviewStore(workspace.review_path, workspace.settings().review).add_candidates(candidates)


def check_drift(workspace: Workspace, name: str) -> Drifted | None:
    """Hold the set against the workspace's chunk store now; None when there is no corpus."""
    corpus = whole_corpus(workspace)
    return drift_in_workspace(workspace, name, corpus) if corpus else None

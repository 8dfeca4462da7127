from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from curation_app.labels import DecisionKind, LabelContent
from curation_app.review_items import ClaimLostError, Decision, ReviewItem
from curation_app.review_queue import CandidateState, QueueFilter, QueueSort
from curation_app.review_store import ReviewStore
from curation_app.workspace import ReviewSettings
from evalsets.errors import BadInputError
from evalsets.items import AuthorKind, GoldChunk, Mode
from ingest.mining.candidates import Candidate

MakeCandidate = Callable[..., Candidate]

GOLD = GoldChunk(chunk_id="kb-003#0", doc_id="kb-003")
CONTENT = LabelContent(mode=Mode.GROUNDING_FAILURE, gold_chunks=(GOLD,), expected="Within 30 days.")
NO_FAILURE = LabelContent()


def label(item: ReviewItem, reviewer: str, content: LabelContent = CONTENT) -> Decision:
    return Decision(item.candidate.candidate_id, reviewer, DecisionKind.LABEL, content, item.token)


def opened(store: ReviewStore, reviewer: str) -> ReviewItem:
    item = store.next_item(reviewer)
    assert item is not None
    return item


def test_mining_again_adds_nothing_twice_and_keeps_the_labels(
    store: ReviewStore, make_candidate: MakeCandidate
) -> None:
    assert store.add_candidates([make_candidate(1), make_candidate(2)]) == 2
    store.submit(label(opened(store, "ann"), "ann"))
    assert store.add_candidates([make_candidate(1, priority=0.9), make_candidate(3)]) == 1
    assert len(store.accepted_items()) == 1


def test_the_next_item_is_the_one_with_the_highest_priority(store: ReviewStore, make_candidate: MakeCandidate) -> None:
    store.add_candidates([make_candidate(1, priority=0.2), make_candidate(2, priority=0.8)])
    assert opened(store, "ann").candidate.candidate_id == "c00002"


def test_the_queue_filters_hold_when_labelling(store: ReviewStore, make_candidate: MakeCandidate) -> None:
    store.add_candidates([make_candidate(1, priority=0.9), make_candidate(2, signal="abandoned")])
    item = store.next_item("ann", QueueFilter(signal="abandoned"))
    assert item is not None
    assert item.candidate.candidate_id == "c00002"
    assert store.submit_and_next(label(item, "ann"), QueueFilter(signal="abandoned")) is None


def test_two_reviewers_never_get_one_item_and_a_reload_returns_to_ones_own(
    store: ReviewStore, make_candidate: MakeCandidate
) -> None:
    store.add_candidates([make_candidate(1), make_candidate(2)])
    first, second = opened(store, "ann"), opened(store, "bob")
    assert first.candidate.candidate_id != second.candidate.candidate_id
    assert opened(store, "ann").token == first.token


def test_a_held_item_can_be_read_by_others_who_see_its_holder(
    store: ReviewStore, make_candidate: MakeCandidate
) -> None:
    store.add_candidates([make_candidate(1)])
    opened(store, "ann")
    assert store.item("c00001", "bob").held_by == "ann"
    assert store.next_item("bob") is None


def test_a_claim_lapses_ten_minutes_after_the_last_activity(
    store: ReviewStore, clock: Any, make_candidate: MakeCandidate
) -> None:
    store.add_candidates([make_candidate(1)])
    opened(store, "ann")
    clock.forward(minutes=9)
    store.save_draft("c00001", "ann", {"note": "still here"})
    clock.forward(minutes=9)
    assert store.next_item("bob") is None
    clock.forward(minutes=2)
    assert opened(store, "bob").candidate.candidate_id == "c00001"


def test_a_submit_after_the_claim_was_taken_is_refused_and_the_text_is_kept(
    store: ReviewStore, clock: Any, make_candidate: MakeCandidate
) -> None:
    store.add_candidates([make_candidate(1)])
    item = opened(store, "ann")
    clock.forward(minutes=11)
    opened(store, "bob")
    saved = store.save_draft("c00001", "ann", {"expected": "Within 30 days."})
    assert saved.held_by == "bob"
    with pytest.raises(ClaimLostError, match="bob has taken this item"):
        store.submit(label(item, "ann"))
    assert store.item("c00001", "ann").draft.expected == "Within 30 days."
    assert store.accepted_items() == []


def test_a_replayed_press_adds_nothing(store: ReviewStore, make_candidate: MakeCandidate) -> None:
    store.add_candidates([make_candidate(1), make_candidate(2)])
    item = opened(store, "ann")
    assert store.submit(label(item, "ann")) is True
    assert store.submit(label(item, "ann")) is False
    assert len(store.history("c00001")) == 1


def test_each_field_of_a_draft_is_kept_for_its_reviewer_alone(
    store: ReviewStore, make_candidate: MakeCandidate
) -> None:
    store.add_candidates([make_candidate(1)])
    store.save_draft("c00001", "ann", {"expected": "30 days"})
    store.save_draft("c00001", "ann", {"answer_facts": [["30 days", "a month"]]})
    draft = store.item("c00001", "ann").draft
    assert (draft.expected, draft.answer_facts) == ("30 days", (("30 days", "a month"),))
    assert store.item("c00001", "bob").draft == LabelContent()


def test_an_unknown_field_is_named(store: ReviewStore, make_candidate: MakeCandidate) -> None:
    store.add_candidates([make_candidate(1)])
    with pytest.raises(BadInputError, match="no field 'moed'"):
        store.save_draft("c00001", "ann", {"moed": "refusal"})


def test_decisions_can_be_undone_one_after_another_and_stay_in_the_history(
    store: ReviewStore, make_candidate: MakeCandidate
) -> None:
    store.add_candidates([make_candidate(1, priority=0.9), make_candidate(2)])
    for _ in range(2):
        store.submit(label(opened(store, "ann"), "ann"))
    undone = [store.undo("ann"), store.undo("ann"), store.undo("ann")]
    assert [event and event.candidate_id for event in undone] == ["c00002", "c00001", None]
    assert store.accepted_items() == []
    assert [event.kind.value for event in store.history("c00001")] == ["label", "undo"]


def test_an_undo_pressed_twice_on_one_screen_takes_back_one_decision(
    store: ReviewStore, make_candidate: MakeCandidate
) -> None:
    store.add_candidates([make_candidate(1), make_candidate(2)])
    for _ in range(2):
        store.submit(label(opened(store, "ann"), "ann"))
    last = store.last_decision("ann")
    assert last is not None
    assert store.undo("ann", token=last.token) is not None
    assert store.undo("ann", token=last.token) is None
    assert len(store.accepted_items()) == 1


def test_a_deferred_item_comes_back_at_the_end_and_a_skipped_one_does_not(
    store: ReviewStore, make_candidate: MakeCandidate
) -> None:
    store.add_candidates([make_candidate(n, priority=1 - n / 10) for n in (1, 2, 3)])
    for kind in (DecisionKind.DEFER, DecisionKind.SKIP):
        item = opened(store, "ann")
        store.submit(Decision(item.candidate.candidate_id, "ann", kind, NO_FAILURE, item.token))
    order = []
    for _ in range(2):
        item = opened(store, "ann")
        order.append(item.candidate.candidate_id)
        store.submit(label(item, "ann"))
    assert order == ["c00003", "c00001"]
    assert store.next_item("ann") is None
    assert opened(store, "bob").candidate.candidate_id == "c00002"


def test_moving_on_leaves_the_item_free_for_others(store: ReviewStore, make_candidate: MakeCandidate) -> None:
    store.add_candidates([make_candidate(n, priority=1 - n / 10) for n in (1, 2, 3)])
    opened(store, "ann")
    moved = store.step("c00001", "ann", QueueFilter(), by=1)
    assert moved is not None
    assert moved.candidate.candidate_id == "c00002"
    assert opened(store, "bob").candidate.candidate_id == "c00001"
    assert store.step("c00002", "ann", QueueFilter(), by=-1) is None


def test_a_label_needs_a_mode(store: ReviewStore, make_candidate: MakeCandidate) -> None:
    store.add_candidates([make_candidate(1)])
    item = opened(store, "ann")
    with pytest.raises(BadInputError, match="needs a failure mode"):
        store.submit(label(item, "ann", NO_FAILURE))


def test_an_accepted_item_carries_the_label_and_says_what_blocks_it(
    store: ReviewStore, make_candidate: MakeCandidate
) -> None:
    store.add_candidates([make_candidate(1)])
    store.submit(label(opened(store, "ann"), "ann", CONTENT.model_copy(update={"expected": ""})))
    (accepted,) = store.accepted_items()
    assert accepted.item.gold_chunk_ids == ("kb-003#0",)
    assert accepted.item.labelled_by is not None
    assert accepted.item.labelled_by.name == "ann"
    assert accepted.item.id.startswith("many-days-have-ask-refund-1-")
    assert accepted.blockers == ("neither an expected answer nor a fact is written",)


def two_readers(tmp_path: Path, clock: Any, candidate: Candidate) -> ReviewStore:
    store = ReviewStore(tmp_path / "two.duckdb", ReviewSettings(reviewers=2), clock=clock)
    store.add_candidates([candidate])
    return store


def test_with_two_reviewers_an_item_waits_for_the_second_who_reads_it_blind(
    tmp_path: Path, clock: Any, make_candidate: MakeCandidate
) -> None:
    store = two_readers(tmp_path, clock, make_candidate(1))
    store.submit(label(opened(store, "ann"), "ann"))
    assert store.accepted_items()[0].blockers == ("waits for a second reader",)
    assert store.next_item("ann") is None
    second = opened(store, "bob")
    assert second.draft == LabelContent()
    store.submit(label(second, "bob"))
    (accepted,) = store.accepted_items()
    assert accepted.blockers == ()
    assert accepted.item.reviewed_by is not None
    assert accepted.item.reviewed_by.name == "bob"


def test_a_disagreement_blocks_until_it_is_settled_with_a_reason(
    tmp_path: Path, clock: Any, make_candidate: MakeCandidate
) -> None:
    store = two_readers(tmp_path, clock, make_candidate(1))
    store.submit(label(opened(store, "ann"), "ann"))
    store.submit(label(opened(store, "bob"), "bob", CONTENT.model_copy(update={"mode": Mode.REFUSAL})))
    assert store.accepted_items()[0].blockers == ("two readers disagree: settle it on the Review page",)
    assert store.queue_page(QueueFilter(state="disagreement")).total == 1
    with pytest.raises(BadInputError, match="needs its reason"):
        store.adjudicate("c00001", "cid", CONTENT, token="t1")  # noqa: S106 - names a screen
    store.adjudicate("c00001", "cid", CONTENT.model_copy(update={"note": "the chunk says 30"}), token="t1")  # noqa: S106 - names a screen
    (accepted,) = store.accepted_items()
    assert (accepted.blockers, accepted.item.mode) == ((), Mode.GROUNDING_FAILURE)


def test_a_model_s_label_never_counts_as_a_reading(store: ReviewStore, make_candidate: MakeCandidate) -> None:
    store.add_candidates([make_candidate(1)])
    item = opened(store, "gpt")
    store.submit(label(item, "gpt")._replace(author_kind=AuthorKind.MODEL))
    assert store.accepted_items() == []
    assert opened(store, "ann").candidate.candidate_id == "c00001"


def test_a_list_page_tells_states_and_counts_all_pages(store: ReviewStore, make_candidate: MakeCandidate) -> None:
    store.add_candidates([make_candidate(n, priority=1 - n / 10) for n in range(5)])
    store.submit(label(opened(store, "ann"), "ann"))
    opened(store, "bob")
    page = store.queue_page(QueueFilter(sort=QueueSort.OLDEST), page=1, page_size=3)
    assert page.total == 5
    assert [row.state for row in page.rows] == [
        CandidateState.LABELLED,
        CandidateState.IN_PROGRESS,
        CandidateState.OPEN,
    ]
    assert [row.reviewer for row in page.rows] == ["ann", "bob", ""]


def test_a_lone_surrogate_in_a_log_is_stored_and_read_back(store: ReviewStore, make_candidate: MakeCandidate) -> None:
    store.add_candidates([make_candidate(1, answer="broken \ud800 text")])
    assert opened(store, "ann").candidate.flagged_turn.answer == "broken \ud800 text"

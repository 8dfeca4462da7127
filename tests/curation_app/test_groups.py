from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest

from curation_app.labels import SETTLING_KINDS, DecisionKind, LabelContent
from curation_app.review_items import Decision, ReviewItem
from curation_app.review_queue import CandidateState, QueueFilter
from curation_app.review_store import ReviewStore
from evalsets.items import GoldChunk, Mode
from ingest.mining.candidates import Candidate
from tests.curation_app.conftest import STARTED_AT

MakeCandidate = Callable[..., Candidate]
CONTENT = LabelContent(mode=Mode.GROUNDING_FAILURE, gold_chunks=(GoldChunk(chunk_id="kb-003#0"),), expected="30 days.")


@pytest.fixture
def alike(store: ReviewStore, make_candidate: MakeCandidate) -> Sequence[str]:
    """Add three that ask the same, the telling one first, and one that nothing is like."""
    told = {"group_id": "g00001", "group_size": 3}
    members = [make_candidate(n, priority=1 - n / 10).model_copy(update=told) for n in (1, 2, 3)]
    store.add_candidates([*members, make_candidate(4, priority=0.65)])
    return [member.candidate_id for member in members]


def opened(store: ReviewStore, reviewer: str) -> ReviewItem:
    item = store.next_item(reviewer)
    assert item is not None
    return item


def decide(
    store: ReviewStore, item: ReviewItem, reviewer: str, kind: DecisionKind = DecisionKind.LABEL
) -> ReviewItem | None:
    content = CONTENT if kind is DecisionKind.LABEL else LabelContent()
    return store.submit_and_next(Decision(item.candidate.candidate_id, reviewer, kind, content, item.token))


@pytest.mark.usefixtures("alike")
def test_a_list_shows_a_group_once_with_its_count_and_dates(store: ReviewStore) -> None:
    page = store.queue_page(QueueFilter())
    assert [(row.candidate_id, row.group_size) for row in page.rows] == [("c00001", 3), ("c00004", 1)]
    assert page.total == store.remaining("ann") == 2
    first = page.rows[0]
    assert (first.first_asked_at, first.last_asked_at) == (
        STARTED_AT + timedelta(minutes=1),
        STARTED_AT + timedelta(minutes=3),
    )


def test_every_member_can_be_listed(store: ReviewStore, alike: Sequence[str]) -> None:
    assert [row.candidate_id for row in store.group_members(["g00001"])] == list(alike)


@pytest.mark.usefixtures("alike")
def test_who_holds_a_member_holds_the_group(store: ReviewStore) -> None:
    assert opened(store, "ann").candidate.candidate_id == "c00001"
    assert opened(store, "bob").candidate.candidate_id == "c00004"
    assert store.next_item("cid") is None


@pytest.mark.parametrize(("kind", "left"), [(DecisionKind.SKIP, []), (DecisionKind.DEFER, ["c00001"])])
@pytest.mark.usefixtures("alike")
def test_a_group_is_skipped_or_deferred_as_one(store: ReviewStore, kind: DecisionKind, left: list[str]) -> None:
    decide(store, opened(store, "ann"), "ann", kind)
    decide(store, opened(store, "ann"), "ann")
    following = store.next_item("ann")
    assert ([following.candidate.candidate_id] if following else []) == left


@pytest.mark.parametrize("kind", SETTLING_KINDS)
def test_closing_a_group_records_each_member_under_its_author_and_the_label_it_follows(
    store: ReviewStore, alike: Sequence[str], kind: DecisionKind
) -> None:
    item = opened(store, "ann")
    following = decide(store, item, "ann", kind)
    assert following is not None
    assert following.candidate.candidate_id == "c00004"
    assert following.offer is not None
    assert (following.offer.token, following.offer.members) == (item.token, 2)
    assert store.close_group("ann", item.token) == 2
    follows = [event for event in store.events() if event.kind is DecisionKind.FOLLOW]
    assert [event.candidate_id for event in follows] == list(alike[1:])
    assert {(event.author.name, event.follows) for event in follows} == {("ann", item.token)}
    assert [row.state for row in store.group_members(["g00001"])][1:] == [CandidateState.CLOSED] * 2
    assert store.remaining("ann") == 1
    assert len(store.accepted_items()) == (kind is DecisionKind.LABEL)
    assert store.answered_ids() == set(alike)


def test_one_undo_opens_the_group_again_and_the_next_takes_the_label_back(
    store: ReviewStore, alike: Sequence[str]
) -> None:
    item = opened(store, "ann")
    decide(store, item, "ann")
    store.close_group("ann", item.token)
    undone = store.undo("ann")
    assert undone is not None
    assert undone.kind is DecisionKind.FOLLOW
    assert [row.state for row in store.group_members(["g00001"])][1:] == [CandidateState.OPEN] * 2
    again = store.item("c00004", "ann")
    assert again.offer is not None
    assert store.close_group("ann", item.token) == 2
    store.undo("ann")
    undone = store.undo("ann")
    assert undone is not None
    assert undone.token == item.token
    assert {row.candidate_id for row in store.group_members(["g00001"])} == set(alike)
    assert store.answered_ids() == set()


@pytest.mark.usefixtures("alike")
def test_what_another_reviewer_holds_or_has_labelled_is_not_closed(store: ReviewStore) -> None:
    store.item("c00002", "bob")
    third = store.item("c00003", "cid")
    store.submit(Decision("c00003", "cid", DecisionKind.NOT_FAILURE, LabelContent(), third.token))
    item = store.item("c00001", "ann")
    following = decide(store, item, "ann")
    assert following is not None
    assert following.offer is None
    assert store.close_group("ann", item.token) == 0


@pytest.mark.usefixtures("alike")
def test_only_the_newest_decision_can_close_a_group(store: ReviewStore) -> None:
    item = opened(store, "ann")
    following = decide(store, item, "ann")
    assert following is not None
    decide(store, following, "ann")
    assert store.close_group("ann", item.token) == 0


@pytest.mark.usefixtures("alike")
def test_members_of_a_labelled_group_that_stays_open_come_last(store: ReviewStore) -> None:
    decide(store, opened(store, "ann"), "ann")
    following = decide(store, opened(store, "ann"), "ann")
    assert following is not None
    assert following.candidate.candidate_id == "c00002"

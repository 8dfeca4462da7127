import tempfile
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curation_app.labels import DecisionKind, LabelContent
from curation_app.review_items import ClaimLostError, Decision, ReviewItem
from curation_app.review_queue import QueueFilter
from curation_app.review_store import ReviewStore
from curation_app.workspace import ReviewSettings
from evalsets.items import GoldChunk, Mode

REVIEWERS = ("ann", "bob", "cid")
CANDIDATES = 3
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["claim", "draft", "submit", "resend", "defer", "undo"]), st.sampled_from(REVIEWERS)),
        st.tuples(st.just("adjudicate"), st.sampled_from(REVIEWERS)),
        st.tuples(st.just("wait"), st.integers(1, 12)),
    ),
    min_size=8,
    max_size=30,
)


class Model:
    """Replays steps on a real store and keeps by hand what must be true of it."""

    def __init__(self, store: ReviewStore, clock: list[datetime]) -> None:
        self.store, self.clock = store, clock
        self.held: dict[str, ReviewItem | None] = dict.fromkeys(REVIEWERS)
        self.sent: dict[str, Decision] = {}
        self.notes: dict[tuple[str, str], str] = {}
        self.alive: dict[str, list[str]] = defaultdict(list)
        """Tokens of each reviewer's decisions that are not undone, oldest first."""
        self.recorded: set[str] = set()
        self.settled = 0

    def apply(self, kind: str, who: Any, number: int) -> None:
        if kind == "wait":
            self.clock[0] += timedelta(minutes=who)
        elif kind == "adjudicate":
            self.adjudicate(who, number)
        else:
            getattr(self, kind)(who, number)

    def claim(self, who: str, _number: int) -> None:
        self.held[who] = self.store.next_item(who)

    def draft(self, who: str, number: int) -> None:
        item = self.held[who]
        if item is not None:
            self.store.save_draft(item.candidate.candidate_id, who, {"note": f"note {number}"})
            self.notes[who, item.candidate.candidate_id] = f"note {number}"

    def submit(self, who: str, number: int, kind: DecisionKind = DecisionKind.LABEL) -> None:
        item = self.held[who]
        if item is None:
            return
        mode = (Mode.REFUSAL, Mode.GROUNDING_FAILURE)[number % 2]
        content = LabelContent(mode=mode, gold_chunks=(GoldChunk(chunk_id="k"),), expected=f"answer {number}")
        decision = Decision(item.candidate.candidate_id, who, kind, content, item.token)
        self.sent[who] = decision
        try:
            is_new = self.store.submit(decision)
        except ClaimLostError:
            return
        assert is_new is (item.token not in self.recorded)
        if is_new:
            self.recorded.add(item.token)
            self.alive[who].append(item.token)

    def defer(self, who: str, number: int) -> None:
        self.submit(who, number, DecisionKind.DEFER)

    def resend(self, who: str, _number: int) -> None:
        decision = self.sent.get(who)
        if decision is None or decision.token not in self.recorded:
            return
        try:
            assert self.store.submit(decision) is False
        except ClaimLostError:
            return

    def undo(self, who: str, _number: int) -> None:
        undone = self.store.undo(who)
        expected = self.alive[who].pop() if self.alive[who] else None
        assert (undone.token if undone else None) == expected
        if expected:
            self.recorded.add(f"undo-{expected}")

    def adjudicate(self, who: str, number: int) -> None:
        content = LabelContent(mode=Mode.REFUSAL, gold_chunks=(GoldChunk(chunk_id="k"),), note=f"because {number}")
        token = f"settle-{number}"
        assert self.store.adjudicate(f"c{number % CANDIDATES:05d}", who, content, token=token)
        self.recorded.add(token)
        self.alive[who].append(token)

    def check(self) -> None:
        """One latest word a reader and item, one verdict an item, nothing recorded is lost, no draft is lost."""
        events = self.store.events()
        assert {event.token for event in events} == self.recorded
        assert sorted(event.seq for event in events) == [event.seq for event in events]
        for candidate_id, readings in self.store.readings().items():
            names = [event.author.name for event in readings]
            assert len(names) == len(set(names)), candidate_id
        accepted = self.store.accepted_items()
        assert len({each.candidate_id for each in accepted}) == len(accepted)
        for (who, candidate_id), note in self.notes.items():
            assert self.store.item(candidate_id, who).draft.note == note


@pytest.mark.parametrize("reviewers", [1, 2])
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_any_interleaving_leaves_one_latest_label_an_item_and_loses_none(
    make_candidate: Any, reviewers: int, steps: list[tuple[str, Any]]
) -> None:
    clock = [datetime(2026, 11, 3, 14, 0, tzinfo=UTC)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "review.duckdb"
        store = ReviewStore(path, ReviewSettings(reviewers=reviewers), clock=lambda: clock[0])
        store.add_candidates([make_candidate(n, priority=1 - n / 10) for n in range(CANDIDATES)])
        model = Model(store, clock)
        for number, (kind, who) in enumerate(steps):
            model.apply(kind, who, number)
        model.check()


def test_eight_threads_of_four_reviewers_label_every_item_once(store: ReviewStore, make_candidate: Any) -> None:
    from concurrent.futures import ThreadPoolExecutor

    store.add_candidates([make_candidate(n) for n in range(40)])

    def work(name: str) -> int:
        done = 0
        while (item := store.next_item(name, QueueFilter())) is not None:
            content = LabelContent(mode=Mode.OUT_OF_SCOPE)
            decision = Decision(item.candidate.candidate_id, name, DecisionKind.LABEL, content, item.token)
            done += store.submit(decision)
        return done

    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(work, [f"reviewer-{n % 4}" for n in range(8)]))
    events = store.events()
    assert sum(counts) == len(events) == len({event.candidate_id for event in events}) == 40

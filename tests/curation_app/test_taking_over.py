"""The review store takes over what a run of mining reports: all of it or what changed, and always as of that run."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import duckdb
import pytest

from curation_app.labels import DecisionKind, LabelContent
from curation_app.review_candidates import TakenOver
from curation_app.review_items import Decision
from curation_app.review_queue import QueueFilter
from curation_app.review_store import ReviewStore
from evalsets.items import Mode
from ingest.mining.candidate_reading import Queued
from ingest.mining.candidates import Candidate
from ingest.mining.grouping import Group
from ingest.mining.run import MiningReport

MakeCandidate = Callable[..., Candidate]

NOBODY = TakenOver()
FIRST_AT, LAST_AT = datetime(2026, 1, 5, 8, 30, tzinfo=UTC), datetime(2026, 11, 2, 9, 3, 0, 250, tzinfo=UTC)
GROUP = Group("g00001", 3, FIRST_AT, LAST_AT)
GROUPED = {"group_id": "g00001", "group_size": 3, "group_first_at": FIRST_AT, "group_last_at": LAST_AT}


def reported(
    run: str, handed: Sequence[Candidate], queue: Sequence[Candidate] | None = None, **queued: Any
) -> MiningReport:
    """Return a report that hands over candidates of a queue, all of whose members are told what `queued` says."""
    whole = tuple(
        Queued(
            each.candidate_id, each.flagged_turn.question, each.flagged_turn.asked_at, each.inclusion_probability
        )._replace(**queued)
        for each in (handed if queue is None else queue)
    )
    return MiningReport(
        interactions=100,
        read=10,
        flagged=5,
        by_signal=(),
        notes=(),
        is_incremental=True,
        run=run,
        candidates=tuple(handed),
        queued=whole,
    )


def held(store: ReviewStore) -> dict[str, Candidate]:
    return {candidate.candidate_id: candidate for candidate, _ in store.candidates()}


def rows(store: ReviewStore, query: str) -> list[tuple[Any, ...]]:
    with store.unit() as connection:
        return connection.execute(query).fetchall()


def test_only_what_changed_is_handed_over_and_the_rest_of_the_queue_is_told_its_chance_and_its_group(
    store: ReviewStore, make_candidate: MakeCandidate
) -> None:
    first, second = make_candidate(1), make_candidate(2)
    assert store.take_over(reported("r1", [first, second]), "basis", after=NOBODY) == 2
    changed = second.model_copy(update={"language": "de", "inclusion_probability": 0.25, **GROUPED})
    report = reported("r2", [changed], [first, changed], inclusion_probability=0.25, group=GROUP)
    assert store.take_over(report, "basis", after=store.taken_over()) == 0
    told = first.model_copy(update={"inclusion_probability": 0.25, **GROUPED})
    assert held(store) == {"c00001": told, "c00002": changed}
    assert store.item("c00001", "ann").candidate == told
    assert store.taken_over() == TakenOver("r2", "basis")


def test_a_session_that_is_as_it_was_is_not_written_again(store: ReviewStore, make_candidate: MakeCandidate) -> None:
    store.take_over(reported("r1", [make_candidate(1), make_candidate(2)]), "", after=NOBODY)
    rows(store, "UPDATE candidate_sessions SET body = replace(body, '\"Hi.\"', '\"mark\"')")
    report = reported("r2", [make_candidate(1), make_candidate(2, answer="another")], inclusion_probability=0.5)
    store.take_over(report, "", after=NOBODY)
    assert {key: each.turns[0].answer for key, each in held(store).items()} == {"c00001": "mark", "c00002": "Hi."}


def test_a_group_that_is_none_any_more_is_forgotten(store: ReviewStore, make_candidate: MakeCandidate) -> None:
    alone = make_candidate(1)
    store.take_over(reported("r1", [alone.model_copy(update=GROUPED)], group=GROUP), "", after=NOBODY)
    store.take_over(reported("r2", [], [alone]), "", after=store.taken_over())
    assert held(store) == {"c00001": alone}


def test_what_is_no_longer_in_the_queue_stays_as_it_was(store: ReviewStore, make_candidate: MakeCandidate) -> None:
    gone, stays = make_candidate(1), make_candidate(2)
    store.take_over(reported("r1", [gone, stays]), "", after=NOBODY)
    store.take_over(reported("r2", [], [stays], inclusion_probability=0.5), "", after=store.taken_over())
    assert held(store)["c00001"] == gone
    assert held(store)["c00002"].inclusion_probability == 0.5


def test_an_item_made_of_a_label_carries_the_chance_that_the_last_run_told(
    store: ReviewStore, make_candidate: MakeCandidate
) -> None:
    candidate = make_candidate(1)
    store.take_over(reported("r1", [candidate]), "", after=NOBODY)
    item = store.item("c00001", "ann")
    content = LabelContent(mode=Mode.OUT_OF_SCOPE, note="not ours")
    store.submit(Decision("c00001", "ann", DecisionKind.LABEL, content, item.token))
    store.take_over(reported("r2", [], [candidate], inclusion_probability=0.125), "", after=store.taken_over())
    (accepted,) = store.accepted_items()
    assert accepted.item.sampling is not None
    assert accepted.item.sampling.probability == 0.125


def test_a_session_with_a_lone_surrogate_is_taken_over_and_told_anew(
    store: ReviewStore, make_candidate: MakeCandidate
) -> None:
    for run, answer in (("r1", "broken \ud800 text"), ("r2", "broken \udfff \x00 text")):
        candidate = make_candidate(1, answer=answer)
        store.take_over(reported(run, [candidate]), "", after=store.taken_over())
        assert held(store) == {"c00001": candidate}


def test_a_question_that_cannot_be_stored_as_it_is_can_be_listed(
    store: ReviewStore, make_candidate: MakeCandidate
) -> None:
    whole = make_candidate(1)
    turns = tuple(replace(turn, question="a \ud800 \x00 question", asked_at=None) for turn in whole.turns)
    odd = whole.model_copy(update={"turns": turns, "signals": ()})
    store.take_over(reported("r1", [odd]), "", after=NOBODY)
    assert held(store) == {"c00001": odd}
    assert [row.question for row in store.queue_page(QueueFilter()).rows] == ["a ? \x00 question"]


def test_a_take_over_that_breaks_off_leaves_everything_as_it_was(
    store: ReviewStore, make_candidate: MakeCandidate
) -> None:
    old = make_candidate(1)
    store.take_over(reported("r1", [old]), "basis", after=NOBODY)
    fresh = [make_candidate(1, answer="another"), make_candidate(2)]
    with pytest.raises(duckdb.ConversionException):
        store.take_over(reported("r2", fresh, inclusion_probability="no number"), "basis", after=NOBODY)
    assert held(store) == {"c00001": old}
    assert store.taken_over() == TakenOver("r1", "basis")


def test_changes_since_another_run_than_stands_here_are_written_but_no_run_is_remembered(
    store: ReviewStore, make_candidate: MakeCandidate
) -> None:
    first, second = make_candidate(1), make_candidate(2)
    store.take_over(reported("r1", [first]), "basis", after=NOBODY)
    store.take_over(reported("r3", [second], [first, second]), "basis", after=TakenOver("r2", "basis"))
    assert held(store) == {"c00001": first, "c00002": second}
    assert store.taken_over() == NOBODY


def test_the_whole_queue_is_remembered_whatever_stood_here(store: ReviewStore, make_candidate: MakeCandidate) -> None:
    store.take_over(reported("r1", [make_candidate(1)]), "basis", after=NOBODY)
    store.take_over(reported("r3", [make_candidate(1)]), "other", after=TakenOver("r2", "basis"))
    assert store.taken_over() == TakenOver("r3", "other")


def test_candidates_from_elsewhere_that_change_others_end_what_was_taken_over_and_new_ones_do_not(
    store: ReviewStore, make_candidate: MakeCandidate
) -> None:
    store.take_over(reported("r1", [make_candidate(1)]), "basis", after=NOBODY)
    store.add_candidates([make_candidate(1), make_candidate(2)])
    assert store.taken_over() == TakenOver("r1", "basis")
    store.add_candidates([make_candidate(1, answer="mined elsewhere")])
    assert store.taken_over() == NOBODY


def test_a_store_that_is_not_there_has_taken_nothing_over_and_is_not_made(store: ReviewStore) -> None:
    assert store.taken_over() == NOBODY
    assert not store.path.exists()


def test_a_refresh_keeps_the_batch_and_the_day_of_what_is_there(
    store: ReviewStore, clock: Any, make_candidate: MakeCandidate
) -> None:
    store.add_candidates([make_candidate(1), make_candidate(2)])
    store.mark_batch(["c00001"], "50-seed-0")
    added = rows(store, "SELECT candidate_id, added_at FROM candidates ORDER BY ALL")
    clock.forward(minutes=1)
    store.add_candidates([make_candidate(1, priority=0.9), make_candidate(2)])
    store.take_over(reported("r1", [make_candidate(1, answer="told anew"), make_candidate(2)]), "", after=NOBODY)
    assert rows(store, "SELECT candidate_id, added_at FROM candidates ORDER BY ALL") == added
    assert rows(store, "SELECT candidate_id, batch FROM candidates ORDER BY ALL") == [
        ("c00001", "50-seed-0"),
        ("c00002", ""),
    ]


def test_a_batch_that_is_given_takes_the_place_of_the_one_before(
    store: ReviewStore, make_candidate: MakeCandidate
) -> None:
    store.add_candidates([make_candidate(1), make_candidate(2)], batch="cases")
    store.add_candidates([make_candidate(1)], batch="more cases")
    store.mark_batch(["c00002", "c99999"], "2-seed-0")
    assert rows(store, "SELECT batch FROM candidates ORDER BY candidate_id") == [("more cases",), ("2-seed-0",)]


def of_before(path: Path, candidates: Sequence[Candidate]) -> ReviewStore:
    """Return a store as it was when sessions held all that is told of a candidate."""
    steps = ("0001_review.sql", "0002_groups.sql")
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE schema_migrations (name VARCHAR PRIMARY KEY, applied_at TIMESTAMPTZ)")
        for step in steps:
            connection.execute((files("curation_app") / "review_schema" / step).read_text(encoding="utf-8"))
            connection.execute("INSERT INTO schema_migrations VALUES (?, now())", [step])
        for each in candidates:
            body = json.dumps(each.model_dump(), default=lambda value: value.isoformat())
            connection.execute("INSERT INTO candidate_sessions VALUES (?, ?)", [each.candidate_id, body])
            connection.execute(
                "INSERT INTO candidates VALUES (?, ?, 'log', 'production', '', [], '', ?, '', ?, ?, ?, "
                "'en', '', '', NULL, 0.5, 'b', now())",
                [
                    *(each.candidate_id, each.interaction_id, each.priority),
                    *(each.group_id, each.group_size, each.known_item_id),
                ],
            )
    return ReviewStore(path)


def test_candidates_of_a_store_of_before_are_read_as_they_were_and_taken_over(
    tmp_path: Path, make_candidate: MakeCandidate
) -> None:
    fake = 'says "inclusion_probability": 9, "group_first_at": "1999-01-01", \ud800'
    grouped = make_candidate(1, answer=fake).model_copy(
        update={"inclusion_probability": 1e-05, "known_item_id": "refunds", **GROUPED}
    )
    alone = make_candidate(2, answer=fake).model_copy(update={"inclusion_probability": 0.1 + 0.2})
    store = of_before(tmp_path / "review.duckdb", [grouped, alone])
    assert held(store) == {"c00001": grouped, "c00002": alone}
    assert store.taken_over() == NOBODY
    assert store.take_over(reported("r1", [alone, make_candidate(3)]), "", after=NOBODY) == 1
    assert held(store) == {"c00001": grouped, "c00002": alone, "c00003": make_candidate(3)}
    assert rows(store, "SELECT batch FROM candidates WHERE candidate_id = 'c00002'") == [("b",)]

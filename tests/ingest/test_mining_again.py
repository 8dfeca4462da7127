"""A run over a little more of the log finds what a full run finds, whatever it left as it was."""

import json
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ingest.corpus.store import add
from ingest.log_store import LogStore
from ingest.mining.candidates import Candidate
from ingest.mining.run import MiningReport, mine
from ingest.settings import QueueSettings, SignalSettings
from tests.bench.mining_log import build
from tests.ingest.conversations import NOW, START, add_turns, closing_turn, store_of, turn

KEPT = (
    *("mined_hits", "mined_needs", "mined_ranks", "mined_crowded", "mined_counts", "mined_open", "mined_visits"),
    "daily_signals",
)
FIRST, ALL = 2_000, 2_200
SIGNALS = SignalSettings(disabled=("slow", "costly"))
"""What is usual for a model is as of the last full run, so what stands out from it may differ a little afterwards."""


def kept(store: LogStore) -> dict[str, list[Any]]:
    with store.unit() as connection:
        return {
            table: connection.execute(f"SELECT * FROM {table} ORDER BY ALL").fetchall()  # noqa: S608 - our own table names
            for table in KEPT
        }


def found(report: MiningReport) -> tuple[Any, ...]:
    return report.flagged, report.by_signal, report.candidates


def taken_over(known: dict[str, Candidate], report: MiningReport) -> tuple[Candidate, ...]:
    """Return the queue as whoever takes over each run has it, and leave in `known` all that was handed over."""
    known.update({each.candidate_id: each for each in report.candidates})
    return tuple(
        known[each.candidate_id].model_copy(update={"inclusion_probability": each.inclusion_probability})
        for each in report.queued
    )


@pytest.fixture
def large_store(tmp_path: Path) -> LogStore:
    store = LogStore(tmp_path / "logs.duckdb")
    build(store, 0, FIRST, ingest_id=1)
    mine(store, SIGNALS)
    return store


def test_after_more_of_the_log_all_that_is_kept_and_handed_on_is_as_after_a_full_run(large_store: LogStore) -> None:
    build(large_store, FIRST, ALL, ingest_id=2)
    again, sums = mine(large_store, SIGNALS), kept(large_store)
    assert again.is_incremental
    assert again.read < ALL / 2
    whole = mine(large_store, SIGNALS, full=True)
    assert found(again) == found(whole)
    assert sums == kept(large_store)


def test_who_took_over_the_last_run_is_handed_what_changed_and_has_the_queue_of_a_full_run(tmp_path: Path) -> None:
    store, known = LogStore(tmp_path / "logs.duckdb"), dict[str, Candidate]()
    build(store, 0, FIRST, ingest_id=1)
    first = mine(store, SIGNALS)
    assert taken_over(known, first) == first.candidates
    build(store, FIRST, ALL, ingest_id=2)
    again = mine(store, SIGNALS, since=first.run)
    assert 0 < len(again.candidates) < len(again.queued) / 2
    assert taken_over(known, again) == mine(store, SIGNALS, full=True).candidates


@pytest.mark.parametrize("since", ["", "the one before the last", "of another log"])
def test_who_did_not_take_over_the_last_run_is_handed_the_whole_queue(large_store: LogStore, since: str) -> None:
    before_the_last = mine(large_store, SIGNALS).run
    mine(large_store, SIGNALS)
    again = mine(large_store, SIGNALS, since=before_the_last if since == "the one before the last" else since)
    assert again.is_incremental
    assert len(again.candidates) == len(again.queued) > 0


def test_the_whole_queue_is_handed_over_again_once_the_corpus_changed(large_store: LogStore, tmp_path: Path) -> None:
    first = mine(large_store, SIGNALS)
    last = mine(large_store, SIGNALS, since=first.run)
    assert len(last.candidates) < len(last.queued) / 2
    documents = tmp_path / "kb.jsonl"
    documents.write_text(json.dumps({"chunk_id": "kb#0", "doc_id": "kb", "text": "The plan is yearly."}))
    add([documents], large_store)
    again = mine(large_store, SIGNALS, since=last.run)
    assert again.is_incremental
    assert len(again.candidates) == len(again.queued)


def test_votes_for_old_turns_and_users_who_went_leave_all_as_after_a_full_run(large_store: LogStore) -> None:
    with large_store.unit() as connection:
        connection.execute(
            "UPDATE interactions SET feedback = -1, ingest_id = 2 WHERE interaction_id IN "
            "(SELECT interaction_id FROM interactions ORDER BY interaction_id LIMIT 5)"
        )
        connection.execute(
            "DELETE FROM interactions WHERE user_id IN (SELECT user_id FROM interactions "
            "WHERE number IN (SELECT line FROM mined_hits) AND ingest_id = 1 ORDER BY user_id LIMIT 5)"
        )
    again, sums = mine(large_store, SIGNALS), kept(large_store)
    assert again.is_incremental
    assert found(again) == found(mine(large_store, SIGNALS, full=True))
    assert sums == kept(large_store)


def test_other_weights_change_the_order_without_the_log_being_read_again(large_store: LogStore) -> None:
    heavy = QueueSettings(weights={"regenerated": 0.99, "rephrased": 0.01})
    again = mine(large_store, SIGNALS, queue=heavy)
    assert again.is_incremental
    assert again.candidates[0].sampling_signal != "rephrased"
    assert found(again) == found(mine(large_store, SIGNALS, queue=heavy, full=True))


def test_more_of_a_session_is_taken_when_more_is_asked_for(large_store: LogStore) -> None:
    for most in (1, 3):
        queue = QueueSettings(per_session=most)
        again = mine(large_store, SIGNALS, queue=queue)
        sessions = Counter(each.session_id for each in again.candidates if each.sampling_signal != "control")
        assert again.is_incremental
        assert max(sessions.values()) == most
        assert found(again) == found(mine(large_store, SIGNALS, queue=queue, full=True))


def test_less_of_a_session_is_shown_when_less_is_asked_for(large_store: LogStore) -> None:
    narrow = mine(large_store, SIGNALS, queue=QueueSettings(context_turns=1))
    assert narrow.is_incremental
    assert max(len(candidate.turns) for candidate in narrow.candidates) == 3


def test_a_need_that_becomes_frequent_with_new_turns_is_flagged_where_it_was_asked_before(tmp_path: Path) -> None:
    def asked(n: int, ingest_id: int) -> dict[str, object]:
        when = START + timedelta(minutes=n)
        return turn(n, "Where is the key?", "", session_id=f"s{n}", user_id=f"u{n}", asked_at=when, ingest_id=ingest_id)

    store = store_of(tmp_path, [asked(1, 1), asked(2, 1), closing_turn()])
    assert "frequent" not in {count.signal for count in mine(store, now=NOW).by_signal}
    add_turns(store, [asked(n, 2) for n in (3, 4, 5)])
    again = mine(store, now=NOW)
    first = next(each for each in again.candidates if each.interaction_id == "log:001")
    assert again.is_incremental
    assert [hit.reason for hit in first.signals if hit.signal == "frequent"] == [
        "5 users asked this 5 times without a good answer."
    ]
    assert found(again) == found(mine(store, now=NOW, full=True))


def test_a_script_whose_sessions_of_a_day_came_in_two_ingests_is_known_as_in_a_full_run(tmp_path: Path) -> None:
    def asked(n: int, ingest_id: int) -> dict[str, object]:
        when = START + timedelta(minutes=n)
        return turn(n, "Are you alive?", session_id=f"s{n}", user_id="script", asked_at=when, ingest_id=ingest_id)

    signals = SignalSettings(giant_session_turns=10)
    store = store_of(tmp_path, [*(asked(n, 1) for n in range(1, 9)), closing_turn()])
    assert mine(store, signals, now=NOW).flagged == 7
    add_turns(store, [asked(n, 2) for n in range(20, 28)])
    again = mine(store, signals, now=NOW)
    assert again.is_incremental
    assert again.flagged == 0
    assert found(again) == found(mine(store, signals, now=NOW, full=True))


def test_what_comes_into_the_queue_without_having_changed_is_told_as_by_a_full_run(large_store: LogStore) -> None:
    small = QueueSettings(limit=20)
    mine(large_store, SIGNALS, queue=small, full=True)
    again = mine(large_store, SIGNALS, queue=QueueSettings(limit=150))
    assert again.is_incremental
    assert again.read < FIRST
    assert found(again) == found(mine(large_store, SIGNALS, queue=QueueSettings(limit=150), full=True))

from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from ingest.log_store import LogStore
from ingest.mining.candidates import Candidate
from ingest.mining.run import MiningReport, NothingToMineError, mine
from ingest.settings import QueueSettings
from tests.ingest.conversations import GOOD, NOW, START, add_turns, closing_turn, store_of, turn

DECLINED = "I'm sorry, but I could not find an answer to that in the handbook."


def mined(store: LogStore) -> MiningReport:
    return mine(store, now=NOW)


def flagged(report: MiningReport, signal: str) -> dict[str, Candidate]:
    return {
        candidate.interaction_id: candidate
        for candidate in report.candidates
        if any(hit.signal == signal for hit in candidate.signals)
    }


def reason(report: MiningReport, interaction_id: str, signal: str) -> str:
    hits = flagged(report, signal)[interaction_id].signals
    return next(hit.reason for hit in hits if hit.signal == signal)


def test_an_empty_log_says_what_to_do_next(tmp_path: Path) -> None:
    with pytest.raises(NothingToMineError, match="errata ingest"):
        mine(LogStore(tmp_path / "logs.duckdb"))


def test_a_vote_down_is_flagged_with_its_comment_quoted(tmp_path: Path) -> None:
    store = store_of(tmp_path, [turn(1, "How do I pay?", feedback=-1, feedback_comment="outdated"), closing_turn()])
    assert "“outdated”" in reason(mined(store), "log:001", "thumbs_down")


def test_the_same_words_with_context_spelled_out_are_flagged_as_restated(tmp_path: Path) -> None:
    turns = [turn(1, "How do I cancel it?"), turn(2, "How do I cancel the Studio plan?"), closing_turn()]
    report = mined(store_of(tmp_path, turns))
    assert reason(report, "log:001", "rephrased").startswith("Restated with the context spelled out 30 s later")


def test_the_turn_that_is_the_evidence_is_named(tmp_path: Path) -> None:
    turns = [turn(1, "How do I cancel my plan?"), turn(2, "How do I cancel my plan?"), closing_turn()]
    hits = flagged(mined(store_of(tmp_path, turns)), "rephrased")["log:001"].signals
    assert {hit.evidence_interaction_id for hit in hits if hit.signal == "rephrased"} == {"log:002"}


def test_a_topic_shift_is_no_rephrase(tmp_path: Path) -> None:
    turns = [turn(1, "How do I cancel my plan?"), turn(2, "Where do I upload a receipt?"), closing_turn()]
    assert not flagged(mined(store_of(tmp_path, turns)), "rephrased")


def test_the_same_question_much_later_is_no_rephrase(tmp_path: Path) -> None:
    later = START + timedelta(hours=2)
    turns = [turn(1, "How do I cancel my plan?"), turn(2, "How do I cancel my plan?", asked_at=later), closing_turn()]
    assert not flagged(mined(store_of(tmp_path, turns)), "rephrased")


def test_a_rephrase_in_a_new_session_of_the_same_user_is_found(tmp_path: Path) -> None:
    turns = [turn(1, "How do I cancel my plan?"), turn(2, "How can I cancel my plan?", session_id="s2"), closing_turn()]
    assert "in a new session" in reason(mined(store_of(tmp_path, turns)), "log:001", "rephrased")


def test_a_satisfied_single_turn_is_not_abandoned(tmp_path: Path) -> None:
    assert not flagged(mined(store_of(tmp_path, [turn(1, "How do I pay?"), closing_turn()])), "abandoned")


@pytest.mark.parametrize(
    ("last", "why"),
    [
        (turn(1, "How do I pay?", None, error="timeout"), "an error"),
        (turn(1, "How do I pay?", ""), "an empty answer"),
        (turn(1, "How do I pay?", stream_cut=True), "cut off"),
        (turn(1, "How do I pay?", DECLINED), "declined"),
    ],
)
def test_a_closed_session_that_ends_badly_is_abandoned(tmp_path: Path, last: dict[str, object], why: str) -> None:
    assert why in reason(mined(store_of(tmp_path, [last, closing_turn()])), "log:001", "abandoned")


def test_a_turn_that_was_abandoned_for_two_reasons_names_the_stronger_once(tmp_path: Path) -> None:
    turns = [turn(1, "How do I pay?", error=None), turn(2, "How do I pay?", "", error="timeout"), closing_turn()]
    signals = flagged(mined(store_of(tmp_path, turns)), "abandoned")["log:002"].signals
    assert [hit.kind for hit in signals if hit.signal == "abandoned"] == ["error"]


def test_a_session_that_may_still_go_on_is_not_abandoned(tmp_path: Path) -> None:
    assert not flagged(mined(store_of(tmp_path, [turn(1, "How do I pay?", DECLINED)])), "abandoned")


def test_positive_feedback_at_the_end_means_not_abandoned(tmp_path: Path) -> None:
    store = store_of(tmp_path, [turn(1, "How do I pay?", DECLINED, feedback=1), closing_turn()])
    assert not flagged(mined(store), "abandoned")


def test_a_turn_from_the_future_closes_no_session(tmp_path: Path) -> None:
    skewed = turn(2, "Something else", asked_at=NOW + timedelta(days=400), session_id="s2", user_id="u2")
    report = mined(store_of(tmp_path, [turn(1, "How do I pay?", DECLINED), skewed]))
    assert not flagged(report, "abandoned")
    assert any("future" in note for note in report.notes)


def test_a_candidate_carries_its_whole_session_in_order(tmp_path: Path) -> None:
    turns = [turn(3, "Third", GOOD), turn(1, "First", GOOD), turn(2, "Second", "", error="timeout"), closing_turn()]
    candidate = flagged(mined(store_of(tmp_path, turns)), "error")["log:002"]
    assert [each.question for each in candidate.turns] == ["First", "Second", "Third"]


def test_turns_without_a_session_id_are_joined_by_user_and_idle_gap(tmp_path: Path) -> None:
    turns = [turn(1, "How do I cancel it?", session_id=None), turn(2, "How do I cancel my plan?", session_id=None)]
    report = mined(store_of(tmp_path, [*turns, closing_turn()]))
    assert len(flagged(report, "rephrased")["log:001"].turns) == 2
    assert any("no session id" in note for note in report.notes)


def test_mining_again_reads_only_what_is_new_and_finds_the_same(tmp_path: Path) -> None:
    turns = [turn(n, f"Question {n}", "", session_id=f"s{n}", user_id=f"u{n}") for n in range(1, 9)]
    store = store_of(tmp_path, [*turns, closing_turn()])
    mined(store)
    add_turns(store, [turn(20, "One more", "", session_id="s9", ingest_id=2)])
    again = mined(store)
    assert again.is_incremental
    assert again.read < again.interactions
    whole = mine(store, now=NOW, full=True)
    assert {c.interaction_id: c.signals for c in again.candidates} == {
        c.interaction_id: c.signals for c in whole.candidates
    }


def test_a_session_closed_by_later_turns_of_others_becomes_abandoned(tmp_path: Path) -> None:
    store = store_of(tmp_path, [turn(1, "How do I pay?", DECLINED)])
    assert not flagged(mined(store), "abandoned")
    add_turns(store, [{**closing_turn(), "ingest_id": 2}])
    report = mined(store)
    assert report.is_incremental
    assert set(flagged(report, "abandoned")) == {"log:001"}


def test_a_file_that_the_app_keeps_open_can_be_mined_again_and_again(tmp_path: Path) -> None:
    store = store_of(tmp_path, [turn(1, "How do I pay?", feedback=-1), closing_turn()])
    with store.unit():
        first = mine(store, now=NOW, full=True)
        assert mine(store, now=NOW, full=True).by_signal == first.by_signal


def test_unflagged_turns_become_controls_with_the_chance_that_is_stated(tmp_path: Path) -> None:
    turns = [turn(n, f"Where is the desk of team {n}?", session_id=f"s{n}", user_id=f"u{n}") for n in range(1000, 2500)]
    store = store_of(tmp_path, turns)
    drawn = [
        {each.interaction_id: each.inclusion_probability for each in mine(store, queue=queue, now=NOW).candidates}
        for queue in (QueueSettings(control_share=0.2, control_limit=10_000, seed=seed) for seed in range(3))
    ]
    assert {chance for controls in drawn for chance in controls.values()} == {0.2}
    assert all(abs(len(controls) - 300) < 4 * (1500 * 0.2 * 0.8) ** 0.5 for controls in drawn)
    both = [len(one.keys() & other.keys()) for one, other in pairwise(drawn)]
    assert all(abs(count - 60) < 4 * (1500 * 0.04 * 0.96) ** 0.5 for count in both)


def test_the_chance_of_controls_is_what_their_limit_leaves(tmp_path: Path) -> None:
    turns = [turn(n, f"Where is the desk of team {n}?", session_id=f"s{n}", user_id=f"u{n}") for n in range(1000, 2500)]
    queue = QueueSettings(control_share=0.5, control_limit=75)
    controls = mine(store_of(tmp_path, turns), queue=queue, now=NOW).candidates
    assert {each.inclusion_probability for each in controls} == {0.05}
    assert abs(len(controls) - 75) < 4 * (1500 * 0.05 * 0.95) ** 0.5

"""Logs as they come: bots, giant sessions, ids shared by everybody, empty questions."""

from datetime import timedelta
from pathlib import Path

from ingest.mining.run import MiningReport, mine
from ingest.settings import SignalSettings
from tests.ingest.conversations import NOW, START, closing_turn, store_of, turn


def mined(folder: Path, turns: list[dict[str, object]]) -> MiningReport:
    return mine(store_of(folder, [*turns, closing_turn()]), SignalSettings(giant_session_turns=50), now=NOW)


def signals_of(report: MiningReport) -> dict[str, set[str]]:
    return {each.interaction_id: {hit.signal for hit in each.signals} for each in report.candidates if each.signals}


def test_a_bot_is_named_in_the_report_and_its_repeats_are_not_believed(tmp_path: Path) -> None:
    report = mined(tmp_path, [turn(n, "Are you alive?") for n in range(1, 200)])
    assert any("too long for one person" in note for note in report.notes)
    assert signals_of(report) == {}


def test_votes_in_a_giant_session_still_count(tmp_path: Path) -> None:
    turns = [turn(n, f"Question {n}", feedback=-1 if n == 7 else None) for n in range(1, 100)]
    assert signals_of(mined(tmp_path, turns)) == {"log:007": {"thumbs_down"}}


def test_a_candidate_of_a_giant_session_carries_only_the_turns_around_it(tmp_path: Path) -> None:
    turns = [turn(n, f"Question {n}", feedback=-1 if n == 60 else None) for n in range(1, 200)]
    (candidate,) = [each for each in mined(tmp_path, turns).candidates if each.signals]
    assert len(candidate.turns) == 31


def test_of_sessions_that_a_user_began_at_one_moment_none_is_taken_for_the_one_after_another(tmp_path: Path) -> None:
    asked = [turn(number, "How do I cancel my plan?", session_id=f"s{number}", asked_at=START) for number in (1, 2)]
    before = turn(3, "How can I cancel my plan?", session_id="s3", asked_at=START - timedelta(minutes=1))
    assert signals_of(mined(tmp_path, [*asked, before])) == {}


def test_a_session_id_that_everybody_shares_is_taken_apart_by_user_and_gap(tmp_path: Path) -> None:
    asked = [
        turn(n, f"Thing number {n}", session_id="constant", user_id=f"u{n % 40}", asked_at=START + timedelta(hours=n))
        for n in range(1, 80)
    ]
    again = [
        turn(101, "How do I cancel it?", session_id="constant", user_id="x"),
        turn(102, "How do I cancel the Studio plan?", session_id="constant", user_id="x"),
    ]
    report = mined(tmp_path, [*asked, *again])
    assert any("shared by several users" in note for note in report.notes)
    assert signals_of(report)["log:101"] == {"rephrased"}
    candidate = next(each for each in report.candidates if each.interaction_id == "log:101")
    assert [each.interaction_id for each in candidate.turns] == ["log:101", "log:102"]


def test_empty_questions_are_left_out_and_said(tmp_path: Path) -> None:
    report = mined(tmp_path, [turn(1, "  ", "", error="timeout"), turn(2, "")])
    assert any("questions are empty" in note for note in report.notes)
    assert signals_of(report) == {}


def test_turns_logged_out_of_order_are_read_by_their_time(tmp_path: Path) -> None:
    turns = [
        turn(1, "How do I cancel the Studio plan?", asked_at=START + timedelta(seconds=60)),
        turn(2, "How do I cancel it?", asked_at=START),
    ]
    assert "rephrased" in signals_of(mined(tmp_path, turns))["log:002"]


def test_turns_with_neither_session_nor_user_stand_alone(tmp_path: Path) -> None:
    turns = [turn(n, "How do I cancel?", "", session_id=None, user_id=None) for n in (1, 2)]
    report = mined(tmp_path, turns)
    assert any("neither session nor user" in note for note in report.notes)
    assert all(len(each.turns) == 1 for each in report.candidates)


def test_a_bot_without_session_ids_is_a_bot_too(tmp_path: Path) -> None:
    report = mined(tmp_path, [turn(n, "Are you alive?", session_id=None, user_id="bot") for n in range(1, 200)])
    assert "1 session is too long for one person" in " ".join(report.notes)
    assert signals_of(report) == {}


def test_a_script_that_takes_a_new_session_for_each_question_is_not_believed_to_ask_again(tmp_path: Path) -> None:
    probes = [turn(n, "Are you alive?", session_id=f"probe{n}", user_id="bot") for n in range(1, 200)]
    person = [
        turn(201, "How do I cancel it?", session_id="a", user_id="x"),
        turn(202, "How do I cancel the Studio plan?", session_id="b", user_id="x"),
    ]
    report = mined(tmp_path, [*probes, *person])
    assert "more sessions in a day than a person would" in " ".join(report.notes)
    assert signals_of(report) == {"log:201": {"rephrased"}}


def test_turns_that_share_one_time_are_taken_in_the_order_of_their_numbers_and_said(tmp_path: Path) -> None:
    asked = {9: "How do I cancel it?", 10: "How do I cancel the Studio plan?", 11: "Where is the office?"}
    turns = [turn(n, text, interaction_id=f"log:{n}", asked_at=START) for n, text in asked.items()]
    report = mined(tmp_path, turns)
    assert "2 turns share their time" in " ".join(report.notes)
    (candidate,) = [each for each in report.candidates if each.signals]
    assert candidate.interaction_id == "log:9"
    assert [each.interaction_id for each in candidate.turns] == ["log:9", "log:10", "log:11"]


def test_an_ordinary_log_has_nothing_odd_to_say(tmp_path: Path) -> None:
    assert mined(tmp_path, [turn(1, "How do I pay?"), turn(2, "Where is the office?")]).notes == ()

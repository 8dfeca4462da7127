from datetime import date

import pytest

from evalsets.eval_set import EvalSet, KnownFailing
from evalsets.sets.coverage import compare_mix, render_coverage
from evalsets.sets.upkeep import (
    added_by_week,
    confirming,
    history,
    item_records,
    known_failing_states,
    oldest_items,
)
from tests.evalsets.set_samples import item

TODAY = date(2026, 11, 30)
OLD = item("old", "What?", last_reviewed_on=date(2026, 1, 1))
FRESH = item("fresh", "Who?", last_reviewed_on=date(2026, 11, 1))
NEVER = item("never", "Why?", added_on=date(2026, 6, 1))
WHOLE = EvalSet(name="s", version=3, items=(OLD, FRESH, NEVER))


def test_what_was_confirmed_longest_ago_comes_first_and_is_due_after_a_quarter() -> None:
    due = oldest_items(WHOLE, today=TODAY, after_days=90)
    assert [(each.item.id, each.is_due) for each in due] == [("old", True), ("never", True), ("fresh", False)]
    assert len(oldest_items(WHOLE, today=TODAY, after_days=90, limit=1)) == 1


def test_confirming_an_item_moves_it_to_the_end() -> None:
    after = confirming(["old"], by="Bo", on=TODAY)(WHOLE)
    assert [each.item.id for each in oldest_items(after, today=TODAY, after_days=90)][-1] == "old"
    assert after.by_id["never"] == NEVER


def test_weeks_without_a_new_item_are_counted_as_zero() -> None:
    rows = tuple(item(f"i{day}", f"q{day}", added_on=date(2026, 11, day)) for day in (2, 3, 17))
    counted = added_by_week(EvalSet(name="s", items=rows))
    assert counted == {date(2026, 11, 2): 2, date(2026, 11, 9): 0, date(2026, 11, 16): 1}
    assert added_by_week(EvalSet(name="s")) == {}


def test_a_known_failure_that_passes_or_is_overdue_is_seen() -> None:
    entries = tuple(
        KnownFailing(id=id_, reason="x", owner="Bo", since=date(2026, 1, 1), review_by=due)
        for id_, due in (("old", date(2026, 2, 1)), ("fresh", date(2027, 1, 1)))
    )
    eval_set = WHOLE.changed(known_failing=entries)
    states = {each.entry.id: each for each in known_failing_states(eval_set, today=TODAY, newest_run={"fresh": True})}
    assert (states["old"].is_overdue, states["old"].passes_now) == (True, None)
    assert (states["fresh"].is_overdue, states["fresh"].passes_now) == (False, True)
    assert [each.known_failing for each in history([WHOLE, eval_set])] == [0, 2]


def test_items_that_tell_runs_nothing_are_told_from_those_that_do() -> None:
    runs = [
        {"easy": True, "broken": False, "telling": True, "backwards": False, "a": True, "b": True},
        {"easy": True, "broken": False, "telling": False, "backwards": True, "a": False, "b": False},
        {"easy": True, "broken": False, "telling": True, "backwards": False, "a": True, "b": False},
    ]
    records = {each.item_id: each for each in item_records(runs)}
    assert records["easy"].never_fails
    assert records["broken"].always_fails
    assert records["telling"].discrimination is not None
    assert records["telling"].discrimination >= 0.5
    assert records["backwards"].discrimination == pytest.approx(-0.866, abs=0.15)
    assert not item_records(runs[:1])[0].never_fails


def test_coverage_names_what_traffic_has_and_the_set_lacks() -> None:
    found = compare_mix("model", {"a": 9, "b": 1}, {"a": 500, "c": 400, "b": 100}, unknown_in_set=2)
    rows = {row.value: row for row in found.rows}
    assert [row.value for row in found.rows] == ["a", "c", "b"]
    assert (rows["c"].is_missing, rows["a"].is_off, rows["b"].is_off) == (True, True, False)
    assert found.distance == pytest.approx(0.4)
    assert "not in the set" in render_coverage((found,))
    assert "not known for 2 item(s)" in render_coverage((found,))


def test_an_empty_set_covers_nothing_and_breaks_nothing() -> None:
    found = compare_mix("week", {}, {"2026-11-02": 5})
    assert (found.rows[0].is_missing, found.rows[0].is_off) == (True, False)

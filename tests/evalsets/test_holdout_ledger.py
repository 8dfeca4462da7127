from datetime import UTC, datetime
from pathlib import Path

import pytest

from evalsets.errors import FaultsError
from evalsets.sets.holdout_ledger import Look, PartScores, gap_of, judged_gap, read_ledger, record_look

MOMENT = datetime(2026, 11, 30, 9, 30, tzinfo=UTC)


def part(passed: int, items: int) -> PartScores:
    return PartScores(items=items, passed=passed, retrieval_recall=None, refusal_rate=0.0)


def look(dev: PartScores, holdout: PartScores) -> Look:
    gap = gap_of(dev, holdout)
    return Look(
        looked_at=MOMENT,
        looked_by="Ada",
        version=1,
        holdout_hash="sha256:0",
        pipeline="p",
        judge="facts",
        dev=dev,
        holdout=holdout,
        gap=gap.gap,
        low=gap.low,
        high=gap.high,
    )


def test_the_interval_of_the_gap_is_newcombes() -> None:
    # Newcombe 1998, table II, example (a): 56/70 against 48/80 gives 0.0524 to 0.3339.
    gap = gap_of(part(56, 70), part(48, 80))
    assert (round(gap.gap, 4), round(gap.low, 4), round(gap.high, 4)) == (0.2, 0.0524, 0.3339)


def test_each_look_is_kept_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "set" / "ledger.jsonl"
    counts = [record_look(path, look(part(8, 10), part(7, 10))) for _ in range(3)]
    assert counts == [1, 2, 3]
    assert read_ledger(path)[2] == look(part(8, 10), part(7, 10))


def test_a_widening_gap_that_is_more_than_chance_is_called_overfitting() -> None:
    first, last = look(part(70, 100), part(68, 100)), look(part(95, 100), part(66, 100))
    assert "overfitting to the dev items" in judged_gap([first, last])
    assert "No sign of overfitting that 10" in judged_gap([look(part(80, 100), part(7, 10))])


def test_a_line_that_is_no_look_is_named(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_text('{"looked_by": "x"}\n', encoding="utf-8")
    with pytest.raises(FaultsError, match="line 1"):
        read_ledger(path)

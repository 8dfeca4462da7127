"""The monitor: its figures equal a direct count of the log, and only what is more than noise is called a change."""

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from curation_app.service.changes import (
    Amounts,
    Share,
    daily_change,
    days_half_width,
    latency_change,
    mean_change,
    rate_change,
    spread_half_width,
    widened,
)
from curation_app.service.freshness import freshness_sentences
from curation_app.service.ingesting import run_ingest
from curation_app.service.monitoring import choices, look
from curation_app.service.starting import make_workspace
from curation_app.workspace import Workspace
from ingest.daily_reading import DailyFilter, Latency, read_choices
from ingest.log_store import LogStore

pytestmark = pytest.mark.xdist_group("scores")


def test_every_share_equals_a_direct_count(demo: Any) -> None:
    view = look(
        demo.workspace, DailyFilter(first_day=date(2026, 11, 17), last_day=date(2026, 11, 20), model="larch-2-small")
    )
    assert view is not None
    shares = {gauge.measure.name: gauge.share for gauge in view.gauges if gauge.share}
    with LogStore(demo.workspace.logs_path).unit() as connection:
        connection.execute(
            "CREATE TEMP VIEW chosen AS SELECT * FROM interactions "
            "WHERE CAST(asked_at AS DATE) BETWEEN '2026-11-17' AND '2026-11-20' AND model = 'larch-2-small'"
        )
        direct = connection.execute(
            "SELECT count(*), count(*) FILTER (feedback < 0), count(*) FILTER (error IS NOT NULL) FROM chosen"
        ).fetchall()[0]
        declined = connection.execute(
            "SELECT count(DISTINCT number) FROM mined_hits JOIN chosen ON number = line WHERE signal = 'declined'"
        ).fetchall()[0][0]
    assert shares["thumbs_down"] == Share(direct[1], direct[0])
    assert shares["errors"] == Share(direct[2], direct[0])
    assert shares["declined"] == Share(declined, direct[0])


def test_prompt_versions_come_in_order_of_their_first_day(demo: Any) -> None:
    view = look(demo.workspace, DailyFilter())
    assert view is not None
    assert [(row.name, row.first_day) for row in view.versions] == [
        ("v6", date(2026, 11, 16)),
        ("v7", date(2026, 11, 19)),
    ]


def test_an_empty_selection_and_an_empty_workspace_have_no_figures(demo: Any, tmp_path: Any) -> None:
    assert look(demo.workspace, DailyFilter(first_day=date(2030, 1, 1))) is None
    assert choices(Workspace(tmp_path)) is None


def test_freshness_names_the_oldest_document(demo: Any) -> None:
    sentences = freshness_sentences(demo.workspace, date(2026, 6, 1), now=datetime(2026, 12, 1, tzinfo=UTC))
    assert any("15 documents; the oldest, kb-013, was last written on 30 April 2026" in line for line in sentences)
    assert any("kb-010" in line and "since 01 June 2026" in line for line in sentences)


def test_a_doubled_rate_of_many_turns_moved_and_the_same_of_few_cannot_be_told() -> None:
    assert rate_change(Share(100, 1000), Share(200, 1000)).verdict == "moved"
    assert rate_change(Share(1, 10), Share(2, 10)).verdict == "too few to tell"
    assert rate_change(Share(100, 1000), Share(104, 1000)).verdict == "steady"
    assert rate_change(Share(0, 0), Share(1, 10)).verdict == "too few to tell"


def test_the_rhythm_of_the_week_is_no_change() -> None:
    week = [100.0, 104, 98, 101, 97, 20, 15]
    assert daily_change(week, week).verdict == "steady"
    assert daily_change(week[:3], [300.0, 310, 305]).verdict == "too few to tell"
    assert daily_change(week, [value * 5 for value in week]).verdict == "moved"


def test_a_difference_is_no_change_while_days_vary_as_much() -> None:
    changed = rate_change(Share(50_000, 500_000), Share(52_000, 500_000))
    assert changed.verdict == "moved", "so many turns make any difference look sure"
    restless = [0.10, 0.13, 0.08, 0.11, 0.09, 0.12, 0.07]
    assert widened(changed, days_half_width(restless, restless)).verdict == "steady"
    calm = [0.1000, 0.1001, 0.0999, 0.1000, 0.1001]
    assert widened(changed, days_half_width(calm, [day + 0.004 for day in calm])).verdict == "moved"
    assert widened(changed, days_half_width(restless[:3], restless)).verdict == "moved", "too few days to say"
    assert widened(changed, spread_half_width((restless, restless), (7, 7))).verdict == "steady"


def test_a_mean_cost_moves_only_beyond_its_spread() -> None:
    def amounts(*values: float) -> Amounts:
        return Amounts(len(values), sum(values), sum(value * value for value in values))

    steady = [1.0, 1.2] * 20
    assert mean_change(amounts(*steady), amounts(*steady)).verdict == "steady"
    assert mean_change(amounts(*steady), amounts(*(value * 2 for value in steady))).verdict == "moved"
    assert mean_change(amounts(1.0), amounts(2.0)).verdict == "too few to tell"


def test_latency_moves_when_bounds_by_rank_do_not_meet() -> None:
    before = Latency(100, 300, (95, 105), (280, 320), 500)
    assert latency_change(before, Latency(180, 600, (170, 190), (550, 650), 500), quantile="p50").verdict == "moved"
    assert latency_change(before, Latency(103, 310, (98, 108), (290, 330), 500), quantile="p95").verdict == "steady"
    assert latency_change(before, Latency(), quantile="p50").verdict == "too few to tell"


def test_days_are_counted_when_a_large_ingest_is_over_and_by_the_first_reader_otherwise(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path).workspace
    log = tmp_path / "large.jsonl"
    rows = ({"id": str(n), "at": f"2026-09-0{1 + n % 3}T10:00:00Z", "q": "how", "a": "so"} for n in range(100_050))
    log.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    (tmp_path / "m.yaml").write_text(
        "source: s\nformat: jsonl\ninteractions: {id: id, asked_at: at, question: q, answer: a}\n", encoding="utf-8"
    )
    run_ingest(workspace, [log], mapping=str(tmp_path / "m.yaml"))
    with LogStore(workspace.logs_path).unit() as connection:
        counted = connection.execute("SELECT sum(interactions) FROM daily_turns").fetchall()[0][0]
        assert counted == 100_050
        connection.execute("DELETE FROM daily_turns")
        found = read_choices(connection)
    assert (found.first_day, found.last_day) == (date(2026, 9, 1), date(2026, 9, 3))

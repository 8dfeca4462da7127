"""Numbers by day: the same as a direct count, after any order of ingests."""

import random
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from ingest import daily
from ingest.daily_reading import DailyFilter, read_choices, read_figures
from ingest.log_store import LogStore

FIRST = datetime(2026, 11, 1, tzinfo=UTC)
DIRECT = """
SELECT CAST(asked_at AS DATE), model, prompt_version, count(*), count(*) FILTER (feedback = 1),
    count(*) FILTER (feedback = -1), count(*) FILTER (error IS NOT NULL), round(coalesce(sum(cost), 0), 9)
FROM interactions GROUP BY ALL ORDER BY ALL
"""
KEPT = """
SELECT day, model, prompt_version, sum(interactions), sum(thumbs_up), sum(thumbs_down), sum(errors), round(sum(cost), 9)
FROM daily_turns GROUP BY ALL ORDER BY ALL
"""


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with LogStore(tmp_path / "logs.duckdb").unit() as opened:
        yield opened


def add(connection: duckdb.DuckDBPyConnection, ingest_id: int, seed: int, count: int = 120) -> None:
    rng = random.Random(seed)  # noqa: S311 - repeatable rows, not a secret
    rows: list[object] = []
    for number in range(count):
        asked_at = None if rng.random() < 0.02 else FIRST + timedelta(hours=rng.uniform(0, 24 * 6))
        rows.extend(
            (
                f"log:{seed}-{number}",
                "log",
                None if rng.random() < 0.1 else f"s{rng.randrange(80)}",
                asked_at,
                rng.choice(["How do refunds work?", "refunds refunds", "Wo ist die Kündigung"]),
                rng.choice(["Thirty days.", "", None]),
                rng.choice([None, None, 1, -1]),
                rng.choice(["small", "large", None]),
                rng.choice(["v6", "v7"]),
                rng.choice([None, rng.uniform(0, 9000), 0.4]),
                rng.choice([None, rng.uniform(0, 0.01)]),
                rng.choice([None, None, "timeout"]),
                "hash",
                ingest_id,
            )
        )
    connection.execute(
        "INSERT INTO interactions (interaction_id, source, session_id, asked_at, question, answer, feedback, model, "  # noqa: S608 - placeholders
        "prompt_version, latency_ms, cost, error, content_hash, ingest_id) VALUES "
        + ",".join([f"({'?,' * 13}?)"] * count),
        rows,
    )
    daily.update(connection, ingest_id)


def sessions_begun(connection: duckdb.DuckDBPyConnection) -> list[tuple[object, ...]]:
    return connection.execute(
        "SELECT CAST(first_at AS DATE) AS day, count(*) FROM (SELECT min(asked_at) AS first_at FROM interactions "
        "WHERE session_id IS NOT NULL GROUP BY source, session_id) GROUP BY day ORDER BY day"
    ).fetchall()


def test_counts_by_day_equal_a_direct_query_after_several_ingests(connection: duckdb.DuckDBPyConnection) -> None:
    for ingest_id in (1, 2, 3):
        add(connection, ingest_id, seed=ingest_id)
        assert connection.execute(KEPT).fetchall() == connection.execute(DIRECT).fetchall()


def test_a_session_counts_on_the_day_it_began_even_when_earlier_turns_come_later(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    add(connection, 1, seed=1)
    add(connection, 2, seed=2)
    kept = connection.execute(
        "SELECT day, sum(sessions) FROM daily_turns GROUP BY day HAVING sum(sessions) > 0 ORDER BY day"
    ).fetchall()
    assert kept == sessions_begun(connection)


def test_latency_is_kept_to_three_digits_and_every_turn_counts(connection: duckdb.DuckDBPyConnection) -> None:
    add(connection, 1, seed=5)
    kept = connection.execute(
        "SELECT quantile_disc(ms, [0.5, 0.95]) FROM "
        "(SELECT unnest(list_resize([latency_ms], turns, latency_ms)) AS ms FROM daily_latency)"
    ).fetchall()[0][0]
    direct = connection.execute("SELECT quantile_disc(latency_ms, [0.5, 0.95]) FROM interactions").fetchall()[0][0]
    assert kept == pytest.approx(direct, rel=0.005)


def test_a_turn_that_moves_to_another_day_leaves_the_old_one(connection: duckdb.DuckDBPyConnection) -> None:
    add(connection, 1, seed=1)
    connection.execute(
        "UPDATE interactions SET asked_at = asked_at + INTERVAL 30 DAY, ingest_id = 2 WHERE interaction_id = 'log:1-7'"
    )
    daily.update(connection, 2)
    assert connection.execute(KEPT).fetchall() == connection.execute(DIRECT).fetchall()


def test_forgotten_turns_leave_the_counts_at_the_next_ingest(connection: duckdb.DuckDBPyConnection) -> None:
    add(connection, 1, seed=1)
    connection.execute("DELETE FROM interactions WHERE session_id = 's3'")
    daily.update(connection, 2)
    assert connection.execute(KEPT).fetchall() == connection.execute(DIRECT).fetchall()


def test_a_word_counts_once_a_question(connection: duckdb.DuckDBPyConnection) -> None:
    add(connection, 1, seed=1)
    kept = connection.execute("SELECT sum(turns) FROM daily_words WHERE word = 'refunds'").fetchall()
    direct = connection.execute("SELECT count(*) FROM interactions WHERE question ILIKE '%refunds%'").fetchall()
    assert kept == direct
    assert connection.execute("SELECT count(*) FROM daily_words WHERE word = 'kündigung'").fetchall() != [(0,)]


def test_signals_count_each_flagged_turn_once(connection: duckdb.DuckDBPyConnection) -> None:
    add(connection, 1, seed=1)
    connection.execute("UPDATE interactions SET number = rowid")
    connection.execute("CREATE TEMP VIEW logs AS SELECT * FROM interactions")
    connection.execute(
        "CREATE TEMP TABLE came AS SELECT number AS line, unnest(['declined', 'declined', 'error']) AS signal "
        "FROM logs WHERE interaction_id = 'log:1-3'"
    )
    daily.move_signals(connection, gone="(SELECT * FROM came WHERE false)", new="came")
    daily.move_signals(
        connection, gone="(SELECT * FROM came WHERE signal = 'error')", new="(SELECT * FROM came LIMIT 0)"
    )
    assert connection.execute("SELECT signal, sum(turns) FROM daily_signals GROUP BY signal").fetchall() == [
        ("declined", 1)
    ]


def test_figures_can_be_narrowed_and_grouped_like_a_direct_query(connection: duckdb.DuckDBPyConnection) -> None:
    add(connection, 1, seed=1)
    narrowed = DailyFilter(first_day=date(2026, 11, 2), last_day=date(2026, 11, 4), model="small")
    found = read_figures(connection, narrowed, by="prompt_version")
    direct = connection.execute(
        "SELECT prompt_version, count(*), count(*) FILTER (error IS NOT NULL), quantile_disc(latency_ms, 0.5) "
        "FROM interactions WHERE model = 'small' AND CAST(asked_at AS DATE) BETWEEN '2026-11-02' AND '2026-11-04' "
        "GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    assert [(row.group, row.interactions, row.errors) for row in found] == [row[:3] for row in direct]
    for row, (*_, median) in zip(found, direct, strict=True):
        assert row.latency.p50 == pytest.approx(median, rel=0.005)
        assert row.latency.p50_bounds is not None
        assert row.latency.p50_bounds[0] <= median <= row.latency.p50_bounds[1] * 1.005


def test_choices_name_what_the_log_holds(connection: duckdb.DuckDBPyConnection) -> None:
    add(connection, 1, seed=1)
    choices = read_choices(connection)
    assert choices.models == ("", "large", "small")
    assert choices.prompt_versions == ("v6", "v7")
    direct = connection.execute("SELECT count(*) FROM interactions WHERE asked_at IS NULL").fetchall()
    assert [(choices.undated,)] == direct


def test_long_answers_are_counted_in_little_memory(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute(
        "INSERT INTO interactions (interaction_id, source, session_id, asked_at, question, answer, content_hash,"
        " ingest_id, number) SELECT 'log:' || range, 'log', 's' || range // 3, TIMESTAMPTZ '2026-11-01 00:00:00+00',"
        " 'how', repeat('long words ', 1500) || range, 'hash', 1, range FROM range(8000)"
    )
    connection.execute("CHECKPOINT")
    connection.execute("SET memory_limit = '90MB'")
    daily.update(connection, 1)
    assert connection.execute("SELECT sum(interactions), sum(answers) FROM daily_turns").fetchall() == [(8000, 8000)]

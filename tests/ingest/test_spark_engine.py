"""What Spark finds is what DuckDB finds."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from ingest.exporting import write_parquet
from ingest.mining.run import mine
from ingest.mining.shortlist import keep_crowded, shortlist
from ingest.mining.spark_engine import SparkSignals, mine_on_spark, start_spark
from ingest.mining.spark_import import read_mined
from ingest.settings import QueueSettings, SignalSettings
from ingest.signals.columns import SignalColumns
from ingest.signals.duckdb_engine import DuckDBSignals
from tests.ingest.conversations import START, closing_turn, store_of, turn

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java"),
]


BOT = range(100, 160)
"""As many turns as no person has in a session, by the settings of the test."""


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """Give one session to all tests: its start is what costs most."""
    pytest.importorskip("pyspark")
    session = start_spark(master="local[2]", shuffle_partitions=2)
    yield session
    session.stop()


def test_both_engines_give_the_same_candidates_scores_and_reasons_however_odd_the_log(
    spark: Any, tmp_path: Path
) -> None:
    declined = "I'm sorry, but I could not find an answer to that."
    turns = [
        turn(1, "How do I cancel it?", declined),
        turn(2, "How do I cancel the Studio plan?", feedback=-1, feedback_comment="no"),
        turn(3, "No, I meant the trial."),
        turn(4, "Where is my invoice?", "", session_id="s2", user_id="u2", error="timeout"),
        turn(5, "Where is my invoice?", session_id="s3", user_id="u2"),
        turn(6, "Can I talk to a real person?", session_id=None, user_id="u3"),
        *(turn(n, "Are you alive?", session_id="giant", user_id="g", feedback=-1 if n == 150 else None) for n in BOT),
        *(turn(n + 100, "Are you alive?", session_id=None, user_id="loose") for n in BOT),
        *(turn(n + 200, "Are you alive?", session_id=f"probe{n}", user_id="prober") for n in BOT),
        *(turn(n + 300, f"Thing {n}", session_id="constant", user_id=f"c{n}") for n in BOT),
        turn(9, "How do I pay it?", interaction_id="log:9", session_id="tied", user_id="t", asked_at=START),
        turn(
            10, "How do I pay the Studio plan?", interaction_id="log:10", session_id="tied", user_id="t", asked_at=START
        ),
        closing_turn(),
    ]
    signals = SignalSettings(giant_session_turns=50)
    store = store_of(tmp_path, turns)
    write_parquet(store, tmp_path / "exported")
    mine_on_spark(spark, str(tmp_path / "exported"), str(tmp_path / "mined"), signals=signals)
    there = {each.candidate_id: each for each in read_mined(tmp_path / "mined", signals, QueueSettings())}
    here = {each.candidate_id: each for each in mine(store, signals).candidates}
    assert {key: each.signals for key, each in there.items()} == {key: each.signals for key, each in here.items()}
    assert [(key, each.priority, each.inclusion_probability) for key, each in sorted(there.items())] == [
        (key, each.priority, each.inclusion_probability) for key, each in sorted(here.items())
    ]
    assert {key: len(each.turns) for key, each in there.items()} == {key: len(each.turns) for key, each in here.items()}
    flagged = {each.interaction_id: {hit.signal for hit in each.signals} for each in here.values() if each.signals}
    assert flagged["log:150"] == {"thumbs_down"}
    assert flagged["log:9"] == {"rephrased"}
    assert not [name for name in flagged if name.startswith(("log:2", "log:3", "log:4"))]


def test_both_engines_draw_the_same_short_list_with_the_same_chances(spark: Any) -> None:
    flagged = "SELECT * FROM (VALUES ('thumbs_down', 90), ('declined', 44), ('slow', 10)) AS s(sampling_signal, raised)"
    numbers = ", ".join(f"({n})" for n in range(300))
    ranks = (
        f"SELECT concat(sampling_signal, n) AS line, cast(n % 40 AS bigint) AS session, "  # noqa: S608 - our own numbers
        f"substr(md5(concat(sampling_signal, n)), 9, 12) AS lot, "
        f"cast(raised + n % 7 AS double) / 100 AS raised, "
        f"sampling_signal FROM ({flagged}) AS f CROSS JOIN (VALUES {numbers}) AS r(n)"
    )
    queue = QueueSettings(limit=120, per_session=20)
    with duckdb.connect() as connection:
        found = []
        for engine in (
            SparkSignals(spark, SignalSettings()),
            DuckDBSignals(connection, SignalColumns(SignalSettings())),
        ):
            engine.keep("ranks", ranks, {})
            keep_crowded(engine, queue)
            assert shortlist(engine, queue).kept == 120
            found.append(sorted(engine.rows("SELECT line, priority, sampling_signal, probability FROM chosen")))
    assert found[0] == found[1]
    assert {signal for _, _, signal, _ in found[0]} == {"thumbs_down", "declined", "slow"}
    assert {probability == 1 for _, _, _, probability in found[0]} == {True, False}

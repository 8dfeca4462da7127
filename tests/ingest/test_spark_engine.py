import shutil
from pathlib import Path

import pytest

from ingest.exporting import write_parquet
from ingest.mining import mine
from ingest.settings import QueueSettings, SignalSettings
from ingest.spark_import import read_mined
from tests.ingest.conversations import closing_turn, store_of, turn

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java"),
]


def test_both_engines_give_the_same_candidates_scores_and_reasons(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    from ingest.spark_engine import mine_on_spark, start_spark

    declined = "I'm sorry, but I could not find an answer to that."
    turns = [
        turn(1, "How do I cancel it?", declined),
        turn(2, "How do I cancel the Studio plan?", feedback=-1, feedback_comment="no"),
        turn(3, "No, I meant the trial."),
        turn(4, "Where is my invoice?", "", session_id="s2", user_id="u2", error="timeout"),
        turn(5, "Where is my invoice?", session_id="s3", user_id="u2"),
        turn(6, "Can I talk to a real person?", session_id=None, user_id="u3"),
        closing_turn(),
    ]
    store = store_of(tmp_path, turns)
    write_parquet(store, tmp_path / "exported")
    session = start_spark(master="local[2]", shuffle_partitions=2)
    try:
        mine_on_spark(session, str(tmp_path / "exported"), str(tmp_path / "mined"))
    finally:
        session.stop()
    there = {each.candidate_id: each for each in read_mined(tmp_path / "mined", SignalSettings(), QueueSettings())}
    here = {each.candidate_id: each for each in mine(store).candidates}
    assert {key: each.signals for key, each in there.items()} == {key: each.signals for key, each in here.items()}
    assert {key: each.priority for key, each in there.items()} == {key: each.priority for key, each in here.items()}
    assert {key: len(each.turns) for key, each in there.items()} == {key: len(each.turns) for key, each in here.items()}

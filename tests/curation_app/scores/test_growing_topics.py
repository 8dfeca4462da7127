"""What is asked about more than before, and the interactions behind a figure, over a log whose figures are known."""

from datetime import date
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from curation_app.service.growing_topics import gather, growing_topics, grown_words
from curation_app.service.monitoring import look
from curation_app.service.starting import make_workspace
from curation_app.service.surfacing import list_behind, put_in_queue, read_turn
from curation_app.workspace import WORKSPACE_VARIABLE, Workspace
from evalsets.errors import BadInputError
from ingest import daily
from ingest.daily_reading import DailyFilter, WordCount
from ingest.interaction_reading import Behind
from ingest.log_store import LogStore

# Thirty days of a hundred questions; in the last seven, a fifth are about one new thing.
_LOG = """
INSERT INTO interactions (interaction_id, source, session_id, asked_at, question, answer, feedback, latency_ms,
    content_hash, ingest_id)
SELECT 'i' || n, 'desk', 's' || (n // 2),
    TIMESTAMPTZ '2026-09-01 08:00:00+00' + to_minutes(CAST(n // 100 * 1440 + n % 100 AS BIGINT)),
    CASE WHEN n >= 2300 AND n % 5 = 0 THEN 'Where is the refund for my annual plan, number ' || n || '?'
        WHEN n = 7 THEN 'A refund?' ELSE 'How do I print invoice ' || n || '?' END,
    'So.', CASE WHEN n % 50 = 0 THEN 1 WHEN n % 50 = 1 THEN -1 END, 100 + n, 'h', 1
FROM range(3000) AS t(n)
"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    workspace = make_workspace(tmp_path_factory.mktemp("desk")).workspace
    with LogStore(workspace.logs_path).unit() as connection:
        connection.execute(_LOG)
        daily.update(connection, 1)
    return workspace


def test_a_new_topic_is_named_by_its_phrase_with_counts_equal_to_a_direct_query(desk: Workspace) -> None:
    view = look(desk, DailyFilter())
    assert view is not None
    (topic,) = growing_topics(desk, view.compared)
    assert topic.phrase == "refund for my annual plan"
    with LogStore(desk.logs_path).unit() as connection:
        direct = connection.execute(
            "SELECT count(*) FILTER (asked_at >= '2026-09-24'), count(*) FILTER (asked_at < '2026-09-24') "
            "FROM interactions WHERE contains(lower(question), ?)",
            [topic.phrase],
        ).fetchall()[0]
    assert (topic.recent, topic.before) == direct == (140, 0)
    assert topic.growth is None
    assert "annual plan" in topic.example


def test_words_grow_only_beyond_the_chance_of_testing_many() -> None:
    steady = [WordCount(f"word{number}", 10, 40) for number in range(500)]
    lucky = WordCount("lucky", 19, 40)
    grown = WordCount("outage", 60, 40)
    assert grown_words([*steady, lucky, grown], before=4000, recent=1000) == [grown]
    assert grown_words([lucky], before=4000, recent=1000) == [lucky], "alone, it is no accident"
    assert grown_words([WordCount("slowly", 110_000, 400_000)], before=4_000_000, recent=1_000_000) == []


def test_words_that_are_asked_together_share_one_phrase() -> None:
    questions = (
        [f"my annual plan renewed, why? {number}" for number in range(10)] + ["plan"] * 3 + ["Export to CSV"] * 5
    )
    words = [WordCount(word, 9, 1) for word in ("annual", "plan", "renewed", "export")]
    assert list(gather(words, questions)) == ["annual plan renewed", "export to csv"]


def test_the_list_behind_a_figure_holds_what_the_figure_counts(desk: Workspace) -> None:
    view = look(desk, DailyFilter())
    assert view is not None
    thumbs = next(gauge.share for gauge in view.gauges if gauge.measure.name == "thumbs_up")
    assert thumbs is not None
    listed = list_behind(desk, Behind(vote="up"))
    assert listed.total == thumbs.part == 60
    assert len(listed.rows) == 50
    assert len(list_behind(desk, Behind(vote="up"), page=2).rows) == 10
    day = DailyFilter(date(2026, 9, 30), date(2026, 9, 30))
    slowest = list_behind(desk, Behind(day, order="slowest"))
    assert (slowest.total, slowest.rows[0].interaction_id) == (100, "i2999")


def test_an_interaction_that_no_signal_found_is_put_in_the_queue_once_with_its_session(desk: Workspace) -> None:
    assert put_in_queue(desk, "i8", by="Ada")
    assert not put_in_queue(desk, "i8", by="Ada")
    assert read_turn(desk, "i8").question == "How do I print invoice 8?"
    with pytest.raises(BadInputError, match="holds no interaction 'gone'"):
        put_in_queue(desk, "gone", by="Ada")


def test_the_page_of_interactions_says_what_narrows_it(desk: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WORKSPACE_VARIABLE, str(desk.root))
    app = AppTest.from_file(str(Path("curation_app/pages/interactions.py").resolve()), default_timeout=60)
    app.query_params["vote"] = "down"
    app.query_params["since"] = "2026-09-30"
    app.run()
    assert not app.exception
    assert "**2** interactions: from 30 September 2026 to the last, voted down" in app.markdown[0].value.replace(
        "\\", ""
    )


def test_the_monitor_names_the_topic_among_its_findings(desk: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WORKSPACE_VARIABLE, str(desk.root))
    app = AppTest.from_file(str(Path("curation_app/pages/monitor.py").resolve()), default_timeout=60).run()
    assert not app.exception
    assert "Asked about more than before: “refund for my annual plan”" in app.markdown[0].value.replace("\\", "")

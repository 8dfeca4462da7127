"""The four-metric scorecard and the every-question gate."""

import pytest

from evalsets.metrics.scorecard import (
    CONTEXT_PRECISION,
    CONTEXT_RECALL,
    EveryQuestionBars,
    QuestionScores,
    ScorecardBars,
    every_question,
    scorecard,
    scorecard_of_rows,
)
from tests.evalsets.cases import answered, ranked

NAMES = ("faithfulness", "answer_relevance", "context_precision", "context_recall")
ROWS = [
    dict(zip(NAMES, row, strict=True)) for row in ((1.0, 0.9, 0.66, 1.0), (0.95, 0.85, 0.75, 0.8), (0.9, 0.8, 0.8, 0.7))
]


def test_known_rows_pass_with_known_means() -> None:
    card = scorecard_of_rows(ROWS)

    assert [round(row.value or 0, 3) for row in card.rows] == [0.95, 0.85, 0.737, 0.833]
    assert card.passes


@pytest.mark.parametrize("name", NAMES)
def test_one_metric_under_its_bar_fails_the_whole(name: str) -> None:
    card = scorecard({**dict.fromkeys(NAMES, 1.0), name: 0.69})

    assert not card.passes
    assert [row.name for row in card.rows if not row.passes] == [name]


def test_a_metric_nothing_measured_is_no_pass() -> None:
    card = scorecard({"faithfulness": 1.0, "context_precision": 1.0, "context_recall": None})

    assert [(row.name, row.passes) for row in card.rows] == list(zip(NAMES, (True, False, True, False), strict=True))


def test_a_proxy_stands_in_for_faithfulness_and_says_so() -> None:
    row = scorecard({"grounded_tokens": 0.95}).rows[0]

    assert (row.measured_by, row.is_proxy, row.passes) == ("grounded_tokens", True, True)


def test_a_set_may_bring_its_own_bars() -> None:
    assert not scorecard_of_rows(ROWS, ScorecardBars(faithfulness=0.96)).passes


def test_context_precision_falls_with_what_stands_above_the_gold() -> None:
    assert CONTEXT_PRECISION.score(ranked(["a", "x"], gold=["a"])) == 1.0
    assert CONTEXT_PRECISION.score(ranked(["x", "a"], gold=["a"])) == 0.5
    assert CONTEXT_PRECISION.score(ranked(["x"], gold=["a"])) == 0.0
    assert CONTEXT_PRECISION.score(ranked(["x"], gold=[])) is None


def test_context_recall_takes_facts_where_no_gold_is_known() -> None:
    assert CONTEXT_RECALL.score(ranked(["a"], gold=["a", "b"])) == 0.5
    assert CONTEXT_RECALL.score(answered("", texts=["in 30 days"], answer_facts=("30 days", "free"))) == 0.5
    assert CONTEXT_RECALL.score(answered("")) is None


def test_every_question_must_clear_every_bar_however_good_the_mean() -> None:
    result = every_question(
        [QuestionScores("good", 1.0, 1.0, 1.0), QuestionScores("bad", 0.5, None, 0.9)],
        EveryQuestionBars(recall=0.8),
    )

    assert not result.passes
    assert [(failure.item_id, failure.name, failure.value) for failure in result.failures] == [("bad", "recall", 0.5)]


def test_no_question_at_all_is_no_pass() -> None:
    assert not every_question([]).passes

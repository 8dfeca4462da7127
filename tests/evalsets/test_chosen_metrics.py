"""Metrics that a run scores beside those it always does."""

import pytest

from curation_app.cli.entry import run as run_command
from evalsets.embedding import MINILM, has_minilm, load_embedder, passage_similarity
from evalsets.judges.base import FactsJudge
from evalsets.pipelines.python_object import PythonPipeline
from evalsets.running.runner import RunSettings, run
from tests.evalsets.run_parts import CountingSystem, question_set

needs_minilm = pytest.mark.skipif(not has_minilm(), reason="the small sentence model is not installed")


def test_named_metrics_are_scored_beside_the_others_and_kept_in_the_settings() -> None:
    settings = RunSettings(k=3, metrics=("words_within@1-3", "recall@1"))
    report = run(question_set("a", "b"), PythonPipeline(CountingSystem()), FactsJudge(), settings)

    assert report.metrics["words_within@1-3"].value == 1.0
    assert {"recall@1", "recall@3"} <= set(report.metrics)
    assert report.settings["metrics"] == ["words_within@1-3", "recall@1"]


def test_an_unknown_metric_is_named_before_any_call(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["run", "no-such-set", "--metric", "recal@5"]) == 2
    assert "'recal@5': use one of" in capsys.readouterr().err


@needs_minilm
def test_with_a_sentence_model_groundedness_sees_meaning() -> None:
    settings = RunSettings(embeddings=MINILM)
    report = run(question_set("a"), PythonPipeline(CountingSystem()), FactsJudge(), settings)

    figure = report.metrics["grounded_meaning"]
    assert figure.is_proxy
    assert figure.value is not None
    assert 0 < figure.value < 1


@needs_minilm
def test_the_closest_passage_is_the_one_that_means_the_same() -> None:
    similarity = passage_similarity(load_embedder(MINILM))
    question = "How do I get my money back?"

    near = similarity(question, ["", "Refunds are paid to your card.", "The garage is behind the house."])
    assert near == pytest.approx(similarity(question, ["Refunds are paid to your card."]), abs=0.02)
    assert near > similarity(question, ["The garage is behind the house."]) + 0.1
    assert similarity(question, [" "]) == 0.0

"""What a run says of production."""

from typing import Any

import pytest

from evalsets.eval_set import EvalSet
from evalsets.judges.base import FactsJudge
from evalsets.pipelines.python_object import PythonPipeline
from evalsets.report import Report
from evalsets.report_formats import render
from evalsets.running.runner import RunSettings, run
from tests.evalsets.cases import item
from tests.evalsets.run_parts import CountingSystem


def report_of(*drawn: dict[str, Any]) -> Report:
    items = tuple(
        item(id=f"i{place:02}", question=f"q{place}", gold_chunk_ids=("c1",), **fields)
        for place, fields in enumerate(drawn)
    )
    return run(EvalSet(name="drawn", items=items), PythonPipeline(CountingSystem()), FactsJudge(), RunSettings())


def drawn(signal: str, probability: float, fact: str) -> dict[str, Any]:
    return {"answer_facts": (fact,), "sampling": {"signal": signal, "probability": probability}}


def test_a_rare_draw_weighs_as_many_interactions_as_it_stands_for() -> None:
    flagged = [drawn("thumbs_down", 1.0, "no")] * 10
    controls = [drawn("control", 0.1, "yes")] * 4
    estimate = report_of(*flagged, *controls).production

    assert estimate is not None
    assert estimate.pass_rate == pytest.approx(40 / 50)
    assert estimate.low < 0.8 < estimate.high
    assert estimate.effective_items == pytest.approx(50**2 / 410)


def test_the_text_report_tells_it() -> None:
    report = report_of(*[drawn("control", 0.5, "yes")] * 12)

    assert "in production, by how items were drawn: passed 1" in render(report, "text")


@pytest.mark.parametrize(
    "items",
    [[drawn("control", 0.5, "yes")] * 9, [drawn("thumbs_down", 1.0, "no")] * 12, [{"answer_facts": ("yes",)}] * 12],
)
def test_too_few_draws_or_no_controls_say_nothing_of_production(items: list[dict[str, Any]]) -> None:
    assert report_of(*items).production is None

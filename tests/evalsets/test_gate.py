import json
from pathlib import Path
from typing import Any

import pytest

from evalsets.comparison import compare
from evalsets.errors import BadInputError, ExitCode
from evalsets.eval_set import EvalSet
from evalsets.gating.baseline import history, set_baseline
from evalsets.gating.gate import Tolerances, evaluate
from evalsets.judges.base import FactsJudge
from evalsets.pipelines.python_object import PythonPipeline
from evalsets.report import Report
from evalsets.running.runner import CorpusState, RunSettings, run
from tests.evalsets.cases import item
from tests.evalsets.run_parts import CountingSystem, numbered_set

BASELINE = {"faithfulness": 0.92, "answer_relevance": 0.82, "context_precision": 0.72, "context_recall": 0.81}
CURRENT = {"faithfulness": 0.93, "answer_relevance": 0.83, "context_precision": 0.60, "context_recall": 0.82}
MODES = ("retrieval_miss", "grounding_failure", "refusal", "out_of_scope")


class Answering(CountingSystem):
    """Passes on all questions but those named."""

    def __init__(self, *failing: str, declining: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.failing, self.declining = failing, declining

    def answer(self, question: str, chunks: list[dict[str, str]]) -> str:
        super().answer(question, chunks)
        if question in self.declining:
            return "I could not find that."
        return "no" if question in self.failing else "yes"


def report_of(eval_set: EvalSet, system: CountingSystem, **settings: Any) -> Report:
    return run(eval_set, PythonPipeline(system), FactsJudge(), RunSettings(max_error_share=1.0), **settings)


def ids(*numbers: int) -> tuple[str, ...]:
    return tuple(f"q{number:03}" for number in numbers)


def test_the_known_scorecard_fall_fails_and_names_the_retriever() -> None:
    result = evaluate(BASELINE, CURRENT, 0.03)
    assert result.exit_code == ExitCode.GATE_FAILED
    assert [finding.sentence.partition(" (")[0] for finding in result.failures] == ["context_precision: 0.60 < 0.69"]
    assert result.halves_to_fix == ("retrieval",)


def test_a_fall_of_exactly_the_tolerance_passes() -> None:
    assert evaluate({"recall": 0.72}, {"recall": 0.69}, 0.03).passed
    assert not evaluate({"recall": 0.72}, {"recall": 0.6899}, 0.03).passed


def test_a_refusal_rate_may_not_rise() -> None:
    before, after = (
        report_of(numbered_set(20), Answering()),
        report_of(numbered_set(20), Answering(declining=ids(1, 2))),
    )
    failed = {finding.name for finding in evaluate(before, after).failures}
    assert "refusal_rate" in failed
    assert evaluate(before, after, Tolerances(metric=0.2, mode=0.2)).passed


def test_each_mode_has_the_mode_tolerance_or_its_own() -> None:
    eval_set = EvalSet(
        name="modes",
        items=tuple(
            item(id=f"q{n:03}", question=f"q{n:03}", mode=MODES[n % 2], answer_facts=("yes",), gold_chunk_ids=("c1",))
            for n in range(40)
        ),
    )
    before, after = report_of(eval_set, Answering()), report_of(eval_set, Answering(*ids(0, 2)))
    failed = [finding.name for finding in evaluate(before, after).failures]
    assert failed == ["answer_accuracy", "mode retrieval_miss"]
    eased = Tolerances(metrics={"answer_accuracy": 0.1}, modes={"retrieval_miss": 0.1})
    assert evaluate(before, after, eased).passed


def test_what_is_missing_does_not_pass() -> None:
    result = evaluate(BASELINE, {name: value for name, value in BASELINE.items() if name != "faithfulness"})
    assert [(finding.name, finding.kind) for finding in result.failures] == [("faithfulness", "missing")]
    whole, part = (
        numbered_set(4),
        EvalSet(name="small", items=(item(id="x", question="x", mode="refusal", answer_facts=("yes",)),)),
    )
    before = report_of(whole, Answering()).wire()
    after = {**report_of(whole, Answering()).wire(), "by_mode": report_of(part, Answering()).by_mode}
    assert "mode retrieval_miss: missing from the current run" in evaluate(before, after).failures[0].sentence


def test_a_floor_holds_whatever_the_baseline_says() -> None:
    result = evaluate(BASELINE, BASELINE, Tolerances(floors={"context_precision": 0.75, "refusal_rate": 0.1}))
    assert [finding.sentence for finding in result.failures] == [
        "context_precision: 0.72 < 0.75 (floor)",
        "refusal_rate: missing from the current run, which has a floor of 0.10 for it",
    ]


def test_a_proxy_gates_only_when_allowed() -> None:
    report = report_of(numbered_set(4), Answering())
    refused = evaluate(report, report, Tolerances(metrics={"grounded_tokens": 0.1}))
    assert "cannot gate unless allow_proxy" in refused.failures[0].sentence
    assert evaluate(report, report, Tolerances(metrics={"grounded_tokens": 0.1}, allow_proxy=True)).passed


def test_nearly_perfect_scores_ask_for_new_items() -> None:
    report = report_of(numbered_set(40), Answering())
    assert "no longer tells runs apart" in evaluate(report, report).warnings[0]
    failing = report_of(numbered_set(40), Answering(*ids(1, 2)))
    assert not evaluate(failing, failing).warnings


def test_a_run_cut_short_and_a_drifted_set_have_exit_codes_of_their_own() -> None:
    whole = report_of(numbered_set(4), Answering())
    part = run(numbered_set(4), PythonPipeline(Answering()), FactsJudge(), RunSettings(max_calls=5))
    assert evaluate(whole, part).exit_code == ExitCode.RUN_INCOMPLETE
    drifted = report_of(numbered_set(4), Answering(), corpus=CorpusState({"valid": 3, "gone": 1}))
    assert evaluate(whole, drifted).exit_code == ExitCode.SET_DOES_NOT_FIT_CORPUS
    assert "1 gone" in evaluate(whole, drifted).notes[0]


def test_an_unchecked_judge_cannot_gate_unless_allowed_and_the_result_says_so() -> None:
    report = report_of(numbered_set(4), Answering()).wire()
    report["judge"] = {"name": "model", "fingerprint": "f", "may_gate": False, "note": "kappa 0.41 is below 0.6"}
    refused = evaluate(report, report)
    assert not refused.passed
    assert "judge model cannot gate: kappa 0.41 is below 0.6" in refused.failures[0].sentence
    allowed = evaluate(report, report, Tolerances(allow_unchecked_judge=True))
    assert allowed.passed
    assert "an unchecked judge was allowed to gate" in allowed.notes


def test_another_set_version_is_compared_on_the_common_items_and_says_so() -> None:
    before = report_of(numbered_set(10), Answering(*ids(0, 1)))
    newer = EvalSet(
        name="small",
        version=2,
        items=(*numbered_set(8).items, *(item(id=f"new{n}", question=f"new{n}") for n in range(5))),
    )
    after = report_of(newer, Answering(*ids(0, 1)))
    result = evaluate(before, after)
    assert "compared on the 8 items that both hold unchanged (of 10 and 13)" in result.notes[0]
    accuracy = next(finding for finding in result.findings if finding.name == "answer_accuracy")
    assert (accuracy.baseline, accuracy.current) == (0.75, 0.75)


def test_required_significance_lets_chance_pass_and_stops_a_real_fall() -> None:
    eval_set = numbered_set(50)
    base = report_of(eval_set, Answering(*ids(*range(8))))
    chance = report_of(eval_set, Answering(*ids(*range(11))))
    fallen = report_of(eval_set, Answering(*ids(*range(1, 8), *range(20, 30))))
    assert not evaluate(base, chance).passed
    passed = evaluate(base, chance, Tolerances(require_significant=True))
    assert passed.passed
    assert any("McNemar mid-p over 50 items: 3 broke, 0 fixed" in finding.sentence for finding in passed.findings)
    stopped = evaluate(base, fallen, Tolerances(require_significant=True))
    assert {finding.name for finding in stopped.failures} == {"answer_accuracy", "mode retrieval_miss"}
    with pytest.raises(BadInputError, match="needs two reports"):
        evaluate(BASELINE, CURRENT, Tolerances(require_significant=True))


def test_the_scorecard_passes_only_if_every_metric_clears_its_bar() -> None:
    report = report_of(numbered_set(4), Answering())
    failed = evaluate(report, report, Tolerances(scorecard=True)).failures
    assert {(finding.name, finding.kind) for finding in failed} == {
        ("faithfulness", "refused"),
        ("answer_relevance", "missing"),
    }
    easier = EvalSet(
        name="small",
        thresholds={"context_recall": 1.0, "hard:context_recall": 0.5},
        items=numbered_set(2, tags=("hard",)).items,
    )
    cards = report_of(easier, Answering()).scorecards
    assert {
        tag: next(line.bar for line in card.lines if line.name == "context_recall") for tag, card in cards.items()
    } == {
        "all": 1.0,
        "hard": 0.5,
    }


def test_every_question_must_clear_its_bars() -> None:
    report = report_of(numbered_set(4), Answering(*ids(2)))
    failed = evaluate(report, report, Tolerances(every_question=True)).failures
    assert "every question, correctness: 1 of 4 questions under 0.80: q002" in [finding.sentence for finding in failed]


def test_a_comparison_lists_what_broke_and_was_fixed_with_both_answers() -> None:
    before, after = report_of(numbered_set(12), Answering(*ids(1))), report_of(numbered_set(12), Answering(*ids(2, 3)))
    found = compare(before, after)
    assert [change.id for change in found.broken] == ["q002", "q003"]
    assert [(change.id, change.answer_before, change.answer_after) for change in found.fixed] == [("q001", "no", "yes")]
    accuracy = next(change for change in found.headline if change.name == "answer_accuracy")
    assert (accuracy.broke, accuracy.fixed, accuracy.is_worse) == (2, 1, True)
    assert accuracy.movement == "too few items to tell"


def test_a_fall_of_sixteen_points_of_fifty_is_called_moved_although_the_intervals_overlap() -> None:
    failing_after = {*range(8), *range(20, 28)} - {0}
    eval_set = numbered_set(50)
    found = compare(
        report_of(eval_set, Answering(*ids(*range(8)))), report_of(eval_set, Answering(*ids(*failing_after)))
    )
    accuracy = next(change for change in found.headline if change.name == "answer_accuracy")
    assert (accuracy.before, accuracy.after) == (0.84, 0.70)
    assert accuracy.p_value == pytest.approx(0.0215, abs=0.0005)
    assert accuracy.movement == "moved"
    assert accuracy.intervals_overlap
    assert found.smallest_drop == pytest.approx(0.20, abs=0.01)


def test_a_baseline_is_moved_with_a_reason_by_somebody_and_remembered(tmp_path: Path) -> None:
    first, second = report_of(numbered_set(4), Answering()), report_of(numbered_set(4), Answering(*ids(1)))
    set_baseline(first, tmp_path, reason="first run", moved_by="ana")
    set_baseline(second, tmp_path, reason="one answer is known to be worse", moved_by="ben")
    assert Report.load(tmp_path / "baseline.json") == second
    assert [(move.moved_by, move.figures["answer_accuracy"]) for move in history(tmp_path)] == [
        ("ana", 1.0),
        ("ben", 0.75),
    ]
    assert history(tmp_path)[1].before == history(tmp_path)[0].figures
    with pytest.raises(BadInputError, match="for a reason"):
        set_baseline(first, tmp_path, reason="  ", moved_by="ana")
    part = run(numbered_set(4), PythonPipeline(Answering()), FactsJudge(), RunSettings(max_calls=5))
    with pytest.raises(BadInputError, match="only a complete run"):
        set_baseline(part, tmp_path, reason="try", moved_by="ana")


def test_figures_that_are_none_are_refused() -> None:
    with pytest.raises(BadInputError, match="holds no figures"):
        evaluate({}, BASELINE)
    with pytest.raises(BadInputError, match="holds list"):
        evaluate([], BASELINE)
    assert json.loads(json.dumps(evaluate(BASELINE, CURRENT).wire()))["exit_code"] == 1

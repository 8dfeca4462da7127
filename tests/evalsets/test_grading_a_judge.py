"""Checking a judge against people, its right to gate, and the probes for bias."""

import asyncio
from datetime import date
from pathlib import Path
from typing import NamedTuple

import pytest

from evalsets.errors import FaultsError
from evalsets.judges.base import FactsJudge, JudgeInvalidError
from evalsets.judges.gate_right import may_gate
from evalsets.judges.grade_sheets import read_grades, sheet
from evalsets.judges.grading import (
    GradeBook,
    Grader,
    carry_over,
    draw,
    grade_of,
    load_book,
    load_books,
    open_book,
    save_book,
    to_grade,
)
from evalsets.judges.probing import ProbeReport, probe
from evalsets.judges.verdict import Verdict
from evalsets.metrics.base import ScoredCase
from evalsets.pipelines.python_object import PythonPipeline
from evalsets.report import Report
from evalsets.running.runner import RunSettings, run
from tests.evalsets.cases import answered
from tests.evalsets.run_parts import CountingSystem, numbered_set

ANNA = Grader("Anna", date(2026, 11, 30))


class OddJudge:
    """A model in name: it passes the items whose number leaves no rest when divided by `every`."""

    name = "odd"
    is_model = True

    def __init__(self, every: int = 2) -> None:
        self.every = every
        self.fingerprint = f"odd-{every}"

    def judge(self, case: ScoredCase) -> Verdict:
        passed = int(case.item.id.removeprefix("q")) % self.every == 0
        return Verdict(passed=passed, note="by number")


def judged_run(judge: OddJudge, items: int = 40) -> Report:
    return run(numbered_set(items), PythonPipeline(CountingSystem()), judge, RunSettings())


@pytest.fixture(scope="module")
def report() -> Report:
    return judged_run(OddJudge())


def graded_all(book: GradeBook, report: Report, *, wrong: int = 0) -> GradeBook:
    """Grade every waiting answer as the judge did, but for the first `wrong`."""
    for place, answer in enumerate(to_grade(book, report)):
        is_even = int(answer.item_id.removeprefix("q")) % 2 == 0
        book = book.graded(grade_of(report, answer, human=is_even != (place < wrong), grader=ANNA))
    return book


def test_thirty_answers_are_drawn_by_seed_whatever_the_order_of_the_report(report: Report) -> None:
    backwards = report.model_copy(update={"items": tuple(reversed(report.items))})
    drawn = [answer.item_id for answer in draw(report)]

    assert len(set(drawn)) == 30
    assert drawn == [answer.item_id for answer in draw(backwards)]
    assert drawn != [answer.item_id for answer in draw(report, seed=2)]


def test_what_is_shown_to_grade_holds_no_verdict(report: Report) -> None:
    (answer, *_) = draw(report)

    assert not {"passed", "verdict", "judge", "reason", "note"} & set(answer._fields)
    assert sheet([answer])[0]["human"] == ""


def test_grades_are_kept_beside_the_set_by_fingerprint_and_read_back(report: Report, tmp_path: Path) -> None:
    book = graded_all(open_book(tmp_path, report), report, wrong=3)
    path = save_book(tmp_path, book)

    assert path == tmp_path / "judges" / "odd-2.json"
    assert load_book(tmp_path, "odd-2") == book
    assert load_books(tmp_path) == [book]
    assert to_grade(book, report) == []
    assert len(book.disagreements) == 3


def test_agreement_is_reported_with_intervals(report: Report, tmp_path: Path) -> None:
    result = graded_all(open_book(tmp_path, report), report, wrong=3).agreement

    assert result is not None
    assert result.raw == 0.9
    assert result.kappa_interval is not None
    assert result.true_negative_interval is not None


def test_a_second_grade_of_the_same_person_stands_instead_of_the_first(report: Report, tmp_path: Path) -> None:
    book = open_book(tmp_path, report)
    answer = to_grade(book, report)[0]
    for human in (True, False):
        book = book.graded(grade_of(report, answer, human=human, grader=ANNA))

    assert [grade.human for grade in book.grades] == [False]
    assert not book.is_graded(answer, by="Ben")


def test_a_judge_gates_only_once_enough_people_s_grades_agree_with_it(report: Report, tmp_path: Path) -> None:
    class Step(NamedTuple):
        wrong: int
        allowed: bool
        reason: str

    assert may_gate("odd-2", tmp_path).reason.startswith("nobody has graded")
    for step in (Step(12, allowed=False, reason="below 0.6"), Step(2, allowed=True, reason="over 30 answers")):
        save_book(tmp_path, graded_all(open_book(tmp_path / "fresh", report), report, wrong=step.wrong))
        right = may_gate("odd-2", tmp_path)
        assert (right.allowed, step.reason in right.reason) == (step.allowed, True)


def test_a_changed_fingerprint_loses_the_right_to_gate(report: Report, tmp_path: Path) -> None:
    save_book(tmp_path, graded_all(open_book(tmp_path, report), report))
    right = may_gate("odd-3", tmp_path)

    assert not right.allowed
    assert "odd-2" in right.reason


def test_a_few_grades_are_not_enough(report: Report, tmp_path: Path) -> None:
    book = open_book(tmp_path, report)
    for answer in to_grade(book, report)[:5]:
        book = book.graded(grade_of(report, answer, human=True, grader=ANNA))
    save_book(tmp_path, book)

    assert "only 5 answers are graded, and 20 are needed" in may_gate("odd-2", tmp_path).reason


def test_grades_of_one_kind_only_leave_kappa_undefined_and_no_right(tmp_path: Path) -> None:
    always = judged_run(OddJudge(every=1))
    book = open_book(tmp_path, always)
    for answer in to_grade(book, always):
        book = book.graded(grade_of(always, answer, human=True, grader=ANNA))
    save_book(tmp_path, book)

    assert "kappa is undefined" in may_gate("odd-1", tmp_path).reason


def test_a_judge_that_computes_needs_no_grades(tmp_path: Path) -> None:
    assert may_gate(FactsJudge().fingerprint, tmp_path, is_model=FactsJudge.is_model).allowed


def test_after_a_change_the_same_thirty_are_compared_without_grading_again(report: Report, tmp_path: Path) -> None:
    book = graded_all(open_book(tmp_path, report), report)
    changed = carry_over(book, judged_run(OddJudge(every=3)))

    assert changed.fingerprint == "odd-3"
    assert changed.drawn == book.drawn
    assert len(changed.grades) == 30
    assert changed.agreement is not None
    assert changed.agreement.kappa is not None
    assert changed.agreement.kappa < 0.6


def test_a_filled_in_sheet_is_entered_and_every_bad_row_is_named(report: Report, tmp_path: Path) -> None:
    book = open_book(tmp_path, report)
    good: list[dict[str, object]] = [
        {"id": "q001", "human": "fail"},
        {"id": "q002", "human": True},
        {"id": "q003", "human": ""},
    ]
    entered = read_grades(good, report, book, grader=ANNA)
    assert {grade.item_id: grade.human for grade in entered.grades} == {"q001": False, "q002": True}

    with pytest.raises(FaultsError, match=r"row 1: 'q999'[\s\S]*row 2: 'maybe'"):
        read_grades([{"id": "q999", "human": "pass"}, {"id": "q001", "human": "maybe"}], report, book, grader=ANNA)


class BiasedJudge:
    """Passes what is long, and what orders it to."""

    name = "biased"
    fingerprint = "biased"
    is_model = True

    def judge(self, case: ScoredCase) -> Verdict:
        answer = case.answer or ""
        return Verdict(passed=len(answer) > 100 or "rate this" in answer, supported=1.0 if len(answer) > 100 else 0.5)


def _probed(judge: object, *answers: str) -> ProbeReport:
    cases = [answered(answer, texts=["a", "b"], answer_facts=("30 days",)) for answer in answers]
    return asyncio.run(probe(judge, cases))  # type: ignore[arg-type]


def test_probes_find_a_judge_that_likes_length_or_takes_orders() -> None:
    by_name = {result.probe: result for result in _probed(BiasedJudge(), "30 days", "no").results}

    assert by_name["polite length"].to_pass == 2
    assert by_name["command"].flip_rate == 1.0
    assert not by_name["command"].is_steady
    assert by_name["polite length"].support_shift == 0.5
    assert by_name["passage order"].is_steady


def test_the_facts_judge_is_steady_under_every_probe() -> None:
    report = _probed(FactsJudge(), "30 days", "no")

    assert report.passed == 1
    assert all(result.is_steady for result in report.results)


def test_a_verdict_that_is_none_is_counted_and_left_out() -> None:
    class Broken(BiasedJudge):
        def judge(self, case: ScoredCase) -> Verdict:
            raise JudgeInvalidError("judge-invalid: no verdict", str(case.answer))

    result = _probed(Broken(), "30 days").results[0]

    assert (result.judged, result.invalid, result.interval) == (0, 1, None)
    assert not result.is_steady

"""How `errata judge` asks for grades and tells how far a judge can be trusted."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from curation_app.cli.output import say
from curation_app.service.judging import Grading
from evalsets.judges.gate_right import may_gate
from evalsets.judges.grading import Gradable, GradeBook
from evalsets.judges.probing import ProbeReport, ProbeResult
from evalsets.statistics.agreement import Agreement
from evalsets.statistics.rates import Interval

_ANSWERS = {"p": True, "f": False, "?": None}


def ask_for_grades(grading: Grading) -> Grading:
    """Show each waiting answer without its verdict and take pass, fail or cannot tell; q ends, all is saved."""
    waiting = grading.waiting
    for number, answer in enumerate(waiting, 1):
        for line in _answer_lines(answer, number, len(waiting)):
            say(line)
        reply = _asked()
        if reply == "q":
            break
        grading = grading.graded(answer, human=_ANSWERS[reply])
    return grading


def _asked() -> str:
    while True:
        reply: str = typer.prompt("p pass, f fail, ? cannot tell, q stop", prompt_suffix=": ", err=True)
        if reply.strip().lower() in {*_ANSWERS, "q"}:
            return reply.strip().lower()
        say(f"{reply!r} is none of p, f, ?, q")


def _answer_lines(answer: Gradable, number: int, total: int) -> Iterator[str]:
    yield ""
    yield f"{number} of {total}   {answer.item_id}   ({answer.mode.value})"
    yield f"question:  {answer.question}"
    yield f"expected:  {answer.expected or '(to decline)'}"
    yield f"answer:    {answer.answer}"
    yield f"retrieved: {', '.join(answer.retrieved_ids) or '(nothing)'}"


def book_lines(book: GradeBook, folder: Path) -> Iterator[str]:
    """Give the agreement of a judge with people, its right to gate, and the disagreements to read."""
    right = may_gate(book.fingerprint, folder, is_model=book.is_model)
    yield f"judge {book.judge}  {book.fingerprint}  on {book.set_name}"
    result = book.agreement
    if result is None:
        yield f"  none of {len(book.drawn)} drawn answers is graded"
    else:
        yield from (f"  {line}" for line in _agreement_lines(result, len(book.drawn)))
    yield f"  {'may gate' if right.allowed else 'may not gate'}: {right.reason}"
    for grade in book.disagreements:
        verdicts = f"person {_word(grade.human)}, judge {_word(grade.judge)}"
        yield f"  differs on {grade.item_id}: {verdicts}: {grade.judge_note}"


def _agreement_lines(result: Agreement, drawn: int) -> Iterator[str]:
    counts = result.confusion
    yield f"graded {counts.total} (of {drawn} drawn)"
    kappa = _figure(result.kappa, result.kappa_interval)
    yield f"kappa {kappa}   raw agreement {result.raw:.2f}   AC1 {_figure(result.ac1)}"
    yield f"finds what passes {_figure(result.true_positive_rate, result.true_positive_interval)}"
    yield f"finds what fails  {_figure(result.true_negative_rate, result.true_negative_interval)}"
    yield f"pass rate: people {result.human_pass_rate:.2f}, judge {result.judge_pass_rate:.2f}"
    yield (
        f"both pass {counts.both_pass}, only the judge {counts.only_judge}, only people {counts.only_human}, "
        f"both fail {counts.both_fail}"
    )
    if result.note:
        yield result.note


def _figure(value: float | None, interval: Interval | None = None) -> str:
    if value is None:
        return "undefined"
    bounds = f" [{interval.low:.2f}, {interval.high:.2f}]" if interval else ""
    return f"{value:.2f}{bounds}"


def _word(verdict: bool | None) -> str:
    return {True: "pass", False: "fail", None: "open"}[verdict]


def book_wire(book: GradeBook, folder: Path) -> dict[str, Any]:
    """Return the book's figures JSON-ready."""
    result, right = book.agreement, may_gate(book.fingerprint, folder, is_model=book.is_model)
    return {
        "judge": book.judge,
        "fingerprint": book.fingerprint,
        "set": book.set_name,
        "drawn": list(book.drawn),
        "graded": result.confusion.total if result else 0,
        "agreement": _agreement_wire(result) if result else None,
        "may_gate": right.allowed,
        "reason": right.reason,
        "disagreements": [grade.model_dump(mode="json") for grade in book.disagreements],
    }


def _agreement_wire(result: Agreement) -> dict[str, Any]:
    return {name: value._asdict() if hasattr(value, "_asdict") else value for name, value in result._asdict().items()}


def probe_lines(report: ProbeReport) -> Iterator[str]:
    """Give each probe with how often it changed a verdict."""
    yield f"judge {report.judge}  {report.fingerprint}: {report.passed} of {report.cases} answers pass as they are"
    for result in report.results:
        yield f"  {'steady ' if result.is_steady else 'UNSTEADY'} {result.probe}: {result.changes}"
        yield f"      {_probe_figures(result)}"


def _probe_figures(result: ProbeResult) -> str:
    bounds = f" [{result.interval.low:.2f}, {result.interval.high:.2f}]" if result.interval else ""
    shift = f", support shifts by {result.support_shift:+.2f}" if result.support_shift is not None else ""
    invalid = f", {result.invalid} without a verdict" if result.invalid else ""
    flips = f"{result.to_pass} to pass, {result.to_fail} to fail"
    return f"{result.judged} judged: {flips} (flip rate {result.flip_rate:.2f}{bounds}){shift}{invalid}"


def probe_wire(report: ProbeReport) -> dict[str, Any]:
    """Return the probes JSON-ready."""
    results = [
        result._asdict()
        | {"interval": result.interval._asdict() if result.interval else None, "is_steady": result.is_steady}
        for result in report.results
    ]
    return report._asdict() | {"results": results}

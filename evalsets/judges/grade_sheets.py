"""Sheets to grade on outside the app: written blank, read back filled in."""

from collections.abc import Iterable, Mapping, Sequence

from evalsets.errors import FaultsError
from evalsets.judges.grading import Gradable, GradeBook, Grader, gradable_answers, grade_of
from evalsets.report import Report

_PASS, _FAIL, _OPEN = "pass", "fail", "open"
_VERDICTS: Mapping[str, str] = {
    **dict.fromkeys(("true", "pass", "passed", "yes", "y", "p", "1"), _PASS),
    **dict.fromkeys(("false", "fail", "failed", "no", "n", "f", "0"), _FAIL),
    **dict.fromkeys(("", "none", "null", "?"), _OPEN),
}


def read_grades(
    rows: Iterable[Mapping[str, object]],
    report: Report,
    book: GradeBook,
    *,
    grader: Grader,
) -> GradeBook:
    """Enter grades from a filled-in sheet: rows of `id` and `human` (true, false, pass, fail or empty).

    Raises FaultsError that names every row that cannot be entered.
    """
    answers = {answer.item_id: answer for answer in gradable_answers(report)}
    faults: list[str] = []
    for number, row in enumerate(rows, 1):
        answer, verdict = answers.get(str(row.get("id"))), _VERDICTS.get(str(row.get("human", "")).strip().casefold())
        if answer is None:
            faults.append(f"row {number}: {row.get('id')!r} is no judged answer of the report")
        elif verdict is None:
            faults.append(f"row {number}: {row.get('human')!r} is no grade; use pass, fail, or leave it empty")
        elif verdict != _OPEN:
            book = book.graded(
                grade_of(
                    report,
                    answer,
                    human=verdict == _PASS,
                    grader=grader,
                    note=str(row.get("note", "")),
                )
            )
    if faults:
        raise FaultsError(f"{len(faults)} rows of the grades cannot be entered", faults)
    return book


def sheet(answers: Sequence[Gradable]) -> list[dict[str, object]]:
    """Return rows to fill in blind: what a person needs to see, and an empty `human` field."""
    return [
        {
            "id": answer.item_id,
            "question": answer.question,
            "expected": answer.expected,
            "answer": answer.answer,
            "retrieved": list(answer.retrieved_ids),
            "human": "",
            "note": "",
        }
        for answer in answers
    ]

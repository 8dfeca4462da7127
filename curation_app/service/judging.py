"""What the judge page and `errata judge` do: draw, grade, compare with people, probe."""

import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from curation_app.service.set_places import chunks_by_id, person, set_folder
from curation_app.service.set_references import resolve
from curation_app.workspace import Workspace, find_workspace
from evalsets.chunks import Chunk
from evalsets.errors import BadInputError
from evalsets.judges.base import Judge
from evalsets.judges.gate_right import GateRight, may_gate
from evalsets.judges.grade_sheets import read_grades
from evalsets.judges.grading import (
    DEFAULT_DRAW,
    DEFAULT_SEED,
    Gradable,
    GradeBook,
    Grader,
    carry_over,
    grade_of,
    load_book,
    load_books,
    open_book,
    save_book,
    to_grade,
)
from evalsets.line_reading import numbered_lines
from evalsets.metrics.base import ScoredCase
from evalsets.report import Report


class Grading(NamedTuple):
    """One sitting: the report, the book of its judge, where the set stands, and who grades."""

    report: Report
    book: GradeBook
    folder: Path
    grader: Grader

    @property
    def waiting(self) -> list[Gradable]:
        """The drawn answers that this person has not graded yet, in the order drawn."""
        return to_grade(self.book, self.report, by=self.grader.name)

    def graded(self, answer: Gradable, *, human: bool | None, note: str = "") -> "Grading":
        """Enter one grade, save the book, and return the sitting after it."""
        grade = grade_of(self.report, answer, human=human, grader=self.grader, note=note)
        return self._with(self.book.graded(grade))

    def entered(self, rows: list[Mapping[str, object]]) -> "Grading":
        """Enter the rows of a filled-in sheet, save the book, and return the sitting after them."""
        return self._with(read_grades(rows, self.report, self.book, grader=self.grader))

    def carried_over(self) -> "Grading":
        """Take the grades people gave the same answers under the judge graded last before this one."""
        others = [book for book in load_books(self.folder) if book.fingerprint != self.book.fingerprint]
        if not others:
            raise BadInputError("no other judge of this set has been graded, so there are no grades to carry over")
        return self._with(carry_over(others[0], self.report))

    def _with(self, book: GradeBook) -> "Grading":
        save_book(self.folder, book)
        return self._replace(book=book)


def open_grading(
    report_path: Path,
    workspace: Workspace,
    *,
    size: int = DEFAULT_DRAW,
    seed: int = DEFAULT_SEED,
    by: str = "",
) -> Grading:
    """Open the book of the judge of a report, begun with a draw when nobody has graded it."""
    report = Report.load(report_path)
    folder = grades_folder(workspace, report.eval_set.name)
    book = open_book(folder, report, size=size, seed=seed)
    return Grading(report, book, folder, Grader(person(by), date.today()))  # noqa: DTZ011 - the day where the person is


def grades_folder(workspace: Workspace, name: str) -> Path:
    """Return the folder of a set, beside which its grades are kept in git."""
    return set_folder(workspace, name).root


def graded_judges(workspace: Workspace, name: str = "") -> list[GradeBook]:
    """Return the books of a set, by default the workspace's, the one graded last first."""
    return load_books(set_folder(workspace, name).root)


def right_to_gate(judge: Judge, workspace: Workspace, name: str = "") -> GateRight:
    """Tell whether a judge may gate on a set of the workspace."""
    is_model = bool(getattr(judge, "is_model", True))
    return may_gate(judge.fingerprint, set_folder(workspace, name).root, is_model=is_model)


def with_judge_checked(run: Any, workspace: Path | None) -> Any:
    """Return a parsed report with the right of its judge as the grades beside the set now give it."""
    if not isinstance(run, Mapping) or run.get("judge", {}).get("may_gate", True):
        return run
    try:
        folder = grades_folder(find_workspace(workspace), run["eval_set"]["name"])
    except BadInputError:
        folder = None
    right = may_gate(run["judge"]["fingerprint"], folder)
    return {**run, "judge": {**run["judge"], "may_gate": right.allowed, "note": right.reason}}


def read_sheet(path: Path) -> list[Mapping[str, object]]:
    """Read a filled-in sheet: JSON lines, or a JSON list. BadInputError names the line that is neither."""
    text = path.read_text("utf-8").strip()
    try:
        rows = json.loads(text) if text.startswith("[") else [json.loads(line) for _, line in numbered_lines(text)]
    except json.JSONDecodeError as error:
        raise BadInputError(
            f"{str(path)!r} is no sheet of grades: {error}; write JSON lines of id and human"
        ) from error
    if not all(isinstance(row, dict) for row in rows):
        raise BadInputError(f"{str(path)!r} is no sheet of grades: each row is an object with id and human")
    return rows


def cases_of(report: Report, workspace: Workspace, *, set_ref: str = "", limit: int | None = None) -> list[ScoredCase]:
    """Return the answered items of a report as a judge sees them: items of the set, texts of the chunk store."""
    items = {item.id: item for item in resolve(set_ref or report.eval_set.name, workspace.root).eval_set.items}
    answered = [result for result in report.items if result.answer and result.id in items][:limit]
    if not answered:
        raise BadInputError("none of the report's answers is of an item of the set; name the set with --set")
    ids = {chunk.chunk_id for result in answered for chunk in result.retrieved}
    texts = chunks_by_id(workspace, ids) or {}
    return [
        ScoredCase(
            item=items[result.id],
            retrieved=tuple(texts.get(ref.chunk_id, Chunk(ref.chunk_id, "")) for ref in result.retrieved),
            answer=result.answer,
        )
        for result in answered
    ]


def stored_book(workspace: Workspace, name: str, fingerprint: str) -> GradeBook | None:
    """Return the book of one judge of a set; None when nobody has graded it."""
    return load_book(grades_folder(workspace, name), fingerprint)

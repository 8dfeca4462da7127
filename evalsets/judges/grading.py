"""Checking a judge against a person: thirty answers drawn by seed, graded blind, kept by the judge's fingerprint."""

import hashlib
from datetime import date
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field, ValidationError

from evalsets.atomic_files import write_over
from evalsets.errors import BadInputError, FaultsError
from evalsets.items import Mode, StrictModel
from evalsets.report import Report
from evalsets.statistics.agreement import Agreement, agreement

DEFAULT_DRAW = 30
DEFAULT_SEED = 1


class Gradable(NamedTuple):
    """An answer to grade, without the judge's verdict: what a person may see before they decide."""

    item_id: str
    mode: Mode
    question: str
    expected: str
    answer: str
    retrieved_ids: tuple[str, ...]
    answer_hash: str


class Grade(StrictModel):
    """A person's verdict beside the judge's. `human` None: the person could not tell."""

    item_id: str
    answer_hash: str
    human: bool | None
    judge: bool
    judge_note: str = ""
    graded_by: str = Field(min_length=1)
    graded_on: date
    note: str = ""


class GradeBook(StrictModel):
    """All grades of one judge on one set, as they stand in git beside the set."""

    schema_version: Literal[1] = 1
    set_name: str
    judge: str
    fingerprint: str
    is_model: bool = True
    """Whether a model judges; a judge that computes its verdict needs no grades to gate."""
    seed: int = DEFAULT_SEED
    drawn: tuple[str, ...] = ()
    """Ids of the items drawn, in the order they are shown."""
    grades: tuple[Grade, ...] = ()

    def graded(self, grade: Grade) -> "GradeBook":
        """Return the book with the grade; a later grade of the same answer by the same person stands instead."""
        kept = [g for g in self.grades if _key(g) != _key(grade)]
        ordered = sorted([*kept, grade], key=lambda g: (g.item_id, g.answer_hash, g.graded_by))
        return self.model_copy(update={"grades": tuple(ordered)})

    def is_graded(self, answer: Gradable, by: str = "") -> bool:
        """Tell whether this answer has a grade, by this person when one is named."""
        return any(
            (grade.item_id, grade.answer_hash) == (answer.item_id, answer.answer_hash) and by in {"", grade.graded_by}
            for grade in self.grades
        )

    @property
    def agreement(self) -> Agreement | None:
        """How far judge and people agree; None while nothing is graded."""
        decided = [grade for grade in self.grades if grade.human is not None]
        return agreement([g.human for g in decided], [g.judge for g in decided]) if decided else None

    @property
    def disagreements(self) -> tuple[Grade, ...]:
        """The grades in which judge and person differ: the ones to read."""
        return tuple(grade for grade in self.grades if grade.human is not None and grade.human != grade.judge)


def _key(grade: Grade) -> tuple[str, str, str]:
    return grade.item_id, grade.answer_hash, grade.graded_by


def answer_hash(answer: str) -> str:
    """Return the digest by which an answer is known again in a later run."""
    return hashlib.sha256(answer.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def gradable_answers(report: Report) -> list[Gradable]:
    """Return the answers of a report that were judged, in the order of its items."""
    return [
        Gradable(
            item_id=item.id,
            mode=item.mode,
            question=item.question,
            expected=item.expected,
            answer=item.answer,
            retrieved_ids=tuple(chunk.chunk_id for chunk in item.retrieved),
            answer_hash=answer_hash(item.answer),
        )
        for item in report.items
        if item.answer is not None and item.is_scored and item.verdict
    ]


def draw(report: Report, *, size: int = DEFAULT_DRAW, seed: int = DEFAULT_SEED) -> list[Gradable]:
    """Draw answers to grade; a later run draws the same items, since a place hangs on the seed and the id alone."""
    answers = gradable_answers(report)
    if not answers:
        raise BadInputError("the report holds no judged answer; grade a report of a run that was judged")
    return sorted(answers, key=lambda answer: hashlib.sha256(f"{seed}:{answer.item_id}".encode()).digest())[:size]


def open_book(set_folder: Path, report: Report, *, size: int = DEFAULT_DRAW, seed: int = DEFAULT_SEED) -> GradeBook:
    """Return the book of the report's judge, begun with a draw when there is none yet."""
    stored = load_book(set_folder, report.judge.fingerprint)
    if stored is not None:
        return stored
    drawn = tuple(answer.item_id for answer in draw(report, size=size, seed=seed))
    reference = report.judge
    return GradeBook(
        set_name=report.eval_set.name,
        judge=reference.name,
        fingerprint=reference.fingerprint,
        is_model=not reference.may_gate,
        seed=seed,
        drawn=drawn,
    )


def to_grade(book: GradeBook, report: Report, *, by: str = "") -> list[Gradable]:
    """Return the drawn answers of the report that still wait for a grade, in the order drawn."""
    answers = {answer.item_id: answer for answer in gradable_answers(report)}
    drawn = [answers[item_id] for item_id in book.drawn if item_id in answers]
    return [answer for answer in drawn if not book.is_graded(answer, by)]


class Grader(NamedTuple):
    """Who grades, and on which day."""

    name: str
    on: date


def grade_of(report: Report, answer: Gradable, *, human: bool | None, grader: Grader, note: str = "") -> Grade:
    """Put a person's verdict (None: cannot tell) beside the judge's, which is looked up only now."""
    item = next(item for item in report.items if item.id == answer.item_id)
    return Grade(
        item_id=answer.item_id,
        answer_hash=answer.answer_hash,
        human=human,
        judge=item.passed,
        judge_note=item.reason,
        graded_by=grader.name,
        graded_on=grader.on,
        note=note,
    )


def carry_over(old: GradeBook, report: Report) -> GradeBook:
    """Begin the book of a changed judge with the grades people gave the same answers, beside its new verdicts.

    This is the check for drift: the same thirty after any change, without grading them again.
    """
    answers = {(answer.item_id, answer.answer_hash): answer for answer in gradable_answers(report)}
    book = GradeBook(
        set_name=report.eval_set.name,
        judge=report.judge.name,
        fingerprint=report.judge.fingerprint,
        is_model=not report.judge.may_gate,
        seed=old.seed,
        drawn=old.drawn,
    )
    for grade in old.grades:
        answer = answers.get((grade.item_id, grade.answer_hash))
        if answer is not None:
            again = grade_of(
                report,
                answer,
                human=grade.human,
                grader=Grader(grade.graded_by, grade.graded_on),
                note=grade.note,
            )
            book = book.graded(again)
    return book


def books_folder(set_folder: Path) -> Path:
    """Return where the books of a set stand."""
    return set_folder / "judges"


def save_book(set_folder: Path, book: GradeBook) -> Path:
    """Write the book beside the set; return its path."""
    path = books_folder(set_folder) / f"{book.fingerprint}.json"
    write_over(path, (book.model_dump_json(indent=2) + "\n").encode())
    return path


def load_book(set_folder: Path, fingerprint: str) -> GradeBook | None:
    """Read the book of a fingerprint; None when nobody has graded it."""
    path = books_folder(set_folder) / f"{fingerprint}.json"
    return _read_book(path) if path.is_file() else None


def load_books(set_folder: Path) -> list[GradeBook]:
    """Read every book of a set, the one graded last first."""
    books = [_read_book(path) for path in sorted(books_folder(set_folder).glob("*.json"))]
    return sorted(books, key=_last_graded, reverse=True)


def _last_graded(book: GradeBook) -> date:
    return max((grade.graded_on for grade in book.grades), default=date.min)


def _read_book(path: Path) -> GradeBook:
    try:
        return GradeBook.model_validate_json(path.read_bytes())
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors(include_url=False)]
        raise FaultsError(f"the grades in {str(path)!r} cannot be read", faults) from error

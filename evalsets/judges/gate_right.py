"""Whether a judge may gate: one that computes always may, a model once people agree with it."""

from pathlib import Path
from typing import NamedTuple

from evalsets.judges.grading import GradeBook, load_book, load_books
from evalsets.statistics.agreement import Agreement

LEAST_KAPPA = 0.6
"""A judge that agrees less than this with people cannot gate."""
FEWEST_GRADES = 20
"""Below this number of grades kappa says too little for a gate, unless the set has no more items."""


class GateRight(NamedTuple):
    """Whether a judge may gate, why, and the kappa that says so."""

    allowed: bool
    reason: str
    kappa: float | None = None


def may_gate(
    fingerprint: str,
    set_folder: Path | None,
    *,
    is_model: bool = True,
    least_kappa: float = LEAST_KAPPA,
) -> GateRight:
    """Tell whether a judge may gate on a set: one that computes always may, a model once people agree with it."""
    if not is_model:
        return GateRight(allowed=True, reason="the judge computes its verdict, so there is no model to check")
    book = load_book(set_folder, fingerprint) if set_folder is not None else None
    if book is None or book.agreement is None:
        others = load_books(set_folder) if set_folder is not None else []
        earlier = f" (the grades there are belong to {others[0].fingerprint})" if others else ""
        return GateRight(
            allowed=False,
            reason=f"nobody has graded judge {fingerprint}{earlier}",
        )
    return _right_of(book, book.agreement, least_kappa)


def _right_of(book: GradeBook, result: Agreement, least_kappa: float) -> GateRight:
    graded, wanted = result.confusion.total, min(FEWEST_GRADES, len(book.drawn))
    if graded < wanted:
        return GateRight(
            allowed=False, reason=f"only {graded} answers are graded, and {wanted} are needed", kappa=result.kappa
        )
    if result.kappa is None:
        return GateRight(allowed=False, reason=result.note)
    stated = f"kappa with people is {result.kappa:.2f}"
    if result.kappa < least_kappa:
        return GateRight(allowed=False, reason=f"{stated}, below {least_kappa:g}", kappa=result.kappa)
    return GateRight(allowed=True, reason=f"{stated} over {graded} answers", kappa=result.kappa)

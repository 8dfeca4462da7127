"""One comparison of a gate, and how its numbers are printed."""

from typing import NamedTuple

ROUNDING = 1e-9


class Finding(NamedTuple):
    """One comparison. `limit` is the worst value that still passes; `half` the half of the pipeline it speaks of."""

    name: str
    kind: str
    """metric, mode, floor, scorecard, question, missing or refused."""
    baseline: float | None
    current: float | None
    limit: float | None
    passed: bool
    sentence: str
    half: str = ""


def shown(value: float) -> str:
    """Return a number with two decimals, or up to four where two would change it."""
    return f"{value:.2f}" if abs(round(value, 2) - value) < ROUNDING else f"{value:.4f}".rstrip("0")


def told_apart(first: float, second: float) -> tuple[str, str]:
    """Return two numbers with two decimals, or as many as tell them apart."""
    for digits in (2, 3, 4, 6):
        if f"{first:.{digits}f}" != f"{second:.{digits}f}" or abs(first - second) < ROUNDING:
            return f"{first:.{digits}f}", f"{second:.{digits}f}"
    return repr(first), repr(second)

"""Whether one question asks the same as the one before it, and in which of four ways, for whole columns at once."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from rapidfuzz import fuzz
from rapidfuzz.process import cpdist

from ingest.signals.cues import CORRECTION, DOUBT, expression

_CORRECTION = re.compile(expression(CORRECTION))
_ALIKE = 72.0
_DOUBT = re.compile(expression(DOUBT))


class Verdict(NamedTuple):
    """How the later question takes up the earlier one; `score` in [0, 1]."""

    kind: str
    """restated, reworded, corrected or repeated."""
    score: float


def rephrase_verdicts(earlier: Sequence[str | None], later: Sequence[str | None]) -> list[Verdict | None]:
    """Judge each pair of questions; None where the later one is no rephrase or a question is missing."""
    pairs = [(a or "", b or "") for a, b in zip(earlier, later, strict=True)]
    folded = [(a.casefold().strip(), b.casefold().strip()) for a, b in pairs]
    if not folded:
        return []
    alike = cpdist([a for a, _ in folded], [b for _, b in folded], scorer=fuzz.token_set_ratio, workers=-1)
    return [
        _verdict(a, b, float(score)) if a and b else None
        for (a, b), score in zip(folded, np.asarray(alike), strict=True)
    ]


def _verdict(earlier: str, later: str, alike: float) -> Verdict | None:
    if earlier == later:
        return Verdict("repeated", 1.0)
    if _CORRECTION.search(later):
        return Verdict("corrected", 0.8)
    if alike >= _ALIKE:
        return Verdict("restated", round(alike / 100, 3))
    return None

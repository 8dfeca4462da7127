"""Measure the refusal detector on every refusal file of a folder; its rows go into docs/quality.md."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from evalsets.refusals import detect_refusal

PREFIX = "refusal_"


NOTES = """One configuration reads both sets. F1 leaves partial answers out; they are counted apart.

- A prefix rule finds half of mtragun's refusals; patterns over the first sentences find nearly all, but call half of
  the partial answers refusals too. What follows the declining words decides: a sentence after "however" with four
  content words or more, or plain text of twelve, is an answer; advice to ask elsewhere and moralising are not.
- Two rows of the development half of mtragun are labelled refusals and decline nothing (a description of Placer County,
  a list of ways to save), which keeps F1 there at .978 whatever a detector does.
- Patterns stand in one table a language, German, French, Spanish, Italian, Portuguese and Dutch beside English; no
  labelled set in those languages was at hand, so they are held by hand-written cases only.
"""
"""What was tried and where the limit lies, for docs/quality.md."""


class RefusalRow(NamedTuple):
    """How the detector does on one file; partial answers are no part of F1."""

    data_set: str
    file: str
    answers: int
    f1: float
    precision: float
    recall: float
    partial: int
    partial_flagged: float


def measure_refusals(folder: Path) -> list[RefusalRow]:
    """Return one row for each file whose name begins with `refusal_`, whatever follows."""
    return [_measured(path) for path in sorted(folder.glob(f"{PREFIX}*.jsonl"))]


def _measured(path: Path) -> RefusalRow:
    judged = [(row["label"], detect_refusal(row["answer"]).is_refusal) for row in _rows(path)]
    hits = judged.count((1, True))
    false_alarms, missed = judged.count((0, True)), judged.count((1, False))
    partial = [flagged for label, flagged in judged if label is None]
    return RefusalRow(
        data_set=_data_set(path),
        file=path.name,
        answers=len(judged),
        f1=2 * hits / max(1, 2 * hits + false_alarms + missed),
        precision=hits / max(1, hits + false_alarms),
        recall=hits / max(1, hits + missed),
        partial=len(partial),
        partial_flagged=sum(partial) / max(1, len(partial)),
    )


def _data_set(path: Path) -> str:
    """Return the name of the data set, whatever the file calls its half."""
    stem = path.stem.removeprefix(PREFIX)
    return next((name for name in _DATA_SETS if stem.startswith(name)), stem)


_DATA_SETS = ("mtragun", "xstest_safe_mistral")


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip())

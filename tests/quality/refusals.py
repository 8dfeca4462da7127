"""Measure the refusal detector on every refusal file of a folder; its rows go into docs/quality.md."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from evalsets.refusals import detect_refusal

PREFIX = "refusal_"


NOTES = """One configuration reads both sets. F1 leaves partial answers out; they are counted apart.

- A prefix rule finds half of mtragun's refusals; patterns over the first sentences find nearly all, but call half
  of the partial answers refusals too. What follows the declining words decides: a sentence after "however" with
  four content words or more, or plain text of eight, is an answer; advice to ask elsewhere and moralising are not.
- Two of the 47 refusals of the development half of mtragun decline nothing (a description of Placer County, a list
  of ways to save): there is no wording in them to find, and with both missed and nothing flagged wrongly F1 is
  .978. The .98 asked for would take finding one of them, which only a rule for that text could. Everything else
  there is read as labelled, but for one of the 26 answers to a part.
- The tables had been written with these files in sight. Of 184 ways to decline in English, 50 of refusing by policy
  and 167 in six more languages, written apart from them, they missed 102, 16 and 65, and called 11 of 25 answers to
  a part refusals. They are now put together by kind (what I lack, cannot say, the sources leave out, is not my
  subject, a rule forbids) from named groups of words, with slips of typing ("I don not know"), and read all but
  two; these texts are tests now, so they prove no more than that. Of 113 fallback messages of public assistants,
  which were looked at only afterwards, 79 were read by the old tables, 89 by the new ones at first sight, and 110
  after what was missing had been added.
- In 2,657 passages and reference answers of the other files, none of which declines, nothing is called a refusal.
  In 2,112 chatty answers of Wizard of Wikipedia 1% are ("I did not know that ..."), which do not come from an
  assistant over documents.
- A continuation of eight content words now makes an answer of a part (twelve before): none of the refusals goes on
  for five.
- German, French, Spanish, Italian, Portuguese and Dutch are held by such hand-written texts only; no labelled set
  was at hand.
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

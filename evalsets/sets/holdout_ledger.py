"""The ledger of a set: each look at its held-out items, in aggregates only, and whether the gap to dev widens."""

import math
import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from evalsets.errors import FaultsError
from evalsets.items import StrictModel
from evalsets.line_reading import numbered_lines


class PartScores(StrictModel):
    """What one part of a set scored; never item by item."""

    items: int
    passed: float
    retrieval_recall: float | None
    refusal_rate: float

    @property
    def pass_rate(self) -> float:
        """Share of items that passed."""
        return self.passed / self.items


class Look(StrictModel):
    """One look at the held-out items. `gap` is the pass rate on dev minus that on holdout, with its 95% interval."""

    looked_at: datetime
    looked_by: str
    version: int
    holdout_hash: str
    pipeline: str
    judge: str
    dev: PartScores
    holdout: PartScores
    gap: float
    low: float
    high: float


class Gap(NamedTuple):
    """The difference of two pass rates and its 95% interval."""

    gap: float
    low: float
    high: float


def gap_of(dev: PartScores, holdout: PartScores) -> Gap:
    """Return dev minus holdout with Newcombe's interval for two independent rates (Newcombe 1998, method 10)."""
    from evalsets.statistics import wilson_interval

    one, other = (wilson_interval(part.passed, part.items) for part in (dev, holdout))
    gap = dev.pass_rate - holdout.pass_rate
    below = math.hypot(dev.pass_rate - one.low, other.high - holdout.pass_rate)
    above = math.hypot(one.high - dev.pass_rate, holdout.pass_rate - other.low)
    return Gap(gap, max(-1.0, gap - below), min(1.0, gap + above))


def read_ledger(path: Path) -> list[Look]:
    """Return the looks in the order they were taken; FaultsError names each line that is none."""
    if not path.is_file():
        return []
    looks, faults = [], []
    for number, line in numbered_lines(path.read_text(encoding="utf-8")):
        try:
            looks.append(Look.model_validate_json(line))
        except ValidationError as error:
            faults.append(f"line {number}: {error.errors(include_url=False)[0]['msg']}")
    if faults:
        raise FaultsError(f"{path} has {len(faults)} line(s) that are no look; restore it from git:", faults)
    return looks


def record_look(path: Path, look: Look) -> int:
    """Append a look in one write and return how many there are now."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(handle, look.model_dump_json().encode() + b"\n")
        os.fsync(handle)
    finally:
        os.close(handle)
    return len(read_ledger(path))


def judged_gap(looks: Sequence[Look]) -> str:
    """Say in a sentence what the gap means; a gap that widened and is more than chance is named overfitting."""
    if not looks:
        return "The held-out items have not been looked at yet."
    first, last = looks[0], looks[-1]
    figures = (
        f"dev passes {last.dev.pass_rate:.0%}, holdout {last.holdout.pass_rate:.0%}: a gap of {100 * last.gap:+.0f} "
        f"points (95% interval {100 * last.low:+.0f} to {100 * last.high:+.0f})"
    )
    counted = f"Look {len(looks)}: {figures}"
    if last.low > 0 and len(looks) > 1 and last.gap > first.gap:
        return f"{counted}. It was {100 * first.gap:+.0f} at the first look: this is overfitting to the dev items."
    if last.low > 0:
        return f"{counted}. The pipeline does better on what was tuned on than chance explains."
    return f"{counted}. No sign of overfitting that {last.holdout.items} held-out items could show."

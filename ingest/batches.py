"""An afternoon's work: candidates drawn by priority, spread over groups, signals and weeks, with a control share."""

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from ingest.candidates import Candidate
from ingest.settings import QueueSettings
from ingest.shortlist import CONTROL

_SPREAD = 0.85
"""How much each further candidate of a signal, or of a week, already drawn lowers the worth of the next one."""


class Drawn(NamedTuple):
    """One candidate of a batch and why it was drawn."""

    candidate: Candidate
    reason: str


def draw_batch(
    candidates: Sequence[Candidate],
    size: int,
    *,
    settings: QueueSettings | None = None,
    seed: int | None = None,
    leave_out: Collection[str] = (),
) -> list[Drawn]:
    """Draw `size` candidates: the same for the same candidates and seed.

    Highest priority first; one of each group; every candidate already drawn for a signal or from a week makes the next
    one of the same a little less worth drawing. A share of controls is drawn at random, so that what the signals miss
    can be estimated. Candidates in `leave_out` (by id), and those the set already has, are not drawn.
    """
    settings = settings or QueueSettings()
    seed = settings.seed if seed is None else seed
    left = [each for each in candidates if each.candidate_id not in leave_out and not each.known_item_id]
    controls = [each for each in left if each.sampling_signal == CONTROL]
    flagged = [each for each in left if each.sampling_signal != CONTROL]
    for_control = min(len(controls), round(size * settings.control_share))
    drawn = _by_worth(_one_of_each_group(flagged), size - for_control, seed)
    return [*drawn, *_at_random(controls, size - len(drawn) if len(drawn) < size - for_control else for_control, seed)]


def _by_worth(candidates: Sequence[Candidate], size: int, seed: int) -> list[Drawn]:
    signals: Counter[str] = Counter()
    weeks: Counter[str] = Counter()
    left = sorted(candidates, key=lambda each: _shuffled(each, seed))
    drawn: list[Drawn] = []
    while left and len(drawn) < size:
        best = max(left, key=lambda each: _worth(each, signals, weeks))
        left.remove(best)
        drawn.append(Drawn(best, _why(best, signals, weeks)))
        signals[best.sampling_signal] += 1
        weeks[_week(best)] += 1
    return drawn


def _worth(candidate: Candidate, signals: Counter[str], weeks: Counter[str]) -> float:
    repeats = signals[candidate.sampling_signal] / max(1, len(signals)) + weeks[_week(candidate)] / max(1, len(weeks))
    return candidate.priority * float(_SPREAD ** (repeats / 2))


def _why(candidate: Candidate, signals: Counter[str], weeks: Counter[str]) -> str:
    parts = [f"priority {candidate.priority:.2f} by {candidate.sampling_signal}"]
    if candidate.group_size > 1:
        parts.append(f"stands for {candidate.group_size} that ask the same")
    if not signals[candidate.sampling_signal]:
        parts.append("first of its signal")
    if not weeks[_week(candidate)] and _week(candidate):
        parts.append(f"first of week {_week(candidate)}")
    return "; ".join(parts)


def _one_of_each_group(candidates: Sequence[Candidate]) -> list[Candidate]:
    best: dict[str, Candidate] = {}
    for each in candidates:
        key = each.group_id or each.candidate_id
        if key not in best or (-each.priority, each.candidate_id) < (-best[key].priority, best[key].candidate_id):
            best[key] = each
    return list(best.values())


def _at_random(controls: Sequence[Candidate], size: int, seed: int) -> list[Drawn]:
    chosen = sorted(controls, key=lambda each: _shuffled(each, seed))[: max(0, size)]
    return [
        Drawn(each, f"control, drawn at random with probability {each.inclusion_probability:.3g}") for each in chosen
    ]


def _shuffled(candidate: Candidate, seed: int) -> str:
    return hashlib.sha256(f"{seed}:{candidate.candidate_id}".encode()).hexdigest()


def _week(candidate: Candidate) -> str:
    asked_at = candidate.flagged_turn.asked_at
    return "{}-W{:02d}".format(*asked_at.isocalendar()[:2]) if asked_at else ""


def new_kinds_per_ten(kinds: Sequence[str]) -> list[int]:
    """Return for each ten labels, in the order they were made, how many kinds of failure were new among them.

    `kinds` names the mode and sub-code of each label, empty for "not a failure". Two zeros in a row say that the next
    labels are unlikely to show anything new.
    """
    seen: set[str] = set()
    counts = []
    for start in range(0, len(kinds), 10):
        fresh = {kind for kind in kinds[start : start + 10] if kind} - seen
        seen |= fresh
        counts.append(len(fresh))
    return counts

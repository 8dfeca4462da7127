"""An afternoon's work: candidates drawn by priority, spread over groups, signals and weeks, with a control share."""

import hashlib
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ingest.mining.candidates import Candidate
from ingest.mining.shortlist import CONTROL
from ingest.settings import QueueSettings

_OF_SIGNAL, _OF_WEEK = 0.93, 0.96
"""How much each candidate drawn lowers the worth of the next one of its signal, and of its week."""


class Drawn(NamedTuple):
    """One candidate of a batch and why it was drawn."""

    candidate: Candidate
    reason: str


class _Kind(NamedTuple):
    """What a batch is spread over."""

    signal: str
    week: str


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
    one of the same a little less worth drawing. A second one of a session, which most often is the same failure, is
    drawn only when no others are left. A share of controls is drawn at random, so that what the signals miss can be
    estimated. Candidates in `leave_out` (by id), and those the set already has, are not drawn.
    """
    settings = settings or QueueSettings()
    seed = settings.seed if seed is None else seed
    left = [each for each in candidates if each.candidate_id not in leave_out and not each.known_item_id]
    controls = [each for each in left if each.sampling_signal == CONTROL]
    flagged = [each for each in left if each.sampling_signal != CONTROL]
    for_control = min(len(controls), round(size * settings.control_share))
    drawn = _by_worth(_one_of_each_group(flagged), size - for_control, seed)
    return [*drawn, *_at_random(controls, size - len(drawn) if len(drawn) < size - for_control else for_control, seed)]


def _by_worth(candidates: Iterable[Candidate], size: int, seed: int) -> list[Drawn]:
    waiting = _by_kind(candidates, seed)
    drawn: list[Drawn] = []
    signals: Counter[str] = Counter()
    weeks: Counter[str] = Counter()
    sessions: set[tuple[str, str]] = set()
    again: list[Candidate] = []
    while len(drawn) < size and (waiting or again):
        if not waiting:
            waiting, again, sessions = _by_kind(again, seed), [], set()
        kind = max(waiting, key=lambda each: _worth(waiting[each][0], each, signals, weeks))
        best = waiting[kind].popleft()
        if not waiting[kind]:
            del waiting[kind]
        if _session(best) in sessions:
            again.append(best)
            continue
        drawn.append(Drawn(best, _why(best, kind, signals, weeks)))
        sessions.add(_session(best))
        signals[kind.signal] += 1
        weeks[kind.week] += 1
    return drawn


def _by_kind(candidates: Iterable[Candidate], seed: int) -> dict[_Kind, deque[Candidate]]:
    """Sort candidates of each kind best first, ties by chance; of a kind only the best can be the next one drawn."""
    kinds: dict[_Kind, deque[Candidate]] = {}
    for each in sorted(candidates, key=lambda each: (-each.priority, _shuffled(each, seed))):
        kinds.setdefault(_Kind(each.sampling_signal, _week(each)), deque()).append(each)
    return kinds


def _worth(best: Candidate, kind: _Kind, signals: Mapping[str, int], weeks: Mapping[str, int]) -> float:
    return best.priority * float(_OF_SIGNAL ** signals.get(kind.signal, 0) * _OF_WEEK ** weeks.get(kind.week, 0))


def _why(candidate: Candidate, kind: _Kind, signals: Mapping[str, int], weeks: Mapping[str, int]) -> str:
    parts = [f"priority {candidate.priority:.2f} by {kind.signal}"]
    if candidate.group_size > 1:
        parts.append(f"stands for {candidate.group_size} that ask the same")
    if not signals.get(kind.signal):
        parts.append("first of its signal")
    if kind.week and not weeks.get(kind.week):
        parts.append(f"first of week {kind.week}")
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
    among = (
        f"control: {len(chosen)} of {len(controls)} drawn at random, among which each unflagged turn came with a chance"
    )
    return [Drawn(each, f"{among} of {each.inclusion_probability:.3g}") for each in chosen]


def _shuffled(candidate: Candidate, seed: int) -> str:
    return hashlib.sha256(f"{seed}:{candidate.candidate_id}".encode()).hexdigest()


def _week(candidate: Candidate) -> str:
    asked_at = candidate.flagged_turn.asked_at
    return "{}-W{:02d}".format(*asked_at.isocalendar()[:2]) if asked_at else ""


def _session(candidate: Candidate) -> tuple[str, str]:
    """Return what tells sessions apart; one without an id is named by the first turn that is shown of it."""
    return candidate.source, candidate.session_id or candidate.turns[0].interaction_id

"""Keeping a set true: what is due for review, how it grows, what is known to fail, and items that tell runs nothing."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from evalsets.eval_set import EvalSet, KnownFailing
from evalsets.items import Author, Item
from evalsets.sets.changes import replacing

SIZE_GOAL = 50
REVIEW_AT_ONCE = 10
ENOUGH_RUNS = 3
"""Below this many runs, never failing or always failing says little."""


class DueItem(NamedTuple):
    """An item with the day a person last confirmed it; `is_due` when that is longer ago than the set allows."""

    item: Item
    confirmed_on: date
    days: int
    is_due: bool


def oldest_items(eval_set: EvalSet, *, today: date, after_days: int, limit: int = REVIEW_AT_ONCE) -> list[DueItem]:
    """Return the items confirmed longest ago, oldest first; an item nobody confirmed counts from when it was added."""
    dated = sorted((item.last_reviewed_on or item.added_on, item.id, item) for item in eval_set.items)
    return [
        DueItem(item, day, (today - day).days, today - day > timedelta(days=after_days))
        for day, _, item in dated[:limit]
    ]


def confirming(ids: Iterable[str], *, by: str, on: date) -> Callable[[EvalSet], EvalSet]:
    """Return the change that records that a person found items still right."""
    wanted = tuple(ids)

    def change(eval_set: EvalSet) -> EvalSet:
        mark = {"last_reviewed_on": on, "reviewed_by": Author(name=by)}
        known = eval_set.by_id
        return replacing(known[id_].model_copy(update=mark) for id_ in wanted if id_ in known)(eval_set)

    return change


def added_by_week(eval_set: EvalSet) -> dict[date, int]:
    """Count items, retired ones too, by the Monday of the week they were added in; weeks without any are zero."""
    days = [item.added_on for item in eval_set.items] + [entry.item.added_on for entry in eval_set.retired]
    counts = Counter(day - timedelta(days=day.weekday()) for day in days)
    if not counts:
        return {}
    weeks = range((max(counts) - min(counts)).days // 7 + 1)
    return {monday: counts[monday] for week in weeks for monday in [min(counts) + timedelta(weeks=week)]}


class VersionCount(NamedTuple):
    """How large a set was at one version, and how much of it was known to fail."""

    version: int
    frozen_on: date | None
    items: int
    known_failing: int


def history(versions: Iterable[EvalSet]) -> list[VersionCount]:
    """Return size and known failures by version, held-out items counted in the size."""
    return [
        VersionCount(
            each.version,
            each.frozen_at.date() if each.frozen_at else None,
            len(each.items) + (each.holdout.count if each.holdout else 0),
            len(each.known_failing),
        )
        for each in versions
    ]


class KnownFailingState(NamedTuple):
    """An entry of known_failing today: overdue, or passing on the newest run (None: it was not in it)."""

    entry: KnownFailing
    is_overdue: bool
    passes_now: bool | None


def known_failing_states(eval_set: EvalSet, *, today: date, newest_run: Mapping[str, bool]) -> list[KnownFailingState]:
    """Return what is known to fail, with what should be looked at: what passes by now, and what is overdue."""
    return [
        KnownFailingState(entry, entry.review_by < today, newest_run.get(entry.id)) for entry in eval_set.known_failing
    ]


class ItemRecord(NamedTuple):
    """How an item did over recorded runs.

    `discrimination` is the correlation of passing it with the pass rate of the run's other items: near 0 or below, the
    item does not tell better pipelines from worse ones. None when it always passed, always failed, or runs are alike.
    """

    item_id: str
    runs: int
    passes: int
    discrimination: float | None

    @property
    def never_fails(self) -> bool:
        """Whether it passed in every one of enough runs."""
        return self.runs >= ENOUGH_RUNS and self.passes == self.runs

    @property
    def always_fails(self) -> bool:
        """Whether it failed in every one of enough runs."""
        return self.runs >= ENOUGH_RUNS and self.passes == 0


def item_records(runs: Sequence[Mapping[str, bool]]) -> list[ItemRecord]:
    """Return how each item did over runs (passed, by item id), in the order of the ids."""
    totals = [(sum(run.values()), len(run)) for run in runs]
    ids = sorted({id_ for run in runs for id_ in run})
    return [_record(id_, runs, totals) for id_ in ids]


def _record(id_: str, runs: Sequence[Mapping[str, bool]], totals: Sequence[tuple[int, int]]) -> ItemRecord:
    passed, rest = [], []
    for run, (passes, count) in zip(runs, totals, strict=True):
        if id_ in run:
            passed.append(float(run[id_]))
            rest.append((passes - run[id_]) / (count - 1) if count > 1 else 0.0)
    return ItemRecord(id_, len(passed), int(sum(passed)), _correlation(passed, rest))


def _correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    from statistics import StatisticsError, correlation

    try:
        return correlation(one, other)
    except StatisticsError:  # fewer than two runs, or no spread in one of them
        return None

"""Two runs side by side over the items both hold: what moved, what was fixed, what broke."""

from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import NamedTuple

from evalsets.items import StrictModel
from evalsets.report import ItemResult, Report
from evalsets.statistics.movement import PairedComparison, compare_means, compare_rates
from evalsets.statistics.paired import holm
from evalsets.statistics.power import smallest_detectable_drop

MARGIN = 0.05
ALPHA = 0.05


class Change(StrictModel):
    """One figure in two runs, over the items it is defined for in both.

    `low` and `high` bound the difference. `p_value` is of the paired test, `p_holm` corrected for all figures of one
    comparison. `intervals_overlap` is the plain rule, shown as the weaker test that it is.
    """

    name: str
    half: str = ""
    items: int
    before: float
    after: float
    difference: float
    low: float
    high: float
    p_value: float
    p_holm: float
    test: str
    movement: str
    is_worse: bool
    fixed: int
    broke: int
    intervals_overlap: bool


class ItemChange(StrictModel):
    """An item whose verdict differs between two runs, with both answers and reasons."""

    id: str
    mode: str
    question: str
    answer_before: str | None
    answer_after: str | None
    reason_before: str
    reason_after: str
    cause_before: str = ""
    cause_after: str = ""


class Comparison(StrictModel):
    """What differs between a run and the one before. Only common items that both sets hold unchanged are compared."""

    before: str
    after: str
    note: str
    items: int
    headline: tuple[Change, ...]
    metrics: tuple[Change, ...]
    modes: tuple[Change, ...]
    tags: tuple[Change, ...]
    fixed: tuple[ItemChange, ...]
    broken: tuple[ItemChange, ...]
    answers_changed: tuple[ItemChange, ...]
    """Items with the same verdict whose answer or reason differs."""
    smallest_drop: float | None
    """The smallest drop of a pass rate that this many items show with 80 % power."""
    causes_before: dict[str, int]
    causes_after: dict[str, int]

    @property
    def changes(self) -> tuple[Change, ...]:
        """Return every figure that was compared."""
        return (*self.headline, *self.modes, *self.tags, *self.metrics)


class _Series(NamedTuple):
    """One figure of the same items in two runs, in the same order."""

    name: str
    half: str
    higher_is_better: bool
    before: list[float]
    after: list[float]
    groups: list[str]


_Pairs = Sequence[tuple[ItemResult, ItemResult]]


def compare(before: Report, after: Report, *, strict: bool = False) -> Comparison:
    """Return what differs; `strict` takes McNemar's exact test instead of its mid-p form."""
    pairs = common_items(before, after)
    headline = list(_headline_series(pairs))
    metrics = list(_metric_series(pairs, after))
    modes = list(_sliced(pairs, lambda item: (item.mode.value,)))
    tags = list(_sliced(pairs, lambda item: item.tags))
    tested = [*headline, *modes, *tags, *metrics]
    compared = [_tested(series, strict=strict) for series in tested]
    corrected = holm({str(place): result.p_value for place, result in enumerate(compared)})
    changes = [
        _change(series, result, corrected[str(place)])
        for place, (series, result) in enumerate(zip(tested, compared, strict=True))
    ]
    ends = [len(headline), len(headline) + len(modes), len(headline) + len(modes) + len(tags)]
    return Comparison(
        before=_label(before),
        after=_label(after),
        note=_note(before, after, len(pairs)),
        items=len(pairs),
        headline=tuple(changes[: ends[0]]),
        modes=tuple(changes[ends[0] : ends[1]]),
        tags=tuple(changes[ends[1] : ends[2]]),
        metrics=tuple(changes[ends[2] :]),
        fixed=tuple(_item_change(a, b) for a, b in pairs if b.passed and not a.passed),
        broken=tuple(_item_change(a, b) for a, b in pairs if a.passed and not b.passed),
        answers_changed=tuple(_item_change(a, b) for a, b in pairs if a.passed == b.passed and a.answer != b.answer),
        smallest_drop=smallest_detectable_drop(len(pairs)) if pairs else None,
        causes_before=before.causes,
        causes_after=after.causes,
    )


def common_items(before: Report, after: Report) -> list[tuple[ItemResult, ItemResult]]:
    """Return the items that both runs hold unchanged, in order; known failures left out."""
    earlier = {item.id: item for item in before.items if not item.is_known_failing}
    return [
        (earlier[item.id], item)
        for item in after.items
        if item.id in earlier and earlier[item.id].content == item.content and not item.is_known_failing
    ]


def _headline_series(pairs: _Pairs) -> Iterator[_Series]:
    yield from _series("retrieval_recall", "retrieval", pairs, lambda item: item.found)
    yield from _series("answer_accuracy", "generation", pairs, lambda item: item.pass_rate)
    yield from _series(
        "refusal_rate", "generation", pairs, lambda item: item.scores.get("declined"), higher_is_better=False
    )


def _metric_series(pairs: _Pairs, after: Report) -> Iterator[_Series]:
    for name, figure in after.metrics.items():

        def read(item: ItemResult, name: str = name) -> float | None:
            return item.scores.get(name)

        yield from _series(name, figure.half, pairs, read, higher_is_better=figure.higher_is_better)


def _sliced(pairs: _Pairs, names_of: Callable[[ItemResult], Sequence[str]]) -> Iterator[_Series]:
    names = sorted({name for _, item in pairs for name in names_of(item)})
    for name in names:
        chosen = [(a, b) for a, b in pairs if name in names_of(b)]
        yield from _series(name, "", chosen, lambda item: item.pass_rate)


def _series(
    name: str,
    half: str,
    pairs: _Pairs,
    read: Callable[[ItemResult], float | None],
    *,
    higher_is_better: bool = True,
) -> Iterator[_Series]:
    """Yield the figure of the items for which it is defined in both runs; nothing when there are none."""
    values = [
        (x, y, b.group or f"item {b.id}") for a, b in pairs if (x := read(a)) is not None and (y := read(b)) is not None
    ]
    if values:
        before, after, groups = (list(column) for column in zip(*values, strict=True))
        yield _Series(name, half, higher_is_better, before, after, groups)


def _tested(series: _Series, *, strict: bool) -> PairedComparison:
    groups = series.groups if len(set(series.groups)) < len(series.groups) else None
    if all(value in {0.0, 1.0} for value in [*series.before, *series.after]):
        before, after = ([value == 1.0 for value in values] for values in (series.before, series.after))
        return compare_rates(before, after, groups=groups, margin=MARGIN, alpha=ALPHA, strict=strict)
    return compare_means(series.before, series.after, groups=groups, margin=MARGIN, alpha=ALPHA)


def _change(series: _Series, result: PairedComparison, p_holm: float) -> Change:
    is_share = all(0 <= value <= 1 for value in [*series.before, *series.after])
    least, most = (-1.0, 1.0) if is_share else (-inf, inf)
    return Change(
        name=series.name,
        half=series.half,
        items=result.items,
        before=result.before,
        after=result.after,
        difference=result.difference,
        low=max(least, result.interval.low),
        high=min(most, result.interval.high),
        p_value=result.p_value,
        p_holm=p_holm,
        test=result.test,
        movement=result.movement.value,
        is_worse=result.difference < 0 if series.higher_is_better else result.difference > 0,
        fixed=result.fixed if series.higher_is_better else result.broke,
        broke=result.broke if series.higher_is_better else result.fixed,
        intervals_overlap=result.intervals_overlap,
    )


def _item_change(before: ItemResult, after: ItemResult) -> ItemChange:
    return ItemChange(
        id=after.id,
        mode=after.mode.value,
        question=after.question,
        answer_before=before.answer,
        answer_after=after.answer,
        reason_before=before.reason,
        reason_after=after.reason,
        cause_before=before.cause,
        cause_after=after.cause,
    )


def _label(report: Report) -> str:
    return f"{report.pipeline.name} ({report.pipeline.fingerprint[:8]})"


def _note(before: Report, after: Report, common: int) -> str:
    if before.eval_set.hash == after.eval_set.hash:
        return ""
    sets = [f"{report.eval_set.name} version {report.eval_set.version}" for report in (before, after)]
    return (
        f"the runs are of {sets[0]} and {sets[1]}: compared on the {common} items that both hold unchanged "
        f"(of {len(before.items)} and {len(after.items)})"
    )

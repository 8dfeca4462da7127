"""Means and rates over items, strict and lenient, by mode and tag, with their intervals."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from evalsets.metrics.base import Metric, Scale
from evalsets.report import Figure, ModeFigures
from evalsets.statistics.means import clustered_rate_interval, mean_interval
from evalsets.statistics.rates import Interval, wilson_interval


class ItemScore(NamedTuple):
    """One metric on one item: the strict figure, and whether the steps it reads all ended well."""

    value: float | None
    is_scored: bool


class ItemGroup(NamedTuple):
    """What an item is counted under."""

    mode: str
    tags: tuple[str, ...]
    label: str
    """Items with the same label hang together: its group, or its own id."""


class Eligible(NamedTuple):
    """A figure of an item that the metric is defined for."""

    value: float
    is_scored: bool
    group: ItemGroup


def figure_of(metric: Metric, scores: Sequence[ItemScore], groups: Sequence[ItemGroup]) -> Figure:
    """Return one metric over all items. `scores` and `groups` run in parallel."""
    eligible = [
        Eligible(score.value, score.is_scored, group)
        for score, group in zip(scores, groups, strict=True)
        if score.value is not None
    ]
    strict = [entry.value for entry in eligible]
    lenient = [entry.value for entry in eligible if entry.is_scored]
    is_amount = metric.scale is Scale.AMOUNT
    interval = interval_of(strict, [entry.group.label for entry in eligible], is_bounded=not is_amount)
    return Figure(
        name=metric.name,
        half=metric.half.value,
        scale=metric.scale.value,
        unit=metric.unit,
        value=mean(strict),
        lenient=mean(lenient),
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        interval=interval.method if interval else "",
        interval_warning=interval.warning if interval else "",
        median=at_share(strict, 0.5) if is_amount else None,
        p95=at_share(strict, 0.95) if is_amount else None,
        sum=sum(strict) if is_amount and strict else None,
        scored=len(lenient),
        eligible=len(strict),
        total=len(scores),
        higher_is_better=metric.higher_is_better,
        is_proxy=metric.is_proxy,
        by_mode=_by(eligible, lambda group: (group.mode,)),
        by_tag=_by(eligible, lambda group: group.tags),
    )


def pass_figures(
    pass_rates: Sequence[float], groups: Sequence[ItemGroup], names_of: Callable[[ItemGroup], Iterable[str]]
) -> dict[str, ModeFigures]:
    """Return passes by mode or tag, names sorted."""
    rates: dict[str, list[tuple[float, str]]] = {}
    for rate, group in zip(pass_rates, groups, strict=True):
        for name in names_of(group):
            rates.setdefault(name, []).append((rate, group.label))
    return {name: _mode_figures(rates[name]) for name in sorted(rates)}


def interval_of(values: Sequence[float], labels: Sequence[str], *, is_bounded: bool = True) -> Interval | None:
    """Return the interval that suits the values: Wilson for passes and failures, BCa for the rest, None for nothing.

    Items with the same label hang together and are resampled, or discounted, as one.
    """
    if not values:
        return None
    groups = labels if len(set(labels)) < len(labels) else None
    if is_bounded and all(value in {0.0, 1.0} for value in values):
        if groups is not None:
            return clustered_rate_interval([value == 1.0 for value in values], groups)
        return wilson_interval(sum(values), len(values))
    return mean_interval(values, groups=groups, bounded=is_bounded)


def at_share(values: Sequence[float], share: float) -> float | None:
    """Return the value at a share of the sorted values, between two by their distance; None of nothing."""
    if not values:
        return None
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def mean(values: Sequence[float]) -> float | None:
    """Return the mean, or None of nothing."""
    return sum(values) / len(values) if values else None


def _mode_figures(rates: Sequence[tuple[float, str]]) -> ModeFigures:
    values = [rate for rate, _ in rates]
    interval = interval_of(values, [label for _, label in rates])
    return ModeFigures(
        passed=sum(values),
        total=len(values),
        rate=sum(values) / len(values),
        low=interval.low if interval else None,
        high=interval.high if interval else None,
    )


def _by(eligible: Sequence[Eligible], names_of: Callable[[ItemGroup], Iterable[str]]) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for entry in eligible:
        for name in names_of(entry.group):
            values.setdefault(name, []).append(entry.value)
    return {name: sum(values[name]) / len(values[name]) for name in sorted(values)}

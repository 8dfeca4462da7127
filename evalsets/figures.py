"""Means and rates over items, strict and lenient, by mode and tag, with their intervals."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from evalsets.metrics.base import Half, Metric, Scale
from evalsets.report import Figure, ModeFigures
from evalsets.trials import Trial


class ItemScore(NamedTuple):
    """One metric on one item: the strict figure, and whether the steps it reads all ended well."""

    value: float | None
    is_scored: bool


class ItemGroup(NamedTuple):
    """What an item is counted under."""

    mode: str
    tags: tuple[str, ...]
    group: str


def item_score(metric: Metric, trials: Sequence[Trial]) -> ItemScore:
    """Return the mean over repeats; a repeat whose steps failed scores as a failure where the metric is defined."""
    scored = [_trial_score(metric, trial) for trial in trials]
    values = [score.value for score in scored if score.value is not None]
    value = sum(values) / len(values) if values else None
    return ItemScore(value, all(score.is_scored for score in scored))


def _trial_score(metric: Metric, trial: Trial) -> ItemScore:
    is_scored = trial.has_retrieved if metric.half is Half.RETRIEVAL else trial.has_answered
    value = metric.score(trial.case)
    if is_scored or value is None:
        return ItemScore(value, is_scored)
    if metric.scale is Scale.AMOUNT:
        return ItemScore(None, is_scored=False)
    # What did not answer did not decline either: only figures in which more is better fall to their worst.
    return ItemScore(0.0 if metric.higher_is_better else value, is_scored=False)


def figure_of(metric: Metric, scores: Sequence[ItemScore], groups: Sequence[ItemGroup]) -> Figure:
    """Return one metric over all items. `scores` and `groups` run in parallel."""
    eligible = [(score, group) for score, group in zip(scores, groups, strict=True) if score.value is not None]
    strict = [score.value for score, _ in eligible if score.value is not None]
    lenient = [score.value for score, _ in eligible if score.value is not None and score.is_scored]
    return Figure(
        name=metric.name,
        half=metric.half.value,
        scale=metric.scale.value,
        unit=metric.unit,
        value=mean(strict),
        lenient=mean(lenient),
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
    rates: dict[str, list[float]] = {}
    for rate, group in zip(pass_rates, groups, strict=True):
        for name in names_of(group):
            rates.setdefault(name, []).append(rate)
    return {name: _mode_figures(rates[name]) for name in sorted(rates)}


def mean(values: Sequence[float]) -> float | None:
    """Return the mean, or None of nothing."""
    return sum(values) / len(values) if values else None


def _mode_figures(rates: Sequence[float]) -> ModeFigures:
    return ModeFigures(passed=sum(rates), total=len(rates), rate=sum(rates) / len(rates))


def _by(
    eligible: Sequence[tuple[ItemScore, ItemGroup]], names_of: Callable[[ItemGroup], Iterable[str]]
) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for score, group in eligible:
        for name in names_of(group):
            values.setdefault(name, []).append(score.value or 0.0)
    return {name: sum(values[name]) / len(values[name]) for name in sorted(values)}


__all__ = ["ItemGroup", "ItemScore", "Mapping", "figure_of", "item_score", "mean", "pass_figures"]

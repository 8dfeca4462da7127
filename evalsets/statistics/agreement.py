"""Agreement of two raters: raw, kappa with its interval, AC1, marginals and the rates of a judge against a human."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from evalsets.errors import BadInputError
from evalsets.statistics.means import DEFAULT_ROUNDS, DEFAULT_SEED
from evalsets.statistics.rates import DEFAULT_CONFIDENCE, Interval, wilson_interval


class Confusion(NamedTuple):
    """Counts of pass and fail verdicts of a judge beside a human's."""

    both_pass: int
    only_judge: int
    only_human: int
    both_fail: int

    @property
    def total(self) -> int:
        """All items that both have rated."""
        return sum(self)


class Agreement(NamedTuple):
    """How far a judge agrees with a human; what cannot be defined is None and said in `note`."""

    confusion: Confusion
    raw: float
    kappa: float | None
    kappa_interval: Interval | None
    ac1: float | None
    human_pass_rate: float
    judge_pass_rate: float
    true_positive_rate: float | None
    true_positive_interval: Interval | None
    true_negative_rate: float | None
    true_negative_interval: Interval | None
    note: str = ""


def agreement(
    human: Sequence[bool | None],
    judge: Sequence[bool | None],
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    rounds: int = DEFAULT_ROUNDS,
    seed: int = DEFAULT_SEED,
) -> Agreement:
    """Compare two raters over the same items, in the same order; an item one of them left open (None) is left out.

    Source: Cohen 1960 for kappa, Gwet 2008 for AC1; the interval resamples the four counts.
    """
    table = confusion(human, judge)
    if table.total == 0:
        raise BadInputError("no item was rated by both; rate at least one")
    positives, negatives = table.both_pass + table.only_human, table.only_judge + table.both_fail
    kappa = _kappa(*table)
    return Agreement(
        confusion=table,
        raw=(table.both_pass + table.both_fail) / table.total,
        kappa=kappa,
        kappa_interval=None if kappa is None else _kappa_interval(table, confidence, rounds, seed),
        ac1=_ac1(table),
        human_pass_rate=positives / table.total,
        judge_pass_rate=(table.both_pass + table.only_judge) / table.total,
        true_positive_rate=_share(table.both_pass, positives),
        true_positive_interval=_share_interval(table.both_pass, positives, confidence),
        true_negative_rate=_share(table.both_fail, negatives),
        true_negative_interval=_share_interval(table.both_fail, negatives, confidence),
        note=_note(kappa, table),
    )


def confusion(human: Sequence[bool | None], judge: Sequence[bool | None]) -> Confusion:
    """Count the four combinations of verdicts; an item one rater left open is not counted."""
    counts = Counter(zip(human, judge, strict=True))
    return Confusion(*(counts[pair] for pair in _COMBINATIONS))


_COMBINATIONS = ((True, True), (False, True), (True, False), (False, False))


def cohens_kappa(human: Sequence[bool | None], judge: Sequence[bool | None]) -> float | None:
    """Return Cohen's kappa; None when both raters give one and the same label throughout."""
    return _kappa(*confusion(human, judge))


def _kappa(both_pass: float, only_judge: float, only_human: float, both_fail: float) -> float | None:
    total = both_pass + only_judge + only_human + both_fail
    raw = (both_pass + both_fail) / total
    human, judge = (both_pass + only_human) / total, (both_pass + only_judge) / total
    chance = human * judge + (1 - human) * (1 - judge)
    return None if chance == 1 else (raw - chance) / (1 - chance)


def _ac1(table: Confusion) -> float:
    raw = (table.both_pass + table.both_fail) / table.total
    mean_pass = (2 * table.both_pass + table.only_human + table.only_judge) / (2 * table.total)
    chance = 2 * mean_pass * (1 - mean_pass)
    return (raw - chance) / (1 - chance)


def _kappa_interval(table: Confusion, confidence: float, rounds: int, seed: int) -> Interval:
    import numpy as np

    drawn = np.random.default_rng(seed).multinomial(table.total, np.array(table) / table.total, size=rounds)
    a, b, c, d = drawn.T / table.total
    human, judge = a + c, a + b
    chance = human * judge + (1 - human) * (1 - judge)
    # A resample in which both raters are constant agrees on everything and says nothing of chance: it counts as 1.
    kappas = np.divide(a + d - chance, 1 - chance, out=np.ones(rounds), where=chance < 1)
    low, high = np.quantile(kappas, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(low), float(high), "percentile bootstrap of the four counts")


def _share(count: int, total: int) -> float | None:
    return count / total if total else None


def _share_interval(count: int, total: int, confidence: float) -> Interval | None:
    return wilson_interval(count, total, confidence=confidence) if total else None


def _note(kappa: float | None, table: Confusion) -> str:
    if kappa is None:
        return "both raters give one and the same label throughout, so kappa is undefined: grade items of both kinds"
    rare = min(table.both_pass + table.only_human, table.only_judge + table.both_fail)
    if rare < _RARE * table.total:
        return "one label is rare, which lowers kappa however well the raters agree: read raw agreement and AC1 with it"
    return ""


_RARE = 0.1

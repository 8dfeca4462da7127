"""Rank formulas over hit ranks: the ranks, counted from 1 and ascending, at which a gold chunk stands."""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from math import log2

HitRanks = tuple[int, ...]
RankFormula = Callable[[HitRanks, int, int], float]
"""Hit ranks, number of gold chunks (at least 1), number of distinct chunks returned: a figure in [0, 1]."""

_DEEPEST = 1000
_DISCOUNT = [0.0, *(1 / log2(rank + 1) for rank in range(1, _DEEPEST + 1))]
_IDEAL = [sum(_DISCOUNT[: count + 1]) for count in range(_DEEPEST + 1)]


def precision_at(k: int) -> RankFormula:
    """Gold chunks among the first k, over k, however many were returned."""
    return lambda hits, _gold, _returned: bisect_right(hits, k) / k


def recall_at(k: int) -> RankFormula:
    """Gold chunks among the first k, over all gold chunks."""
    return lambda hits, gold, _returned: bisect_right(hits, k) / gold


def hit_at(k: int) -> RankFormula:
    """1 when a gold chunk stands among the first k, else 0."""
    return lambda hits, _gold, _returned: 1.0 if hits and hits[0] <= k else 0.0


def f1_at(k: int) -> RankFormula:
    """Harmonic mean of precision@k and recall@k, which is twice the hits over k plus the gold chunks."""
    return lambda hits, gold, _returned: 2 * bisect_right(hits, k) / (k + gold)


def reciprocal_rank_at(k: int) -> RankFormula:
    """One over the rank of the first gold chunk, 0 when none stands among the first k."""
    return lambda hits, _gold, _returned: 1 / hits[0] if hits and hits[0] <= k else 0.0


def ndcg_at(k: int) -> RankFormula:
    """Discounted gain of the first k (gain 1, discount log2 of rank + 1) over that of the best order possible."""
    return lambda hits, gold, _returned: (
        sum([_discount(rank) for rank in hits[: bisect_right(hits, k)]]) / _ideal(min(gold, k)) if hits else 0.0
    )


def average_precision_at(k: int) -> RankFormula:
    """Mean over the gold chunks of the precision at each one's rank; one not among the first k counts 0."""
    return lambda hits, gold, _returned: sum([found / rank for found, rank in enumerate(hits, 1) if rank <= k]) / gold


def r_precision(hits: HitRanks, gold: int, _returned: int) -> float:
    """Precision at the rank that equals the number of gold chunks."""
    return bisect_right(hits, gold) / gold


def returned_precision(hits: HitRanks, _gold: int, returned: int) -> float:
    """Gold chunks over the distinct chunks that were returned; 0 when nothing was."""
    return len(hits) / returned if returned else 0.0


def returned_recall(hits: HitRanks, gold: int, _returned: int) -> float:
    """Gold chunks that were returned at any rank, over all gold chunks."""
    return len(hits) / gold


def returned_f1(hits: HitRanks, gold: int, returned: int) -> float:
    """Harmonic mean of the precision and recall of all that was returned."""
    return 2 * len(hits) / (gold + returned)


def score_rankings(
    golds: Iterable[Collection[str]],
    rankings: Iterable[Sequence[str]],
    formulas: Sequence[RankFormula],
) -> list[tuple[float, ...] | None]:
    """Return the figures of many rankings, one row each, in the order of the formulas; None where gold is empty.

    Ids are compared as they are, so hand over canonical ones. A repeated id counts at its first rank.
    """
    rows: list[tuple[float, ...] | None] = []
    # Rows hang on where the hits are and on two counts, so a few hundred different ones serve any number of items.
    known: dict[tuple[HitRanks, int, int], tuple[float, ...]] = {}
    for gold, ranking in zip(golds, rankings, strict=True):
        if not gold:
            rows.append(None)
            continue
        wanted = gold if isinstance(gold, (set, frozenset)) else set(gold)
        hits, returned = hits_of(ranking, wanted)
        place = (hits, len(wanted), returned)
        row = known.get(place)
        if row is None:
            row = tuple([formula(*place) for formula in formulas])
            if len(known) < _KNOWN_ROWS:
                known[place] = row
        rows.append(row)
    return rows


_KNOWN_ROWS = 100_000


def hits_of(ranking: Sequence[str], gold: AbstractSet[str]) -> tuple[tuple[int, ...], int]:
    """Return the ranks of the gold chunks, ascending, and how many distinct chunks the ranking holds."""
    distinct = set(ranking)
    found = distinct & gold
    if not found:
        return (), len(distinct)
    ordered = ranking if len(distinct) == len(ranking) else list(dict.fromkeys(ranking))
    if len(found) == 1:
        return (ordered.index(found.pop()) + 1,), len(distinct)
    return tuple(sorted([ordered.index(chunk_id) + 1 for chunk_id in found])), len(distinct)


def _discount(rank: int) -> float:
    return _DISCOUNT[rank] if rank <= _DEEPEST else 1 / log2(rank + 1)


def _ideal(count: int) -> float:
    return _IDEAL[count] if count <= _DEEPEST else sum(map(_discount, range(1, count + 1)))

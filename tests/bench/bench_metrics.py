"""Speed of metrics and statistics, as ratios to plain Python sets and to pytrec_eval in the same run."""

import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from itertools import count
from math import log2
from typing import NamedTuple

from evalsets.chunks import Chunk
from evalsets.metrics import ranking, retrieval
from evalsets.metrics.base import ScoredCase
from evalsets.statistics import agreement, compare_means, compare_rates, holm, mean_interval, wilson_interval
from tests.evalsets.cases import item

K = 10
ITEMS = 100_000
ROUNDS = 5


class Line(NamedTuple):
    """One figure beside the goal it is held against."""

    what: str
    figure: float
    unit: str
    goal: str


def main() -> None:
    """Print every figure."""
    for line in [*retrieval_lines(), *statistics_lines()]:
        sys.stdout.write(f"{line.what:<62} {line.figure:>8.2f} {line.unit:<8} {line.goal}\n")


def retrieval_lines(items: int = ITEMS) -> list[Line]:
    """Time four metrics over many rankings of ten."""
    golds, rankings = _rankings(items)
    plain = _cpu_seconds(lambda: _plain_sets(golds, rankings))
    formulas = [ranking.recall_at(K), ranking.precision_at(K), ranking.reciprocal_rank_at(K), ranking.ndcg_at(K)]
    ours = _cpu_seconds(lambda: ranking.score_rankings(golds, rankings, formulas))
    trec = _cpu_seconds(lambda: _trec_eval(golds, rankings), rounds=2)
    cases = _cases(golds, rankings)
    metrics = [retrieval.recall(K), retrieval.precision(K), retrieval.mrr(K), retrieval.ndcg(K)]
    through_cases = _cpu_seconds(lambda: [[metric.score(case) for metric in metrics] for case in cases()], rounds=2)
    making = _cpu_seconds(cases, rounds=2)
    name = f"four metrics, {items:,} x {K}"
    return [
        Line(f"{name}: CPU over plain sets", ours / plain, "ratio", "at most 1.5"),
        Line(f"{name}: pytrec_eval's CPU over ours", trec / ours, "ratio", "at least 3"),
        Line(f"{name}: our CPU", ours, "s", ""),
        Line(f"{name}: through metric units and cases, over plain sets", (through_cases - making) / plain, "ratio", ""),
    ]


def statistics_lines() -> list[Line]:
    """Time every interval, paired test and kappa of ten metrics."""
    lines = []
    for items, goal in ((50, 50), (10_000, 100)):
        metrics, passes = _figures(items)
        _everything(metrics, passes)
        measured = _cpu_seconds(lambda m=metrics, p=passes: _everything(m, p))  # type: ignore[misc]
        lines.append(
            Line(
                f"intervals, paired tests, kappa: ten metrics, {items:,} items",
                measured * 1000,
                "ms",
                f"at most {goal}",
            )
        )
    return lines


def _cpu_seconds(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return the median CPU time of a few runs."""
    taken = []
    for _ in range(rounds):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return statistics.median(taken)


def _rankings(items: int) -> tuple[list[set[str]], list[list[str]]]:
    draw = random.Random(7)  # noqa: S311 - a seeded draw of cases, nothing secret
    ids = [f"chunk-{number}" for number in range(5000)]
    rankings = [draw.sample(ids, K) for _ in range(items)]
    golds = [{draw.choice(found) for _ in range(draw.randint(1, 2))} | {draw.choice(ids)} for found in rankings]
    return golds, rankings


def _plain_sets(golds: Sequence[set[str]], rankings: Sequence[Sequence[str]]) -> list[tuple[float, ...]]:
    """Score as one would by hand, with sets and loops."""
    rows: list[tuple[float, ...]] = []
    for gold, found in zip(golds, rankings, strict=True):
        top = found[:K]
        hits = len(gold & set(top))
        reciprocal = 0.0
        gain = 0.0
        for rank, chunk_id in enumerate(top, 1):
            if chunk_id in gold:
                reciprocal = reciprocal or 1 / rank
                gain += 1 / log2(rank + 1)
        ideal = sum(1 / log2(rank + 1) for rank in range(1, min(len(gold), K) + 1))
        rows.append((hits / len(gold), hits / K, reciprocal, gain / ideal))
    return rows


def _trec_eval(golds: Sequence[set[str]], rankings: Sequence[Sequence[str]]) -> object:
    import pytrec_eval

    qrel = {f"q{n}": dict.fromkeys(gold, 1) for n, gold in enumerate(golds)}
    run = {f"q{n}": dict(zip(found, map(float, count(0, -1)), strict=False)) for n, found in enumerate(rankings)}
    return pytrec_eval.RelevanceEvaluator(qrel, {"recall.10", "P.10", "recip_rank", "ndcg_cut.10"}).evaluate(run)


def _cases(golds: Sequence[set[str]], rankings: Sequence[Sequence[str]]) -> Callable[[], list[ScoredCase]]:
    base = item()
    items = [base.model_copy(update={"gold_chunk_ids": tuple(gold)}) for gold in golds]
    retrieved = [tuple(Chunk(chunk_id, "") for chunk_id in found) for found in rankings]
    return lambda: [ScoredCase(item=each, retrieved=found) for each, found in zip(items, retrieved, strict=True)]


def _figures(items: int) -> tuple[list[tuple[list[float], list[float]]], list[tuple[list[bool], list[bool]]]]:
    """Draw five graded metrics, two of them with many distinct values, and five rates, before and after."""
    draw = random.Random(items)  # noqa: S311 - a seeded draw of cases, nothing secret
    graded = [
        ([_graded(draw, kind) for _ in range(items)], [_graded(draw, kind) for _ in range(items)]) for kind in range(5)
    ]
    rates = [
        ([draw.random() < 0.8 for _ in range(items)], [draw.random() < 0.78 for _ in range(items)]) for _ in range(5)
    ]
    return graded, rates


def _graded(draw: random.Random, kind: int) -> float:
    return draw.choice([0, 0.25, 0.5, 1 / 3, 1.0]) if kind < 3 else draw.betavariate(5, 1.5)


def _everything(
    metrics: Sequence[tuple[list[float], list[float]]], passes: Sequence[tuple[list[bool], list[bool]]]
) -> object:
    intervals = [[mean_interval(values) for values in pair] for pair in metrics]
    rates = [[wilson_interval(sum(values), len(values)) for values in pair] for pair in passes]
    tests = [compare_means(*pair) for pair in metrics] + [compare_rates(*pair) for pair in passes]
    adjusted = holm({str(number): test.p_value for number, test in enumerate(tests)})
    return intervals, rates, tests, adjusted, agreement(*passes[0])


if __name__ == "__main__":
    main()

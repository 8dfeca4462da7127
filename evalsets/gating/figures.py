"""The figures a gate compares: read from a report, or from a plain JSON object of numbers."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from evalsets.errors import BadInputError

RETRIEVAL = "retrieval"
GENERATION = "generation"
SAFETY = "safety"
HEADLINE = ("retrieval_recall", "answer_accuracy", "refusal_rate")
SCORECARD_HALVES = {
    "faithfulness": GENERATION,
    "answer_relevance": GENERATION,
    "answer_relevancy": GENERATION,
    "context_precision": RETRIEVAL,
    "context_recall": RETRIEVAL,
}
"""The four scorecard metrics and the half of the pipeline each speaks of."""
_HEADLINE_HALVES = {"retrieval_recall": RETRIEVAL, "answer_accuracy": GENERATION, "refusal_rate": GENERATION}
_MODE_HALVES = {
    "retrieval_miss": RETRIEVAL,
    "grounding_failure": GENERATION,
    "refusal": GENERATION,
    "out_of_scope": GENERATION,
}
LOWER_IS_BETTER = frozenset({"refusal_rate", "declined", "wrongly_declined", "latency_s", "tokens", "cost"})


class Figures(NamedTuple):
    """What one run scored: metrics and modes by name, and the halves of metrics that name their own."""

    metrics: dict[str, float | None]
    modes: dict[str, float]
    halves: dict[str, str]
    proxies: frozenset[str] = frozenset()
    lower_is_better: frozenset[str] = LOWER_IS_BETTER

    def half_of(self, name: str) -> str:
        """Return which half of the pipeline a figure speaks of, or an empty text."""
        return (
            self.halves.get(name)
            or _HEADLINE_HALVES.get(name)
            or SCORECARD_HALVES.get(name)
            or _MODE_HALVES.get(name, "")
        )


def is_report(wire: Mapping[str, Any]) -> bool:
    """Return whether parsed JSON is a report of a run rather than plain figures."""
    return "items" in wire and "by_mode" in wire


def read_figures(wire: Any, *, where: str) -> Figures:
    """Return the figures in a parsed report, or in a plain object such as `{"faithfulness": 0.92, ...}`."""
    if not isinstance(wire, Mapping):
        raise BadInputError(f"{where} holds {type(wire).__name__}; a gate compares reports, or objects of numbers.")
    metrics = {str(name): float(value) for name, value in wire.items() if _is_number(value) and name not in _COUNTS}
    modes = {str(mode): float(rate) for mode, rate in _mapping(wire, "by_mode").items() if _is_number(rate)}
    if not metrics and not modes:
        raise BadInputError(f"{where} holds no figures; name a report of `errata run`, or an object of numbers.")
    own = {name: figure for name, figure in _mapping(wire, "metrics").items() if isinstance(figure, Mapping)}
    return Figures(
        {**{name: figure.get("value") for name, figure in own.items()}, **metrics},
        modes,
        {name: str(figure.get("half", "")) for name, figure in own.items()},
        frozenset(name for name, figure in own.items() if figure.get("is_proxy")),
        LOWER_IS_BETTER | {name for name, figure in own.items() if figure.get("higher_is_better") is False},
    )


_COUNTS = frozenset({"schema_version", "passed", "failed", "not_scored", "lenient_accuracy"})


def figures_of_items(wire: Mapping[str, Any], ids: Collection[str]) -> Figures:
    """Return a report's figures over some of its items only: what two versions of a set have in common."""
    items = [item for item in wire["items"] if item["id"] in ids and not item.get("is_known_failing")]
    rates = [sum(item["passes"]) / len(item["passes"]) for item in items]
    names = sorted({name for item in items for name in item["scores"]})
    metrics = {
        name: _mean([value for item in items if (value := item["scores"].get(name)) is not None]) for name in names
    }
    found = [item["found"] for item in items if item.get("found") is not None]
    by_mode: dict[str, list[float]] = {}
    for item, rate in zip(items, rates, strict=True):
        by_mode.setdefault(item["mode"], []).append(rate)
    whole = read_figures(wire, where="the report")
    return whole._replace(
        metrics={
            **metrics,
            "answer_accuracy": _mean(rates),
            "refusal_rate": metrics.get("declined"),
            "retrieval_recall": _mean(found),
        },
        modes={mode: sum(values) / len(values) for mode, values in sorted(by_mode.items())},
    )


def _mapping(wire: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = wire.get(name)
    return value if isinstance(value, Mapping) else {}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value - value == 0


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None

"""Gates that need no baseline: the scorecard, and the bars that every single question must clear."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalsets.errors import BadInputError
from evalsets.gating.findings import Finding, shown, told_apart

_CORRECTNESS = ("correct", "facts_present")
_GROUNDEDNESS = ("faithfulness", "grounded_meaning", "grounded_tokens")
_LISTED = 20


def scorecard_findings(after: Mapping[str, Any], *, allow_proxy: bool) -> Iterator[Finding]:
    """Yield one finding for each metric of each scorecard in a report."""
    cards = after.get("scorecards") or {}
    if not cards:
        raise BadInputError("the run has no scorecard; --scorecard needs a report of `errata run`")
    for tag, card in cards.items():
        for line in card["lines"]:
            yield _scorecard_finding(tag, line, allow_proxy=allow_proxy)


def _scorecard_finding(tag: str, line: Mapping[str, Any], *, allow_proxy: bool) -> Finding:
    name = line["name"] if tag == "all" else f"{line['name']} of {tag}"
    value, bar, half = line["value"], line["bar"], line["half"]
    if value is None:
        sentence = f"{name}: nothing measured it; what is not measured does not pass (scorecard bar {shown(bar)})"
        return Finding(name, "missing", None, None, bar, passed=False, sentence=sentence, half=half)
    if line["is_proxy"] and not allow_proxy:
        sentence = f"{name}: measured by {line['measured_by']}, which sees words, not meaning; allow_proxy is off"
        return Finding(name, "refused", None, value, bar, passed=False, sentence=sentence, half=half)
    shown_value, shown_bar = told_apart(value, bar)
    sentence = f"{name}: {shown_value} {'>=' if line['passes'] else '<'} {shown_bar} (scorecard)"
    return Finding(name, "scorecard", None, value, bar, passed=line["passes"], sentence=sentence, half=half)


def every_question_findings(
    after: Mapping[str, Any], *, recall: float = 1.0, groundedness: float = 0.8, correctness: float = 0.8
) -> Iterator[Finding]:
    """Yield one finding for each of recall, groundedness and correctness: does every single question clear it?"""
    items = [item for item in after.get("items", ()) if not item.get("is_known_failing")]
    if not items:
        raise BadInputError("the run has no items; --every-question needs a report of `errata run`")
    depth = after.get("settings", {}).get("k", 10)
    for name, half, bar, read in (
        ("recall", "retrieval", recall, (f"recall@{depth}",)),
        ("groundedness", "generation", groundedness, _GROUNDEDNESS),
        ("correctness", "generation", correctness, _CORRECTNESS),
    ):
        yield _question_finding(name, half, bar, {item["id"]: _first_score(item, read) for item in items})


def _first_score(item: Mapping[str, Any], names: Sequence[str]) -> float | None:
    return next((value for name in names if (value := item["scores"].get(name)) is not None), None)


def _question_finding(name: str, half: str, bar: float, scores: Mapping[str, float | None]) -> Finding:
    scored = {id_: value for id_, value in scores.items() if value is not None}
    below = [id_ for id_, value in scored.items() if value < bar - 1e-9]
    worst = min(scored.values(), default=None)
    if not scored:
        sentence = f"every question, {name}: undefined for every item; what is not measured does not pass"
    elif below:
        listed = ", ".join(below[:_LISTED]) + ("…" if len(below) > _LISTED else "")
        sentence = f"every question, {name}: {len(below)} of {len(scored)} questions under {shown(bar)}: {listed}"
    else:
        sentence = f"every question, {name}: all {len(scored)} questions reach {shown(bar)}"
    passed = bool(scored) and not below
    return Finding(f"every question {name}", "question", None, worst, bar, passed=passed, sentence=sentence, half=half)

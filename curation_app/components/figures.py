"""Figures in words: with their unit, their denominator and, where it matters, their interval."""

from curation_app.service.run_summaries import Measured

NONE = "\N{EN DASH}"
"""Shown where there is no figure."""
_ROUNDING = 1e-6

TITLES = {
    "retrieval_recall": "Retrieval recall",
    "answer_accuracy": "Answer accuracy",
    "refusal_rate": "Refusal rate",
}
MEANINGS = {
    "retrieval_recall": "answerable items for which a gold chunk was retrieved",
    "answer_accuracy": "items whose answer passed",
    "refusal_rate": "items whose answer declined",
}


def title_of(name: str) -> str:
    """Return a figure's name as a person reads it."""
    return TITLES.get(name) or name.replace("_", " ")


def percent(value: float | None) -> str:
    """Return a share as a percentage without decimals; one decimal below one per cent."""
    if value is None:
        return "undefined"
    return f"{value:.1%}" if 0 < value < 0.01 else f"{value:.0%}"  # noqa: PLR2004 - below one per cent


def rate_words(measured: Measured) -> str:
    """Return "31 of 38 (82%, 67-91%)"."""
    if measured.value is None:
        return "undefined: no item it is defined for"
    passed = measured.value * measured.eligible
    is_whole = abs(passed - round(passed)) < _ROUNDING
    counts = f"{passed:.0f} of {measured.eligible}" if is_whole else f"{measured.eligible} items"
    return f"{counts} ({percent(measured.value)}{interval_words(measured)})"


def interval_words(measured: Measured) -> str:
    """Return ", 67-91%" of a rate, or nothing."""
    if measured.low is None or measured.high is None:
        return ""
    return f", {measured.low:.0%}\N{EN DASH}{measured.high:.0%}"


def amount(value: float | None, scale: str) -> str:
    """Return a metric's value for a table."""
    if value is None:
        return NONE
    return f"{value:,.4g}" if scale == "amount" else f"{value:.3f}"


def points(difference: float | None) -> str:
    """Return a difference of two shares as signed percentage points."""
    return "" if difference is None else f"{difference * 100:+.0f} points"


def seconds(value: float | None) -> str:
    """Return seconds with a fitting unit."""
    if value is None:
        return NONE
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.2f} s"

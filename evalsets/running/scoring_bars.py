"""The scorecard of a run, against the bars in the set file or the usual ones."""

from collections.abc import Mapping, Sequence

from evalsets.eval_set import EvalSet
from evalsets.metrics.scorecard import STAND_INS, Scorecard, ScorecardBars, scorecard
from evalsets.report import ScorecardLine, ScorecardResult
from evalsets.running.scored_items import ScoredItem

WHOLE_SET = "all"
_TAG_SEPARATOR = ":"
_MEASURING = tuple(dict.fromkeys(name for names in STAND_INS.values() for name in names))


def scorecards_of(eval_set: EvalSet, rows: Sequence[ScoredItem]) -> dict[str, ScorecardResult]:
    """Return the scorecard of all items, and of each tag that the set's thresholds name as `TAG:METRIC`."""
    bars = bars_by_tag(eval_set.thresholds)
    chosen = {tag: rows if tag == WHOLE_SET else [row for row in rows if tag in row.group.tags] for tag in bars}
    return {tag: _result(scorecard(_means(chosen[tag]), bars[tag])) for tag in bars if chosen[tag]}


def bars_by_tag(thresholds: Mapping[str, float]) -> dict[str, ScorecardBars]:
    """Return the bars of the whole set and of each tag; a tag starts from the bars of the set."""
    named: dict[str, dict[str, float]] = {WHOLE_SET: {}}
    for key, value in thresholds.items():
        tag, _, metric = key.rpartition(_TAG_SEPARATOR)
        if metric in ScorecardBars.model_fields:
            named.setdefault(tag or WHOLE_SET, {})[metric] = value
    return {tag: ScorecardBars.model_validate({**named[WHOLE_SET], **own}) for tag, own in named.items()}


def _means(rows: Sequence[ScoredItem]) -> dict[str, float | None]:
    means: dict[str, float | None] = {}
    for name in _MEASURING:
        values = [value for row in rows if (value := row.result.scores.get(name)) is not None]
        means[name] = sum(values) / len(values) if values else None
    return means


def _result(card: Scorecard) -> ScorecardResult:
    lines = tuple(
        ScorecardLine(
            name=row.name,
            value=row.value,
            bar=row.bar,
            passes=row.passes,
            measured_by=row.measured_by,
            is_proxy=row.is_proxy,
            half=row.look_at.value,
        )
        for row in card.rows
    )
    return ScorecardResult(passes=card.passes, lines=lines)

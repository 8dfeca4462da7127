"""What production does after launch: figures by day from the tables kept up at ingest, and what moved among them."""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from functools import lru_cache, partial
from itertools import pairwise
from typing import NamedTuple

from curation_app.service.changes import (
    Amounts,
    Change,
    Share,
    daily_change,
    days_half_width,
    spread_half_width,
    widened,
)
from curation_app.service.measures import MEASURES, Measure, amount_of, change_between, share_of, shown
from curation_app.workspace import Workspace
from evalsets.statistics import wilson_interval
from ingest.daily_reading import (
    DailyChoices,
    DailyFilter,
    DayFigures,
    DaysOf,
    count_turns,
    read_choices,
    read_days_of,
    read_figures,
)
from ingest.log_store import LogStore

RECENT_DAYS = 7


class Point(NamedTuple):
    """A figure on one day, with its interval where it has one."""

    day: date
    value: float | None
    low: float | None
    high: float | None
    total: int


class Gauge(NamedTuple):
    """One measure over the chosen days: its value now, how it changed, and the days."""

    measure: Measure
    value: float | None
    share: Share | None
    change: Change
    points: tuple[Point, ...]


class VersionRow(NamedTuple):
    """A prompt version or model, with its figures and whether each differs from the version before."""

    name: str
    figures: DayFigures
    first_day: date
    changes: dict[str, Change]


class Turns(NamedTuple):
    """How many questions the two spans hold that are compared."""

    before: int
    recent: int


class Compared(NamedTuple):
    """The two spans that are held against each other: up to `recent_from`, and from then on."""

    filters: DailyFilter
    before_from: date
    recent_from: date
    last_day: date
    turns: Turns


class MonitorView(NamedTuple):
    """Everything the Monitor page shows, but for the topics that grow."""

    compared: Compared
    gauges: tuple[Gauge, ...]
    versions: tuple[VersionRow, ...]
    models: tuple[VersionRow, ...]
    findings: tuple[str, ...]


def choices(workspace: Workspace) -> DailyChoices | None:
    """Return what the log holds to choose from; None when there is no log."""
    if not LogStore(workspace.logs_path).exists:
        return None
    found = _choices(workspace, log_stamp(workspace))
    return found if found.first_day is not None else None


def look(workspace: Workspace, filters: DailyFilter) -> MonitorView | None:
    """Return the figures under the filters, kept until the log changes; None when no turn is left."""
    return _look(workspace, filters, log_stamp(workspace))


def log_stamp(workspace: Workspace) -> tuple[int, ...]:
    """Return what changes whenever the log or the settings do."""
    paths = (workspace.logs_path, workspace.config_path)
    return tuple(path.stat().st_mtime_ns if path.exists() else 0 for path in paths)


@lru_cache(maxsize=8)
def _choices(workspace: Workspace, _changed: tuple[int, ...]) -> DailyChoices:
    with LogStore(workspace.logs_path).unit() as connection:
        return read_choices(connection)


@lru_cache(maxsize=64)
def _look(workspace: Workspace, filters: DailyFilter, _changed: tuple[int, ...]) -> MonitorView | None:
    most_compared = workspace.settings().signals.ungrounded_rows
    with LogStore(workspace.logs_path).unit() as connection:
        read = partial(read_figures, compared_share=min(1.0, most_compared / max(count_turns(connection), 1)))
        days = read(connection, filters)
        if not days:
            return None
        spans = _spans([day.group for day in days])
        narrowed = [filters._replace(first_day=first, last_day=last) for first, last in (spans.before, spans.recent)]
        whole, before, recent = (next(iter(read(connection, one, by="all")), None) for one in (filters, *narrowed))
        versions = {by: read(connection, filters, by=by) for by in ("prompt_version", "model")}
        used = {by: read_days_of(connection, filters, by=by) for by in versions}
    seen = _Seen(days, spans, whole or days[0], before, recent)
    gauges = tuple(_gauge(measure, seen) for measure in MEASURES)
    spreads = {gauge.measure.name: _within(gauge.points, spans) for gauge in gauges}
    tables = {by: tuple(_version_rows(rows, used[by], spreads)) for by, rows in versions.items()}
    return MonitorView(
        compared=Compared(
            filters,
            before_from=spans.before[0],
            recent_from=spans.recent[0],
            last_day=spans.recent[1],
            turns=Turns(*(one.interactions if one else 0 for one in (before, recent))),
        ),
        gauges=gauges,
        versions=tables["prompt_version"],
        models=tables["model"],
        findings=(*_version_findings(tables["prompt_version"]), *_recent_findings(gauges, spans)),
    )


class _Spans(NamedTuple):
    before: tuple[date, date]
    recent: tuple[date, date]


def _spans(days: Sequence[date]) -> _Spans:
    """Split the days: the last week, or the second half of less than two, against up to four times as many before."""
    first, last = days[0], days[-1]
    length = min(RECENT_DAYS, max(((last - first).days + 1) // 2, 1))
    recent_from = last - timedelta(days=length - 1)
    before_from = max(first, recent_from - timedelta(days=4 * length))
    return _Spans((before_from, recent_from - timedelta(days=1)), (recent_from, last))


class _Seen(NamedTuple):
    """The chosen days one by one and taken together."""

    days: Sequence[DayFigures]
    spans: _Spans
    whole: DayFigures
    before: DayFigures | None
    recent: DayFigures | None


def _gauge(measure: Measure, seen: _Seen) -> Gauge:
    points = tuple(_point(measure, day) for day in seen.days)
    if measure.kind == "daily":
        counts = {day.group: float(measure.numerator(day)) for day in seen.days}
        change = daily_change(*(_counts_within(counts, span) for span in seen.spans))
        return Gauge(measure, float(measure.numerator(seen.whole)), None, change, points)
    change = Change(None, None)
    if seen.before and seen.recent:
        half_width = days_half_width(*_within(points, seen.spans))
        change = widened(change_between(measure, seen.before, seen.recent), half_width)
    if measure.kind == "rate":
        share = share_of(measure, seen.whole)
        return Gauge(measure, share.rate, share, change, points)
    return Gauge(measure, amount_of(measure, seen.whole), None, change, points)


def _within(points: Sequence[Point], spans: _Spans) -> tuple[list[float], list[float]]:
    """Return the daily values of the span before and of the recent one."""
    before, recent = (
        [point.value for point in points if point.value is not None and first <= point.day <= last]
        for first, last in spans
    )
    return before, recent


def _counts_within(counts: dict[date, float], span: tuple[date, date]) -> list[float]:
    length = (span[1] - span[0]).days + 1
    return [counts.get(span[0] + timedelta(days=number), 0.0) for number in range(length)]


def _point(measure: Measure, day: DayFigures) -> Point:
    if measure.kind == "rate":
        share = share_of(measure, day)
        if share.rate is None:
            return Point(day.group, None, None, None, 0)
        interval = wilson_interval(min(share.part, share.total), share.total)
        return Point(day.group, share.rate, interval.low, interval.high, share.total)
    if measure.kind == "daily":
        return Point(day.group, float(measure.numerator(day)), None, None, day.interactions)
    if measure.kind == "latency":
        bounds = day.latency.p50_bounds if measure.name == "p50" else day.latency.p95_bounds
        low, high = bounds or (None, None)
        return Point(day.group, amount_of(measure, day), low, high, day.latency.timed)
    amounts = Amounts(day.priced, day.cost, day.cost_squares)
    if amounts.mean is None or day.priced == 1:
        return Point(day.group, amounts.mean, None, None, day.priced)
    half_width = 1.96 * amounts.error
    return Point(day.group, amounts.mean, max(amounts.mean - half_width, 0.0), amounts.mean + half_width, day.priced)


def _version_rows(
    rows: Sequence[DayFigures], used: dict[str, DaysOf], spreads: dict[str, tuple[list[float], list[float]]]
) -> Iterator[VersionRow]:
    by_name = {row.group: row for row in rows}
    last: str | None = None
    for name, days in used.items():
        changes = {}
        if last is not None:
            numbers = used[last].number, days.number
            changes = {
                measure.name: widened(
                    change_between(measure, by_name[last], by_name[name]),
                    spread_half_width(spreads[measure.name], numbers),
                )
                for measure in MEASURES
                if measure.kind != "daily"
            }
        yield VersionRow(name, by_name[name], days.first, changes)
        last = name


def _version_findings(rows: Sequence[VersionRow]) -> Iterator[str]:
    for last, row in pairwise(rows):
        for measure in MEASURES:
            change = row.changes.get(measure.name)
            if change and change.is_more_than_noise:
                names = row.name or "unknown", last.name or "unknown"
                yield f"{_sentence(measure, change)} with prompt {names[0]} (before: {names[1]})"


def _recent_findings(gauges: Sequence[Gauge], spans: _Spans) -> Iterator[str]:
    since = f"since {spans.recent[0]:%-d %B}"
    for gauge in gauges:
        if gauge.change.is_more_than_noise:
            yield f"{_sentence(gauge.measure, gauge.change)} {since}"


def _sentence(measure: Measure, change: Change) -> str:
    rose = (change.after or 0) > (change.before or 0)
    return (
        f"{measure.title} {'rose' if rose else 'fell'} from {shown(measure, change.before)} "
        f"to {shown(measure, change.after)}"
    )

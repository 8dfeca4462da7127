"""How the mix of a set compares with the traffic it came from, by any way of sorting questions."""

from collections.abc import Mapping
from typing import NamedTuple

from evalsets.items import StrictModel
from evalsets.statistics import wilson_interval

WORTH_COVERING = 0.02
"""Share of traffic below which a value need not be in the set."""


class CoverageRow(StrictModel):
    """One value, such as a model or a week: how often it is in the set and in traffic."""

    value: str
    in_set: int
    in_traffic: int
    set_share: float
    traffic_share: float
    is_missing: bool
    """In traffic, though in no item."""
    is_off: bool
    """The share of traffic lies outside the 95% interval of the share in the set."""


class Coverage(StrictModel):
    """A set against traffic in one respect; the largest shares of traffic first."""

    respect: str
    set_total: int
    traffic_total: int
    unknown_in_set: int
    """Items of which the value is not known; they are left out of the shares."""
    rows: tuple[CoverageRow, ...]

    @property
    def distance(self) -> float:
        """Return how far apart the two mixes are: half the sum of the differences, 0 alike to 1 disjoint."""
        return sum(abs(row.set_share - row.traffic_share) for row in self.rows) / 2


class _Totals(NamedTuple):
    in_set: int
    in_traffic: int


def compare_mix(
    respect: str, in_set: Mapping[str, int], in_traffic: Mapping[str, int], *, unknown_in_set: int = 0
) -> Coverage:
    """Return the mix of a set beside that of traffic, from counts by value."""
    totals = _Totals(sum(in_set.values()), sum(in_traffic.values()))
    values = sorted(in_set.keys() | in_traffic.keys(), key=lambda value: (-in_traffic.get(value, 0), value))
    return Coverage(
        respect=respect,
        set_total=totals.in_set,
        traffic_total=totals.in_traffic,
        unknown_in_set=unknown_in_set,
        rows=tuple(_row(value, in_set.get(value, 0), in_traffic.get(value, 0), totals) for value in values),
    )


def _row(value: str, in_set: int, in_traffic: int, totals: _Totals) -> CoverageRow:
    traffic_share = in_traffic / totals.in_traffic if totals.in_traffic else 0.0
    interval = wilson_interval(in_set, totals.in_set) if totals.in_set else None
    return CoverageRow(
        value=value,
        in_set=in_set,
        in_traffic=in_traffic,
        set_share=in_set / totals.in_set if totals.in_set else 0.0,
        traffic_share=traffic_share,
        is_missing=in_set == 0 and traffic_share >= WORTH_COVERING,
        is_off=interval is not None and not interval.low <= traffic_share <= interval.high,
    )


def render_coverage(coverages: tuple[Coverage, ...]) -> str:
    """Render coverage for a terminal, the ten largest values of each respect; ends with a newline."""
    lines: list[str] = []
    for coverage in coverages:
        lines += [f"{coverage.respect}: {coverage.set_total} items against {coverage.traffic_total:,} interactions"]
        for row in coverage.rows[:_SHOWN]:
            mark = "  not in the set" if row.is_missing else "  off" if row.is_off else ""
            lines.append(f"  {row.value[:40]:<40} set {row.set_share:6.1%}  traffic {row.traffic_share:6.1%}{mark}")
        if len(coverage.rows) > _SHOWN:
            lines.append(f"  and {len(coverage.rows) - _SHOWN} more values")
        if coverage.unknown_in_set:
            lines.append(f"  not known for {coverage.unknown_in_set} item(s)")
    return "\n".join(lines) + "\n"


_SHOWN = 10

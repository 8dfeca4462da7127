"""The gate: whether a run may pass, compared with a baseline run, and which half of the pipeline to mend."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from evalsets.errors import ExitCode
from evalsets.gate_figures import (
    GENERATION,
    HEADLINE,
    RETRIEVAL,
    SCORECARD_HALVES,
    Figures,
    figures_of_items,
    is_report,
    read_figures,
)

METRIC_TOLERANCE = 0.03
MODE_TOLERANCE = 0.05
NEARLY_PERFECT = 0.97
_ROUNDING = 1e-9
_GATED_ALWAYS = frozenset({*HEADLINE, *SCORECARD_HALVES, "planted_resisted"})
_LOOK_AT = {
    RETRIEVAL: "look at the retriever",
    GENERATION: "look at the prompt and the model",
    "safety": "look at how retrieved text reaches the model",
}


class Tolerances(NamedTuple):
    """How far figures may fall. Names in `metrics` and `modes` override the general tolerance."""

    metric: float = METRIC_TOLERANCE
    mode: float = MODE_TOLERANCE
    metrics: Mapping[str, float] = {}
    modes: Mapping[str, float] = {}
    floors: Mapping[str, float] = {}
    """Values that a metric or a mode may not fall below, whatever the baseline says."""
    allow_proxy: bool = False
    """Whether metrics that see words, not meaning, may decide."""


class Finding(NamedTuple):
    """One comparison. `limit` is the worst value that still passes; `half` the half of the pipeline it speaks of."""

    name: str
    kind: str
    """metric, mode, floor, missing or refused."""
    baseline: float | None
    current: float | None
    limit: float | None
    passed: bool
    sentence: str
    half: str = ""


class GateResult(NamedTuple):
    """What the gate found. `exit_code` is 0 passed, 1 failed, 3 drift, 4 the run is incomplete."""

    passed: bool
    exit_code: ExitCode
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    halves_to_fix: tuple[str, ...] = ()

    @property
    def failures(self) -> tuple[Finding, ...]:
        """Return the comparisons that did not pass."""
        return tuple(finding for finding in self.findings if not finding.passed)

    def wire(self) -> dict[str, Any]:
        """Return the result JSON-ready."""
        return {
            "passed": self.passed,
            "exit_code": int(self.exit_code),
            "findings": [finding._asdict() for finding in self.findings],
            "notes": list(self.notes),
            "warnings": list(self.warnings),
            "halves_to_fix": list(self.halves_to_fix),
        }


def evaluate(baseline: Any, current: Any, tolerances: Tolerances | float | None = None) -> GateResult:
    """Compare a run with its baseline: two Reports, two parsed reports, or two plain objects of numbers.

    A plain number as `tolerances` holds for metrics and modes alike.
    """
    limits = _as_tolerances(tolerances)
    before, after = _as_wire(baseline), _as_wire(current)
    old, new, notes = _comparable(before, after)
    findings = tuple(_findings(old, new, limits))
    failed_halves = {finding.half for finding in findings if not finding.passed and finding.half}
    stop = _incomplete(after)
    passed = not stop and all(finding.passed for finding in findings)
    return GateResult(
        passed=passed,
        exit_code=ExitCode.RUN_INCOMPLETE if stop else ExitCode.DONE if passed else ExitCode.GATE_FAILED,
        findings=findings,
        notes=(*notes, *([stop] if stop else [])),
        warnings=tuple(_warnings(new)),
        halves_to_fix=tuple(half for half in (RETRIEVAL, GENERATION, "safety") if half in failed_halves),
    )


def _as_tolerances(tolerances: Tolerances | float | None) -> Tolerances:
    if isinstance(tolerances, (int, float)):
        return Tolerances(metric=tolerances, mode=tolerances)
    return tolerances or Tolerances()


def _as_wire(run: Any) -> Any:
    return run.wire() if hasattr(run, "wire") else run


def _comparable(before: Any, after: Any) -> tuple[Figures, Figures, list[str]]:
    """Return the figures of both runs, over the common items where the sets differ."""
    old, new = read_figures(before, where="the baseline"), read_figures(after, where="the current run")
    if not (is_report(before) and is_report(after)) or before["eval_set"]["hash"] == after["eval_set"]["hash"]:
        return old, new, []
    contents = {item["id"]: item["content"] for item in before["items"]}
    common = {item["id"] for item in after["items"] if contents.get(item["id"]) == item["content"]}
    note = (
        f"the baseline is of {_set_label(before)}, the run of {_set_label(after)}: compared on the "
        f"{len(common)} items that both hold unchanged (of {len(contents)} and {len(after['items'])})"
    )
    return figures_of_items(before, common), figures_of_items(after, common), [note]


def _set_label(wire: Mapping[str, Any]) -> str:
    eval_set = wire["eval_set"]
    return f"{eval_set['name']} version {eval_set['version']}"


def _incomplete(after: Any) -> str:
    if is_report(after) and after.get("status", "complete") != "complete":
        return f"the run is {after['status']}: {after.get('status_reason')}. Resume it before gating."
    return ""


def _findings(old: Figures, new: Figures, limits: Tolerances) -> Iterator[Finding]:
    for name in _gated(old, limits):
        yield from _metric_findings(name, old, new, limits)
    for mode in sorted(old.modes):
        yield _mode_finding(mode, old, new, limits)
    for name, floor in limits.floors.items():
        yield _floor_finding(name, floor, new)


def _gated(old: Figures, limits: Tolerances) -> list[str]:
    """Return the metrics that decide: the headline, the scorecard, safety and those named; all of plain figures."""
    is_plain = not old.halves and not old.modes
    names = [name for name in old.metrics if is_plain or name in _GATED_ALWAYS or name in limits.metrics]
    return [*dict.fromkeys([*(name for name in names if old.metrics[name] is not None), *sorted(limits.metrics)])]


def _metric_findings(name: str, old: Figures, new: Figures, limits: Tolerances) -> Iterator[Finding]:
    half = new.half_of(name)
    before, after = old.metrics.get(name), new.metrics.get(name)
    if name in new.proxies and not limits.allow_proxy:
        sentence = f"{name} sees words, not meaning, and cannot gate unless allow_proxy = true"
        yield Finding(name, "refused", before, after, None, passed=False, sentence=sentence, half=half)
    elif before is None or after is None:
        where = "the baseline" if before is None else "the current run"
        sentence = f"{name}: missing from {where}; what is not measured does not pass"
        yield Finding(name, "missing", before, after, None, passed=False, sentence=sentence, half=half)
    else:
        tolerance = limits.metrics.get(name, limits.metric)
        yield _compared(name, "metric", before, after, tolerance, half=half, rising=name in new.lower_is_better)


def _mode_finding(mode: str, old: Figures, new: Figures, limits: Tolerances) -> Finding:
    after = new.modes.get(mode)
    half = new.half_of(mode)
    if after is None:
        sentence = f"mode {mode}: missing from the current run; what is not measured does not pass"
        return Finding(
            f"mode {mode}", "missing", old.modes[mode], None, None, passed=False, sentence=sentence, half=half
        )
    tolerance = limits.modes.get(mode, limits.mode)
    return _compared(f"mode {mode}", "mode", old.modes[mode], after, tolerance, half=half, rising=False)


def _compared(  # noqa: PLR0913 - what a comparison is made of
    name: str, kind: str, before: float, after: float, tolerance: float, *, half: str, rising: bool
) -> Finding:
    limit = before + tolerance if rising else before - tolerance
    passed = after <= limit + _ROUNDING if rising else after >= limit - _ROUNDING
    relation = ("<=" if passed else ">") if rising else (">=" if passed else "<")
    shown_after, shown_limit = _told_apart(after, limit)
    sentence = f"{name}: {shown_after} {relation} {shown_limit}"
    sign = "+" if rising else "-"
    sentence += f" (baseline {_shown(before)} {sign} tolerance {_shown(tolerance)})"
    return Finding(name, kind, before, after, limit, passed=passed, sentence=sentence, half=half)


def _floor_finding(name: str, floor: float, new: Figures) -> Finding:
    after = new.metrics.get(name, new.modes.get(name))
    half = new.half_of(name)
    if after is None:
        sentence = f"{name}: missing from the current run, which has a floor of {_shown(floor)} for it"
        return Finding(name, "missing", None, None, floor, passed=False, sentence=sentence, half=half)
    rising = name in new.lower_is_better
    passed = after <= floor + _ROUNDING if rising else after >= floor - _ROUNDING
    relation = ("<=" if passed else ">") if rising else (">=" if passed else "<")
    shown_after, shown_floor = _told_apart(after, floor)
    sentence = f"{name}: {shown_after} {relation} {shown_floor} ({'ceiling' if rising else 'floor'})"
    return Finding(name, "floor", None, after, floor, passed=passed, sentence=sentence, half=half)


def look_at(half: str, names: list[str]) -> str:
    """Return the sentence that names the half to mend: "context precision failed: look at the retriever"."""
    listed = ", ".join(name.replace("_", " ") for name in names)
    return f"{listed} failed: {_LOOK_AT.get(half, 'look at the figures')}"


def _warnings(new: Figures) -> Iterator[str]:
    scores = [
        value for name, value in new.metrics.items() if value is not None and name in _GATED_ALWAYS - {"refusal_rate"}
    ]
    scores += new.modes.values()
    if scores and min(scores) >= NEARLY_PERFECT:
        yield (
            f"every score is at least {NEARLY_PERFECT}: this set no longer tells runs apart. "
            "Rotate in new failures from production."
        )


def _shown(value: float) -> str:
    return f"{value:.2f}" if abs(round(value, 2) - value) < _ROUNDING else f"{value:.4f}".rstrip("0")


def _told_apart(first: float, second: float) -> tuple[str, str]:
    """Return two numbers with two decimals, or as many as tell them apart."""
    for digits in (2, 3, 4, 6):
        if f"{first:.{digits}f}" != f"{second:.{digits}f}" or abs(first - second) < _ROUNDING:
            return f"{first:.{digits}f}", f"{second:.{digits}f}"
    return repr(first), repr(second)

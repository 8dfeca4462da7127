"""The gate: whether a run may pass, compared with a baseline run, and which half of the pipeline to mend."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from evalsets.errors import BadInputError, ExitCode
from evalsets.gating.figures import (
    GENERATION,
    HEADLINE,
    RETRIEVAL,
    SCORECARD_HALVES,
    Figures,
    figures_of_items,
    is_report,
    read_figures,
)
from evalsets.gating.findings import ROUNDING, Finding, shown, told_apart

METRIC_TOLERANCE = 0.03
MODE_TOLERANCE = 0.05
NEARLY_PERFECT = 0.97
SAFETY = ("planted_resisted",)
_NEAR_PERFECT = frozenset({"retrieval_recall", "answer_accuracy", *SCORECARD_HALVES})
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
    scorecard: bool = False
    """Whether every metric of the report's scorecard must clear its bar."""
    every_question: bool = False
    """Whether every single question must clear recall, groundedness and correctness."""
    allow_unchecked_judge: bool = False
    require_significant: bool = False
    """Whether a fall fails only when a paired test over the same items says that it is more than chance."""
    strict_test: bool = False
    """Whether pass and fail are tested by McNemar's exact test instead of its mid-p form."""


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

    A plain number as `tolerances` holds for metrics and modes alike. A judge that nobody checked, figures that only see
    words, and what is missing do not pass; drift and an incomplete run have exit codes of their own.
    """
    limits = _as_tolerances(tolerances)
    before, after = _as_wire(baseline), _as_wire(current)
    old, new, notes = _comparable(before, after)
    findings = [*_judge_findings(after, limits), *_findings(old, new, limits), *_bar_findings(after, limits)]
    if limits.require_significant:
        findings = _only_significant(findings, before, after, limits)
    if limits.allow_unchecked_judge and _unchecked_judge(after):
        notes = [*notes, "an unchecked judge was allowed to gate"]
    failed_halves = {finding.half for finding in findings if not finding.passed and finding.half}
    stop = _stop(after)
    return GateResult(
        passed=stop.code is ExitCode.DONE and all(finding.passed for finding in findings),
        exit_code=_exit_code(stop, findings),
        findings=tuple(findings),
        notes=(*notes, *([stop.reason] if stop.reason else [])),
        warnings=(*_judge_warnings(before, after), *_warnings(new)),
        halves_to_fix=tuple(half for half in (RETRIEVAL, GENERATION, "safety") if half in failed_halves),
    )


class _Stop(NamedTuple):
    """Why no verdict stands, whatever the figures say."""

    code: ExitCode
    reason: str = ""


def _exit_code(stop: _Stop, findings: Iterable[Finding]) -> ExitCode:
    if stop.code is not ExitCode.DONE:
        return stop.code
    return ExitCode.DONE if all(finding.passed for finding in findings) else ExitCode.GATE_FAILED


def _stop(after: Any) -> _Stop:
    if not is_report(after):
        return _Stop(ExitCode.DONE)
    drifted = {kind: count for kind, count in after.get("drift", {}).items() if kind != "valid" and count}
    if drifted:
        listed = ", ".join(f"{count} {kind}" for kind, count in drifted.items())
        reason = f"the set no longer fits the corpus (gold chunks {listed}); mend it with `errata drift` before gating"
        return _Stop(ExitCode.SET_DOES_NOT_FIT_CORPUS, reason)
    if (status := after.get("status", "complete")) != "complete":
        reason = f"the run is {status}: {after.get('status_reason')}. Resume it before gating."
        return _Stop(ExitCode.RUN_INCOMPLETE, reason)
    return _Stop(ExitCode.DONE)


def _unchecked_judge(after: Any) -> str:
    judge = after.get("judge", {}) if is_report(after) else {}
    return "" if judge.get("may_gate", True) else str(judge.get("note") or "nobody has checked its verdicts")


def _judge_findings(after: Any, limits: Tolerances) -> Iterator[Finding]:
    if (why := _unchecked_judge(after)) and not limits.allow_unchecked_judge:
        name = after["judge"]["name"]
        sentence = f"judge {name} cannot gate: {why}. Grade it with `errata judge grade`, or allow it unchecked."
        yield Finding("judge", "refused", None, None, None, passed=False, sentence=sentence)


def _judge_warnings(before: Any, after: Any) -> Iterator[str]:
    if not (is_report(before) and is_report(after)):
        return
    old, new = before["judge"], after["judge"]
    if old["fingerprint"] != new["fingerprint"]:
        yield (
            f"the baseline was judged by {old['name']} ({old['fingerprint']}), the run by {new['name']} "
            f"({new['fingerprint']}): a difference may be the judge's. Judge both alike, or move the baseline."
        )


def _bar_findings(after: Any, limits: Tolerances) -> Iterator[Finding]:
    from evalsets.gating.bars import every_question_findings, scorecard_findings

    if limits.scorecard:
        yield from scorecard_findings(after, allow_proxy=limits.allow_proxy)
    if limits.every_question:
        yield from every_question_findings(after)


def _only_significant(findings: list[Finding], before: Any, after: Any, limits: Tolerances) -> list[Finding]:
    """Let pass what fell by more than the tolerance but not by more than chance, as the paired tests say."""
    if not (is_report(before) and is_report(after)):
        raise BadInputError("--require-significant needs two reports with their items, not plain figures")
    from evalsets.gating.significance import with_tests

    return with_tests(findings, before, after, strict=limits.strict_test)


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


def _findings(old: Figures, new: Figures, limits: Tolerances) -> Iterator[Finding]:
    for name in _gated(old, limits):
        yield from _metric_findings(name, old, new, limits)
    for mode in sorted(old.modes):
        yield _mode_finding(mode, old, new, limits)
    for name, floor in limits.floors.items():
        yield _floor_finding(name, floor, new)


def _gated(old: Figures, limits: Tolerances) -> list[str]:
    """Return the metrics that decide: all of plain figures; of a report the headline, safety, and those asked for."""
    is_plain = not old.halves and not old.modes
    asked = {*HEADLINE, *SAFETY, *limits.metrics, *(SCORECARD_HALVES if limits.scorecard else ())}
    names = [name for name, value in old.metrics.items() if value is not None and (is_plain or name in asked)]
    return [*dict.fromkeys([*(name for name in HEADLINE if name in names), *names, *sorted(limits.metrics)])]


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
    limit = before + tolerance if rising else max(0.0, before - tolerance)
    passed = after <= limit + ROUNDING if rising else after >= limit - ROUNDING
    relation = ("<=" if passed else ">") if rising else (">=" if passed else "<")
    shown_after, shown_limit = told_apart(after, limit)
    sentence = f"{name}: {shown_after} {relation} {shown_limit}"
    sign = "+" if rising else "-"
    sentence += f" (baseline {shown(before)} {sign} tolerance {shown(tolerance)})"
    return Finding(name, kind, before, after, limit, passed=passed, sentence=sentence, half=half)


def _floor_finding(name: str, floor: float, new: Figures) -> Finding:
    after = new.metrics.get(name, new.modes.get(name))
    half = new.half_of(name)
    if after is None:
        sentence = f"{name}: missing from the current run, which has a floor of {shown(floor)} for it"
        return Finding(name, "missing", None, None, floor, passed=False, sentence=sentence, half=half)
    rising = name in new.lower_is_better
    passed = after <= floor + ROUNDING if rising else after >= floor - ROUNDING
    relation = ("<=" if passed else ">") if rising else (">=" if passed else "<")
    shown_after, shown_floor = told_apart(after, floor)
    sentence = f"{name}: {shown_after} {relation} {shown_floor} ({'ceiling' if rising else 'floor'})"
    return Finding(name, "floor", None, after, floor, passed=passed, sentence=sentence, half=half)


def look_at(half: str, names: list[str]) -> str:
    """Return the sentence that names the half to mend: "context precision failed: look at the retriever"."""
    listed = ", ".join(name.replace("_", " ") for name in names)
    return f"{listed} failed: {_LOOK_AT.get(half, 'look at the figures')}"


def _warnings(new: Figures) -> Iterator[str]:
    scores = [value for name, value in new.metrics.items() if value is not None and name in _NEAR_PERFECT]
    scores += new.modes.values()
    if scores and min(scores) >= NEARLY_PERFECT:
        yield (
            f"every score is at least {NEARLY_PERFECT}: this set no longer tells runs apart. "
            "Rotate in new failures from production."
        )

"""A report as plain text for a terminal."""

from collections.abc import Iterator, Sequence

from evalsets.report import Figure, ItemResult, ProductionEstimate, Report, ScorecardResult, Steadiness
from evalsets.running.clock import Clock

_HALVES = (("retrieval", "Retrieval"), ("generation", "Generation"), ("safety", "Safety"), ("cost", "Cost"))


def render_text(report: Report, clock: Clock | None = None) -> str:
    """Return the whole report: headline, figures by half, modes, causes and every item that did not pass."""
    return "\n".join(_lines(report, clock)) + "\n"


def _lines(report: Report, clock: Clock | None) -> Iterator[str]:
    eval_set = report.eval_set
    yield report.headline
    yield (
        f"set {eval_set.name} version {eval_set.version}, {eval_set.items} items; pipeline {report.pipeline.name} "
        f"({report.pipeline.fingerprint}); judge {report.judge.name}; k = {report.settings['k']}"
    )
    yield ""
    yield f"retrieval recall  {share(report.retrieval_recall)}"
    yield f"answer accuracy   {share(report.answer_accuracy)}{_lenient(report)}"
    yield f"refusal rate      {share(report.refusal_rate)}"
    yield ""
    yield "passed by mode"
    for mode, figures in report.modes.items():
        share_and_range = f"{share(figures.rate)}{_range(figures.low, figures.high)}"
        yield f"  {mode:<18} {figures.passed:g} of {figures.total} ({share_and_range})"
    for half, title in _HALVES:
        shown = [figure for figure in report.metrics.values() if figure.half == half and figure.eligible]
        if shown:
            yield from ["", *figure_lines(title, shown)]
    if report.causes:
        yield from ["", "first cause of failure", *(f"  {cause:<32} {n}" for cause, n in report.causes.items())]
    for tag, card in report.scorecards.items():
        yield from ["", *_scorecard_lines(tag, card)]
    if report.steadiness:
        yield from ["", steadiness_words(report.steadiness)]
    yield from _production_lines(report.production)
    yield from _clock_lines(clock)
    for warning in report.warnings:
        yield f"warning: {warning}"
    failed = [item for item in report.items if not item.passed]
    if failed:
        yield from ["", "did not pass", *(line for item in failed for line in _item_lines(item))]


def figure_lines(title: str, figures: Sequence[Figure]) -> Iterator[str]:
    """Yield one half's figures; every one with its scored / eligible / total."""
    yield f"{title:<28} value   95 % interval    scored/eligible/total"
    for figure in figures:
        value = amount(figure)
        interval = f"{figure.low:.3f}-{figure.high:.3f}" if figure.low is not None and figure.high is not None else ""
        proxy = "  proxy" if figure.is_proxy else ""
        lenient = f"  lenient {figure.lenient:.3f}" if differs(figure) else ""
        counts = f"{figure.scored}/{figure.eligible}/{figure.total}"
        yield f"  {figure.name:<25} {value:>7}  {interval:<15}  {counts}{lenient}{proxy}".rstrip()


def amount(figure: Figure) -> str:
    """Return a figure's value as it is printed, with its unit when it has one."""
    if figure.value is None:
        return "-"
    return f"{figure.value:.1f}" if figure.scale == "amount" else f"{figure.value:.3f}"


def differs(figure: Figure) -> bool:
    """Whether errors make the strict and the lenient figure differ."""
    return figure.lenient is not None and figure.value is not None and abs(figure.lenient - figure.value) > 1e-9  # noqa: PLR2004 - rounding


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where it is not one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def steadiness_words(steadiness: Steadiness) -> str:
    """Return how steady repeated runs were."""
    return (
        f"over {steadiness.repeats} repeats: pass rate {share(steadiness.pass_rate)}, "
        f"passed every time {share(steadiness.pass_every_time)}, flipped {share(steadiness.flip_rate)}"
    )


def share(value: float | None) -> str:
    """Return a share as a percentage."""
    return "undefined" if value is None else f"{value:.1%}"


def _production_lines(found: ProductionEstimate | None) -> Iterator[str]:
    if found is None:
        return
    yield ""
    yield (
        f"in production, by how items were drawn: passed {share(found.pass_rate)}{_range(found.low, found.high)}, "
        f"declined {share(found.refusal_rate)} ({found.items} items, worth {found.effective_items:.1f} equal draws)"
    )


def _scorecard_lines(tag: str, card: ScorecardResult) -> Iterator[str]:
    of_tag = "" if tag == "all" else f" of {tag}"
    yield f"scorecard{of_tag}: {'passes' if card.passes else 'does not pass'}"
    for line in card.lines:
        value = "-" if line.value is None else f"{line.value:.3f}"
        proxy = f"  measured by {line.measured_by}, a proxy" if line.is_proxy else ""
        unmeasured = "  nothing measured it" if line.value is None else ""
        verdict = "pass" if line.passes else "FAIL"
        yield f"  {line.name:<20} {value:>6}  bar {line.bar:.2f}  {verdict}{proxy}{unmeasured}"


def _lenient(report: Report) -> str:
    if not report.not_scored or report.lenient_accuracy is None:
        return ""
    return f"  (lenient, without the {report.not_scored} not scored: {share(report.lenient_accuracy)})"


def _range(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f", {low:.0%}-{high:.0%}"


def _clock_lines(clock: Clock | None) -> Iterator[str]:
    if clock is None:
        return
    latencies = ", ".join(
        f"{step} {times['median']:.2f} s median, {times['p95']:.2f} s p95" for step, times in clock.latency.items()
    )
    retried = f"; {counted(clock.retried, 'attempt')} repeated" if clock.retried else ""
    slowed = f"; slowed {counted(clock.slowed, 'time')} by rate limits" if clock.slowed else ""
    yield from ["", f"latency: {latencies}; {clock.calls} calls in {clock.wall_s:.1f} s{retried}{slowed}"]


def _item_lines(item: ItemResult) -> Iterator[str]:
    known = " (known to fail)" if item.is_known_failing else ""
    yield f"  {item.id} [{item.mode}]{known} {item.reason}"
    if item.cause:
        yield f"      {item.cause}: {item.cause_evidence}"

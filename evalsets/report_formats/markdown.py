"""A report as Markdown, for a pull request or a job summary."""

from collections.abc import Iterator

from evalsets.report import Figure, ItemResult, Report
from evalsets.report_formats.cells import cell, one_line
from evalsets.report_formats.text import amount, counted, differs, share, steadiness_words
from evalsets.running.clock import Clock

_SHOWN_ITEMS = 50


def render_markdown(report: Report, clock: Clock | None = None) -> str:
    """Return headline, modes and figures as tables, and the items that did not pass folded away."""
    return "\n".join(_lines(report, clock)) + "\n"


def _lines(report: Report, clock: Clock | None) -> Iterator[str]:
    eval_set = report.eval_set
    yield f"### {cell(report.headline)}"
    yield ""
    yield (
        f"{cell(eval_set.name)} version {eval_set.version} · pipeline {cell(report.pipeline.name)} "
        f"`{report.pipeline.fingerprint}` · judge {cell(report.judge.name)} · k = {report.settings['k']}"
    )
    yield from ["", "| retrieval recall | answer accuracy | refusal rate |", "|--:|--:|--:|"]
    yield f"| {share(report.retrieval_recall)} | {share(report.answer_accuracy)} | {share(report.refusal_rate)} |"
    if report.not_scored and report.lenient_accuracy is not None:
        lenient = share(report.lenient_accuracy)
        yield f"\nWithout the {counted(report.not_scored, 'item')} that could not be scored the accuracy is {lenient}."
    yield from ["", "| mode | passed | of | rate | 95 % interval |", "|---|--:|--:|--:|:-:|"]
    for mode, figures in report.modes.items():
        interval = _interval(figures.low, figures.high)
        yield f"| {cell(mode)} | {figures.passed:g} | {figures.total} | {share(figures.rate)} | {interval} |"
    yield from _scorecard_lines(report)
    if report.causes:
        yield from ["", "| first cause of failure | items |", "|---|--:|"]
        yield from (f"| {cell(cause)} | {count} |" for cause, count in report.causes.items())
    if report.steadiness:
        yield f"\n{steadiness_words(report.steadiness)}."
    for warning in report.warnings:
        yield f"\n> {cell(warning)}"
    yield from ["", "<details><summary>Every metric</summary>", ""]
    yield from ["| metric | half | value | 95 % interval | scored/eligible/total |", "|---|---|--:|:-:|--:|"]
    yield from (_figure_row(figure) for figure in report.metrics.values() if figure.eligible)
    yield from ["", "</details>"]
    yield from _failed_lines([item for item in report.items if not item.passed])
    yield from _clock_line(clock)


def _scorecard_lines(report: Report) -> Iterator[str]:
    for tag, card in report.scorecards.items():
        of_tag = "" if tag == "all" else f" of {cell(tag)}"
        yield from ["", f"Scorecard{of_tag} {'passes' if card.passes else 'does not pass'}:", ""]
        yield from ["| metric | value | bar | |", "|---|--:|--:|---|"]
        for line in card.lines:
            value = "not measured" if line.value is None else f"{line.value:.3f}"
            proxy = f" ({cell(line.measured_by)}, a proxy)" if line.is_proxy else ""
            verdict = "pass" if line.passes else "**fail**"
            yield f"| {cell(line.name)}{proxy} | {value} | {line.bar:.2f} | {verdict} |"


def _figure_row(figure: Figure) -> str:
    name = f"{figure.name} (proxy)" if figure.is_proxy else figure.name
    value = amount(figure) + (f" (lenient {figure.lenient:.3f})" if differs(figure) else "")
    counts = f"{figure.scored}/{figure.eligible}/{figure.total}"
    return f"| {cell(name)} | {figure.half} | {value} | {_interval(figure.low, figure.high, digits=3)} | {counts} |"


def _failed_lines(failed: list[ItemResult]) -> Iterator[str]:
    if not failed:
        return
    yield from ["", f"<details><summary>Did not pass: {len(failed)}</summary>", ""]
    yield from ["| item | mode | question | answer | why | cause |", "|---|---|---|---|---|---|"]
    for item in failed[:_SHOWN_ITEMS]:
        cells = (item.id, item.mode.value, item.question, one_line(item.answer), item.reason, item.cause)
        yield f"| {' | '.join(cell(text) for text in cells)} |"
    if len(failed) > _SHOWN_ITEMS:
        yield f"\n{len(failed) - _SHOWN_ITEMS} more stand in the report."
    yield from ["", "</details>"]


def _clock_line(clock: Clock | None) -> Iterator[str]:
    if clock is None:
        return
    latencies = ", ".join(
        f"{step} {times['median']:.2f} s (p95 {times['p95']:.2f} s)" for step, times in clock.latency.items()
    )
    yield f"\nLatency: {latencies}; {clock.calls} calls in {clock.wall_s:.1f} s."


def _interval(low: float | None, high: float | None, *, digits: int = 0) -> str:
    if low is None or high is None:
        return ""
    return f"{low:.{digits}f}\u2013{high:.{digits}f}" if digits else f"{low:.0%}\u2013{high:.0%}"

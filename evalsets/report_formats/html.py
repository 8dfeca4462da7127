"""A report as one HTML file: no outside resources, no scripts, light and dark."""

from collections.abc import Iterator
from html import escape
from importlib.resources import files

from evalsets.report import Figure, ItemResult, Report
from evalsets.report_formats.text import amount, differs, share, steadiness_words
from evalsets.running.clock import Clock

_HALVES = (("retrieval", "Retrieval"), ("generation", "Generation"), ("safety", "Safety"), ("cost", "Cost"))


def render_html(report: Report, clock: Clock | None = None) -> str:
    """Return the page: headline, figures with intervals drawn, modes, causes, and every item with its evidence."""
    style = files("evalsets.report_formats").joinpath("report.css").read_text(encoding="utf-8")
    title = escape(f"{report.eval_set.name}: {report.pipeline.name}")
    body = "\n".join(_body(report, clock))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _body(report: Report, clock: Clock | None) -> Iterator[str]:
    eval_set = report.eval_set
    yield f"<h1>{escape(report.headline)}</h1>"
    yield (
        f'<p class="about">{escape(eval_set.name)} version {eval_set.version} · {escape(report.pipeline.name)} '
        f"<code>{report.pipeline.fingerprint}</code> · judge {escape(report.judge.name)} · k = {report.settings['k']}"
        f"{_commit(report)}</p>"
    )
    yield from (f'<p class="warning">{escape(warning)}</p>' for warning in report.warnings)
    yield '<section class="tiles">'
    for name, value in (
        ("retrieval recall", report.retrieval_recall),
        ("answer accuracy", report.answer_accuracy),
        ("refusal rate", report.refusal_rate),
    ):
        yield f'<div class="tile"><b>{share(value)}</b><span>{name}</span></div>'
    yield "</section>"
    yield from _mode_table(report)
    yield from _scorecards(report)
    yield '<section class="halves">'
    for half, heading in _HALVES:
        figures = [figure for figure in report.metrics.values() if figure.half == half and figure.eligible]
        if figures:
            yield from _figure_table(heading, figures)
    yield "</section>"
    yield from _causes(report)
    if report.steadiness:
        yield f'<p class="about">{escape(steadiness_words(report.steadiness))}</p>'
    yield from _clock(clock)
    yield f"<h2>Items ({len(report.items)})</h2>"
    for item in sorted(report.items, key=lambda item: (item.passed, item.id)):
        yield from _item(item)


def _commit(report: Report) -> str:
    return f" · commit <code>{escape(report.git_commit[:12])}</code>" if report.git_commit else ""


def _mode_table(report: Report) -> Iterator[str]:
    yield "<h2>Passed by mode</h2>\n<table>\n<tr><th>mode</th><th>passed</th><th>rate, 95 % interval</th><th></th></tr>"
    for mode, figures in report.modes.items():
        yield (
            f"<tr><td>{_mode(mode)}</td><td class=n>{figures.passed:g} of {figures.total}</td>"
            f"<td class=n>{share(figures.rate)}{_range(figures.low, figures.high)}</td>"
            f"<td>{_bar(figures.rate, figures.low, figures.high)}</td></tr>"
        )
    yield "</table>"


def _scorecards(report: Report) -> Iterator[str]:
    for tag, card in report.scorecards.items():
        of_tag = "" if tag == "all" else f" of {escape(tag)}"
        yield f"<h2>Scorecard{of_tag}: {'passes' if card.passes else 'does not pass'}</h2>\n<table>"
        for line in card.lines:
            value = "not measured" if line.value is None else f"{line.value:.3f}"
            proxy = f" (proxy: {escape(line.measured_by)})" if line.is_proxy else ""
            verdict = "pass" if line.passes else "fail"
            yield (
                f"<tr><td>{escape(line.name)}{proxy}</td><td class=n>{value}</td>"
                f"<td class=n>bar {line.bar:.2f}</td><td class={verdict}>{verdict}</td></tr>"
            )
        yield "</table>"


def _figure_table(heading: str, figures: list[Figure]) -> Iterator[str]:
    yield f"<div><h2>{heading}</h2>\n<table>\n<tr><th>metric</th><th>value</th><th>95 % interval</th><th></th>"
    yield "<th>scored / eligible / total</th></tr>"
    for figure in figures:
        interval = "" if figure.low is None or figure.high is None else f"{figure.low:.3f}\u2013{figure.high:.3f}"
        lenient = f" <small>lenient {figure.lenient:.3f}</small>" if differs(figure) else ""
        proxy = " <small>proxy</small>" if figure.is_proxy else ""
        bar = "" if figure.scale == "amount" else _bar(figure.value, figure.low, figure.high)
        yield (
            f"<tr><td>{escape(figure.name)}{proxy}</td><td class=n>{amount(figure)}{lenient}</td>"
            f"<td class=n>{interval}</td><td>{bar}</td>"
            f"<td class=n>{figure.scored} / {figure.eligible} / {figure.total}</td></tr>"
        )
    yield "</table></div>"


def _bar(value: float | None, low: float | None, high: float | None) -> str:
    """Draw a share with its interval on a line from 0 to 1."""
    if value is None:
        return ""
    whisker = "" if low is None or high is None else f'<line x1="{low * 100:.1f}" x2="{high * 100:.1f}" y1="7" y2="7"/>'
    label = f"{value:.3f}" if low is None or high is None else f"{value:.3f}, {low:.3f} to {high:.3f}"
    return (
        f'<svg viewBox="0 0 100 14" width="120" height="14" role="img" aria-label="{label}">'
        f'<rect width="100" height="14" class="track"/><rect width="{value * 100:.1f}" height="14"/>{whisker}</svg>'
    )


def _causes(report: Report) -> Iterator[str]:
    if not report.causes:
        return
    yield "<h2>First cause of failure</h2>\n<table>"
    yield from (f"<tr><td>{escape(cause)}</td><td class=n>{count}</td></tr>" for cause, count in report.causes.items())
    yield "</table>"


def _clock(clock: Clock | None) -> Iterator[str]:
    if clock is None:
        return
    steps = ", ".join(
        f"{escape(step)} {times['median']:.2f} s median, {times['p95']:.2f} s p95"
        for step, times in clock.latency.items()
    )
    started = f"started {escape(clock.started_at)}"
    yield f'<p class="about">{steps}; {clock.calls} calls in {clock.wall_s:.1f} s, {started}</p>'


def _item(item: ItemResult) -> Iterator[str]:
    verdict = "pass" if item.passed else "fail" if item.is_scored else "error"
    known = " · known to fail" if item.is_known_failing else ""
    yield (
        f'<details class="{verdict}"><summary><b>{verdict}</b> {_mode(item.mode.value)} '
        f"{escape(item.question)} <small>{escape(item.id)}{known}</small></summary>\n<dl>"
    )
    rows = [("expected", item.expected), ("answer", item.answer or ""), ("why", item.reason), ("cause", _cause(item))]
    rows += [(f"{name} {step.status}", step.error) for name, step in item.steps.items() if step.error]
    yield from (f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in rows if text)
    yield f"<dt>retrieved</dt><dd>{_retrieved(item)}</dd></dl></details>"


def _cause(item: ItemResult) -> str:
    return f"{item.cause}: {item.cause_evidence}" if item.cause else ""


def _retrieved(item: ItemResult) -> str:
    if not item.retrieved:
        return "nothing"
    marked = [
        f"<b>{escape(chunk.chunk_id)} ★ gold</b>" if chunk.is_gold else escape(chunk.chunk_id)
        for chunk in item.retrieved
    ]
    missed = [escape(id_) for id_ in item.gold_chunk_ids if id_ not in {chunk.chunk_id for chunk in item.retrieved}]
    return ", ".join(marked) + (f"; gold not retrieved: {', '.join(missed)}" if missed else "")


def _mode(mode: str) -> str:
    return f'<span class="mode {escape(mode)}">{escape(mode.replace("_", " "))}</span>'


def _range(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" ({low:.0%}\u2013{high:.0%})"

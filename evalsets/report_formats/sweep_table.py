"""A sweep as one table and one chart of bars, as text and as Markdown."""

from collections.abc import Iterator, Sequence

from evalsets.report_formats.cells import cell
from evalsets.sweep import Sweep, SweepRow, settings_words

_BAR_WIDTH = 20


def render_sweep_text(sweep: Sweep, shown: Sequence[str] = ()) -> str:
    """Return what was expected, the table, and what was found; `shown` names metrics beside the headline."""
    return "\n".join(_text_lines(sweep, shown)) + "\n"


def render_sweep_markdown(sweep: Sweep, shown: Sequence[str] = ()) -> str:
    """Return the same as Markdown."""
    return "\n".join(_markdown_lines(sweep, shown)) + "\n"


def _text_lines(sweep: Sweep, shown: Sequence[str]) -> Iterator[str]:
    yield f"sweep of {sweep.pipeline} over {sweep.set}, {len(sweep.rows)} points"
    yield f"expected: {sweep.expectation}"
    yield f"found:    {sweep.finding}"
    yield ""
    width = max((len(settings_words(row.settings)) for row in sweep.rows), default=8)
    names = "".join(f"{name:>16}" for name in shown)
    yield f"{'settings':<{width}}  recall  accuracy  refusals  {names}  accuracy, 0 to 1"
    for row in sweep.rows:
        figures = f"{_number(row.retrieval_recall):>6}  {row.answer_accuracy:>8.3f}  {row.refusal_rate:>8.3f}"
        more = "".join(f"{_number(row.metrics.get(name)):>16}" for name in shown)
        chart = f"{_bar(row.answer_accuracy)} {_moved(row)}"
        yield f"{settings_words(row.settings):<{width}}  {figures}  {more}  {chart}".rstrip()


def _markdown_lines(sweep: Sweep, shown: Sequence[str]) -> Iterator[str]:
    yield f"### Sweep of {cell(sweep.pipeline)} over {cell(sweep.set)}"
    yield f"\nExpected: {cell(sweep.expectation)}\n\nFound: {cell(sweep.finding)}\n"
    yield f"| settings | recall | accuracy | refusals | {''.join(f'{cell(name)} | ' for name in shown)}moved |"
    yield f"|---|--:|--:|--:|{'--:|' * len(shown)}---|"
    for row in sweep.rows:
        figures = [_number(row.retrieval_recall), f"{row.answer_accuracy:.3f}", f"{row.refusal_rate:.3f}"]
        figures += [_number(row.metrics.get(name)) for name in shown]
        yield f"| {cell(settings_words(row.settings))} | {' | '.join(figures)} | {_moved(row)} |"


def _moved(row: SweepRow) -> str:
    if row.status != "complete":
        return f"run {row.status}"
    moved = [change for change in row.changes if change.movement == "moved"]
    return ", ".join(f"{change.name.replace('_', ' ')} {'worse' if change.is_worse else 'better'}" for change in moved)


def _bar(value: float) -> str:
    return ("#" * round(value * _BAR_WIDTH)).ljust(_BAR_WIDTH, ".")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"

"""A comparison of two runs as plain text and as Markdown."""

from collections.abc import Iterator, Sequence

from evalsets.comparison import Change, Comparison, ItemChange
from evalsets.report_formats.cells import cell, one_line, p_words
from evalsets.report_formats.text import counted

_SHOWN_ITEMS = 50


def render_comparison_text(comparison: Comparison, *, answers: bool = True) -> str:
    """Return the comparison for a terminal: figures first, then items that broke and were fixed."""
    return "\n".join(_text_lines(comparison, answers=answers)) + "\n"


def render_comparison_markdown(comparison: Comparison) -> str:
    """Return the comparison for a pull request."""
    return "\n".join(_markdown_lines(comparison)) + "\n"


def movement_words(change: Change) -> str:
    """Return what became of a figure, in words: moved (worse or better), did not move, or too few items to tell."""
    if change.movement != "moved":
        return change.movement
    return f"moved, {'worse' if change.is_worse else 'better'}"


def power_words(comparison: Comparison) -> str:
    """Return what a set of this size can see at all."""
    if comparison.smallest_drop is None:
        return f"{comparison.items} items are too few to see any drop with 80% power"
    points = comparison.smallest_drop * 100
    return f"{comparison.items} items show a drop of the pass rate of {points:.0f} points or more with 80% power"


def _text_lines(comparison: Comparison, *, answers: bool) -> Iterator[str]:
    yield f"before: {comparison.before}"
    yield f"after:  {comparison.after}"
    if comparison.note:
        yield f"note: {comparison.note}"
    yield _turned(comparison)
    yield power_words(comparison)
    for title, changes in _sections(comparison):
        if changes:
            yield ""
            yield f"{title:<26} before   after  change  95 % interval          p  items  verdict"
            yield from (_text_row(change) for change in changes)
    for title, items in (("broke", comparison.broken), ("fixed", comparison.fixed)):
        if items:
            yield from ["", title]
            yield from (line for item in items[:_SHOWN_ITEMS] for line in _item_lines(item, answers=answers))
    yield ""
    yield "p is of a paired test, uncorrected; over all figures at once (Holm): " + (
        _significant(comparison) or "none moved"
    )


def _turned(comparison: Comparison) -> str:
    broken, fixed = counted(len(comparison.broken), "item"), len(comparison.fixed)
    return f"{broken} broke, {fixed} {'was' if fixed == 1 else 'were'} fixed, of {comparison.items}"


def _sections(comparison: Comparison) -> Iterator[tuple[str, Sequence[Change]]]:
    yield "headline", comparison.headline
    yield "passed by mode", comparison.modes
    yield "passed by tag", comparison.tags
    for half in ("retrieval", "generation", "safety", "cost"):
        yield half, [change for change in comparison.metrics if change.half == half]


def _text_row(change: Change) -> str:
    interval = f"{change.low:+.3f} to {change.high:+.3f}"
    before_after = f"{change.before:>7.3f} {change.after:>7.3f} {change.difference:>+7.3f}"
    figures = f"{before_after}  {interval:<17} {p_words(change.p_value):>6}"
    overlap = "" if change.intervals_overlap or change.movement != "moved" else "; the intervals do not even overlap"
    return f"  {change.name:<23} {figures}  {change.items:>5}  {movement_words(change)}{overlap}"


def _item_lines(item: ItemChange, *, answers: bool) -> Iterator[str]:
    yield f"  {item.id} [{item.mode}] {item.question}"
    if answers:
        yield f"      before: {one_line(item.answer_before)} ({item.reason_before})"
        yield f"      after:  {one_line(item.answer_after)} ({item.reason_after})"


def _significant(comparison: Comparison) -> str:
    moved = [change for change in comparison.changes if change.p_holm <= 0.05]  # noqa: PLR2004 - the usual level
    return ", ".join(f"{change.name} (p {p_words(change.p_holm)})" for change in moved)


def _markdown_lines(comparison: Comparison) -> Iterator[str]:
    yield f"### {_turned(comparison)}"
    yield ""
    yield f"{comparison.before} → {comparison.after}. {power_words(comparison).capitalize()}."
    if comparison.note:
        yield f"\n> {comparison.note}"
    shown = [*comparison.headline, *comparison.modes]
    yield from ["", "| | before | after | change | 95 % interval | p | items | |", "|---|--:|--:|--:|:-:|--:|--:|---|"]
    yield from (_markdown_row(change) for change in shown)
    moved = [change for change in comparison.metrics if change.movement == "moved"]
    if moved:
        yield from ["", "Metrics that moved:", "", "| | before | after | change | 95 % interval | p | items | |"]
        yield "|---|--:|--:|--:|:-:|--:|--:|---|"
        yield from (_markdown_row(change) for change in moved)
    for title, items in (("Broke", comparison.broken), ("Fixed", comparison.fixed)):
        if items:
            yield from [
                "",
                f"<details{' open' if title == 'Broke' else ''}><summary>{title}: {len(items)}</summary>",
                "",
            ]
            yield from ["| item | mode | question | before | after |", "|---|---|---|---|---|"]
            yield from (_markdown_item(item) for item in items[:_SHOWN_ITEMS])
            yield from ["", "</details>"]


def _markdown_row(change: Change) -> str:
    interval = f"{change.low:+.3f} to {change.high:+.3f}"
    figures = (
        f"{change.before:.3f} | {change.after:.3f} | {change.difference:+.3f} | {interval} | {p_words(change.p_value)}"
    )
    return f"| {cell(change.name)} | {figures} | {change.items} | {movement_words(change)} |"


def _markdown_item(item: ItemChange) -> str:
    cells = (item.id, item.mode, item.question, one_line(item.answer_before), one_line(item.answer_after))
    return f"| {' | '.join(cell(text) for text in cells)} |"

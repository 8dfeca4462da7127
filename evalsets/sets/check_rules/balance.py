"""Rules about the set as a whole: its mix, its makers, its size."""

from collections import Counter
from collections.abc import Iterator

from evalsets.items import FAILURE_MODES, Item, Mode, Source
from evalsets.sets.check_rules.finding import Context, Finding, warning

_LEAST_SHARE = 0.10
_MOST_SHARE = 0.70
_WORTH_A_MIX = 10
"""Below this many items the mix says nothing yet."""


def mode_mix(context: Context) -> Iterator[Finding]:
    """Find modes that are nearly absent or drown the others."""
    counts = Counter(item.mode for item in context.eval_set.items)
    failures = sum(counts[mode] for mode in FAILURE_MODES)
    if failures < _WORTH_A_MIX:
        return
    for mode in FAILURE_MODES:
        share = counts[mode] / failures
        if not _LEAST_SHARE <= share <= _MOST_SHARE:
            limit = "under 10%" if share < _LEAST_SHARE else "over 70%"
            yield warning("mode-mix", f"{mode} is {counts[mode]} of {failures} failures ({share:.0%}), {limit}")


def controls(context: Context) -> Iterator[Finding]:
    """Find a set without cases that pass, which cannot tell a stricter pipeline from a better one."""
    items = context.eval_set.items
    if len(items) >= _WORTH_A_MIX and not any(item.mode is Mode.CONTROL for item in items):
        yield warning(
            "no-controls", "no item passed in production; add controls, or a pipeline that declines more looks better"
        )


def makers(context: Context) -> Iterator[Finding]:
    """Find a set that one person alone has labelled, or that no production case is in."""
    items = context.eval_set.items
    if len(items) < _WORTH_A_MIX:
        return
    names = {author.name for item in items for author in (item.labelled_by, item.reviewed_by) if author}
    if len(names) == 1:
        yield warning("one-labeller", f"{names.pop()!r} alone labelled every item; have a second person read some")
    if all(item.source is Source.SYNTHETIC for item in items):
        yield warning("all-synthetic", "every item is synthetic; production asks other questions")


def hops(context: Context) -> Iterator[Finding]:
    """Find a set in which one chunk always suffices."""
    items = context.eval_set.items
    if len(items) >= _WORTH_A_MIX and not any(_is_multi_hop(item) for item in items):
        yield warning("no-multi-hop", "no item needs more than one gold chunk and none is tagged multi-hop")


def _is_multi_hop(item: Item) -> bool:
    return len(item.gold_chunk_ids) > 1 or "multi-hop" in item.tags


def size(context: Context) -> Iterator[Finding]:
    """Find modes so small that one item moves them by more than the gate's tolerance."""
    counts = Counter(item.mode for item in context.eval_set.items)
    small = {mode: count for mode in Mode if 0 < (count := counts[mode]) * context.tolerance < 1}
    if small:
        listed = ", ".join(f"{mode} {count} ({100 / count:.0f} points an item)" for mode, count in small.items())
        tolerance = f"{100 * context.tolerance:g} points"
        yield warning(
            "too-few", f"one item decides more than the gate's tolerance of {tolerance} in: {listed}. {_power(context)}"
        )


def _power(context: Context) -> str:
    from evalsets.statistics import smallest_detectable_drop

    items = len(context.eval_set.items)
    drop = smallest_detectable_drop(items)
    if drop is None:
        return f"{items} items in all are too few to tell any drop from chance"
    return f"{items} items in all show a drop of {100 * drop:.0f} points or more (4 times in 5)"


def overdue(context: Context) -> Iterator[Finding]:
    """Find known failures whose review is due."""
    for entry in context.eval_set.known_failing:
        if entry.review_by < context.today:
            yield warning(
                "known-failing-overdue",
                f"known to fail since {entry.since}, to be reviewed by {entry.review_by} ({entry.owner})",
                entry.id,
            )


BALANCE_RULES = (mode_mix, controls, makers, hops, size, overdue)

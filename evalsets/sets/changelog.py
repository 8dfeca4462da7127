"""The changelog of a set: what each version changed, in prose that a reviewer can read."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from evalsets.eval_set import EvalSet, KnownFailing
from evalsets.items import Item
from evalsets.sets.diff import ChangeKind, ItemChange, SetDiff, diff
from evalsets.sets.diff_formats.markdown import escape

_NAMED_AT_MOST = 30
"""Entries of one kind that are named; the rest is counted, and the diff has them all."""

_NOUNS = {
    ChangeKind.QUESTION: "question",
    ChangeKind.GOLD: "gold chunks",
    ChangeKind.EXPECTED: "expected answer",
    ChangeKind.FACTS: "facts",
    ChangeKind.TAGS: "tags",
    ChangeKind.SPLIT: "split",
    ChangeKind.DETAILS: "details",
}


def changelog(name: str, versions: Sequence[EvalSet]) -> str:
    """Return the changelog over all versions, oldest first; a function of nothing but the versions."""
    sections = [f"# Changelog of the eval set {escape(name)}\n"]
    empty = EvalSet(name=name)
    sections += [changelog_entry(before, after) for before, after in pairwise([empty, *versions])]
    return "\n".join(sections)


def changelog_entry(before: EvalSet, after: EvalSet) -> str:
    """Return what one version changed against the one before it; ends with a newline."""
    return "\n".join(_lines(before, after, diff(before, after))) + "\n"


def _lines(before: EvalSet, after: EvalSet, change: SetDiff) -> Iterator[str]:
    when = f", {after.frozen_at.day} {after.frozen_at:%B %Y}" if after.frozen_at else ""
    yield f"## Version {after.version}{when}"
    yield ""
    yield _opening(before, after)
    if after.note:
        yield ""
        yield f"> {escape(after.note)}"
    points = list(_points(before, after, change))
    if points:
        yield ""
        yield from points
    yield ""
    yield f"Content hash `{after.content_hash}`."


def _opening(before: EvalSet, after: EvalSet) -> str:
    signed = f", signed off by {escape(after.signed_off_by)}" if after.signed_off_by else ""
    held = f" and {_count(after.holdout.count, 'held-out item')}" if after.holdout and after.holdout.count else ""
    growth = f" ({_growth(len(after.items) - len(before.items))} version {before.version})" if before.version else ""
    by = f"Frozen by {escape(after.frozen_by)}{signed}. " if after.frozen_by else ""
    return f"{by}{_count(len(after.items), 'item')}{held}{growth}."


def _growth(difference: int) -> str:
    if difference == 0:
        return "as many as"
    return f"{abs(difference)} {'more' if difference > 0 else 'fewer'} than"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _points(before: EvalSet, after: EvalSet, change: SetDiff) -> Iterator[str]:
    yield from _named("new", [f"{_name(item)} ({_mode(item)})" for item in change.added])
    yield from _named("changed", [_changed(each) for each in change.changed])
    retirements = change.retirements
    yield from _named(
        "retired",
        [
            f"{_name(item)}, because: {escape(retirements[item.id].reason)}"
            for item in change.removed
            if item.id in retirements
        ],
    )
    yield from _named("removed", [_name(item) for item in change.removed if item.id not in retirements])
    yield from _named("back in use", [_code(each.id) for each in change.retired if each.after is None])
    for each in change.known_failing:
        if each.after is None:
            yield f"- No longer known to fail: {_code(each.id)}."
        else:
            yield f"- Known to fail: {_code(each.id)}{_failing(each.after)}."
    yield from (
        f"- The failing check `{allowed.code}` was allowed{_by(allowed.allowed_by)}: {escape(allowed.reason)}"
        for allowed in after.allowed
    )
    if after.thresholds != before.thresholds:
        limits = ", ".join(f"{escape(name)} {limit:g}" for name, limit in sorted(after.thresholds.items()))
        yield f"- Thresholds are now: {limits or 'none'}."


def _by(name: str) -> str:
    return f" by {escape(name)}" if name else ""


def _named(what: str, entries: list[str]) -> Iterator[str]:
    for entry in entries[:_NAMED_AT_MOST]:
        yield f"- {what.capitalize()}: {entry}."
    if (rest := len(entries) - _NAMED_AT_MOST) > 0:
        yield f"- And {rest} more {what}; the diff of the two versions names them."


def _changed(change: ItemChange) -> str:
    nouns = [_NOUNS[kind] for kind in change.kinds if kind in _NOUNS]
    parts = [f"new {_listed(nouns)}"] if nouns else []
    if change.before.mode is not change.after.mode:
        parts.insert(0, f"relabelled from {_mode(change.before)} to {_mode(change.after)}")
    return f"{_name(change.after)}: {'; '.join(parts)}"


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _name(item: Item) -> str:
    question = " ".join(item.question.split())
    limit = 120
    short = question if len(question) <= limit else question[: limit - 1] + "…"
    return f"{_code(item.id)} “{escape(short)}”"


def _code(text: str) -> str:
    return f"`{text.replace('`', chr(39))}`"


def _mode(item: Item) -> str:
    return item.mode.replace("_", " ")


def _failing(entry: KnownFailing) -> str:
    return f", because: {escape(entry.reason)} (owner {escape(entry.owner)}, review by {entry.review_by})"

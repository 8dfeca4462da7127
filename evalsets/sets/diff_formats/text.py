"""A difference as plain text for a terminal; removed words as [-so-], added words as {+so+}."""

import re
from collections.abc import Iterator, Mapping

from evalsets.sets.diff import SetDiff
from evalsets.sets.diff_formats.outline import Detail, Entry, Outline, outline
from evalsets.sets.word_diff import Part, Segment

_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")


def visible(text: str) -> str:
    """Return the text on one line, with what would not be seen (controls, direction marks) written as escapes."""
    return _UNSEEN.sub(lambda match: _escape(match.group()), text)


def _escape(letter: str) -> str:
    return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(letter, f"\\u{ord(letter):04x}")


def render_text(change: SetDiff, *, chunk_texts: Mapping[str, str] | None = None) -> str:
    """Render a difference for a terminal; ends with a newline."""
    return "\n".join(_lines(outline(change, chunk_texts or {}))) + "\n"


def _lines(plan: Outline) -> Iterator[str]:
    yield visible(plan.title)
    yield f"  {plan.summary}"
    if plan.note:
        yield f"  note: {visible(plan.note)}"
    yield ""
    yield from _count_table(plan)
    for group in plan.counts:
        if group.entries:
            yield ""
            yield f"{group.mode} ({group.before} to {group.after})"
            for entry in group.entries:
                yield from _entry_lines(entry)
    yield from _section("known failing", plan.known_failing)
    if plan.set_details:
        yield ""
        yield "set"
        yield from (_detail_line(detail, indent=2) for detail in plan.set_details)


def _count_table(plan: Outline) -> Iterator[str]:
    yield f"  {'mode':<18}{'before':>7}{'after':>7}{'change':>8}"
    rows = [(str(group.mode), group.before, group.after) for group in plan.counts if group.before or group.after]
    for name, before, after in [*rows, ("all", plan.total_before, plan.total_after)]:
        yield f"  {name:<18}{before:>7}{after:>7}{after - before:>+8}"


def _section(title: str, entries: tuple[Entry, ...]) -> Iterator[str]:
    if entries:
        yield ""
        yield title
        for entry in entries:
            yield from _entry_lines(entry)


def _entry_lines(entry: Entry) -> Iterator[str]:
    yield f"  {entry.sign} {visible(entry.item_id)}  [{entry.what}]  {visible(entry.headline)}"
    yield from (_detail_line(detail, indent=6) for detail in entry.details)


def _detail_line(detail: Detail, *, indent: int) -> str:
    return f"{' ' * indent}{visible(detail.label)}: {''.join(_marked(segment) for segment in detail.segments)}"


def _marked(segment: Segment) -> str:
    text = visible(segment.text)
    match segment.part:
        case Part.REMOVED:
            return f"[-{text}-]"
        case Part.ADDED:
            return f"{{+{text}+}}"
        case Part.SAME:
            return text

"""A difference as Markdown for a pull request; removed words struck through, added words bold."""

import re
from collections.abc import Iterator, Mapping

from evalsets.sets.diff import SetDiff
from evalsets.sets.diff_formats.outline import Detail, Entry, Outline, outline
from evalsets.sets.diff_formats.text import visible
from evalsets.sets.word_diff import Part, Segment

_MARKUP = re.compile(r"([\\`*{}\[\]<>|~!&$]|(?<![^\W_])_|_(?![^\W_]))")
_MENTION = re.compile(r"((?<!\w)@(?=\w)|#(?=\d))")
_FOLD_ABOVE = 8
"""More entries than this in one mode fold away, so that a large change does not bury the conversation."""


def escape(text: str) -> str:
    """Return the text on one line with nothing in it that Markdown, HTML or a mention could read as markup."""
    # A backslash does not stop a forge from linking @name or #12; an empty comment between the two does.
    return _MENTION.sub(r"\1<!-- -->", _MARKUP.sub(r"\\\1", visible(text)))


def render_markdown(change: SetDiff, *, chunk_texts: Mapping[str, str] | None = None) -> str:
    """Render a difference for a pull request; ends with a newline."""
    return "\n".join(_lines(outline(change, chunk_texts or {}))) + "\n"


def _lines(plan: Outline) -> Iterator[str]:
    yield f"### {escape(plan.title)}"
    yield ""
    yield f"{escape(plan.summary[:1].upper() + plan.summary[1:])}."
    if plan.note:
        yield ""
        yield f"> {escape(plan.note)}"
    yield ""
    yield from _count_table(plan)
    for group in plan.counts:
        yield from _section(f"{group.mode} ({group.before} to {group.after})", group.entries)
    yield from _section("Known failing", plan.known_failing)
    if plan.set_details:
        yield from ("", "#### Set", "")
        yield from (f"- {_detail_text(detail)}" for detail in plan.set_details)


def _count_table(plan: Outline) -> Iterator[str]:
    yield "| mode | before | after | change |"
    yield "|---|---:|---:|---:|"
    for group in plan.counts:
        if group.before or group.after:
            yield f"| {escape(group.mode)} | {group.before} | {group.after} | {group.after - group.before:+} |"
    yield f"| all | {plan.total_before} | {plan.total_after} | {plan.total_after - plan.total_before:+} |"


def _section(title: str, entries: tuple[Entry, ...]) -> Iterator[str]:
    if not entries:
        return
    yield from ("", f"#### {escape(title)}", "")
    is_folded = len(entries) > _FOLD_ABOVE
    if is_folded:
        yield from (f"<details><summary>{len(entries)} entries</summary>", "")
    for entry in entries:
        yield f"- {_SIGNS[entry.sign]} `{_code(entry.item_id)}` ({escape(entry.what)}): {escape(entry.headline)}"
        yield from (f"  - {_detail_text(detail)}" for detail in entry.details)
    if is_folded:
        yield from ("", "</details>")


_SIGNS = {"+": "**new**", "-": "**gone**", "~": "**changed**"}


def _code(text: str) -> str:
    return visible(text).replace("`", "'")


def _detail_text(detail: Detail) -> str:
    render = _gold if detail.label == "gold" else escape
    return f"{escape(detail.label)}: {''.join(_marked(segment, render(segment.text)) for segment in detail.segments)}"


def _gold(text: str) -> str:
    chunk_id, quoted, rest = text.partition(': "')
    return f"`{_code(chunk_id)}`{escape(quoted + rest)}"


def _marked(segment: Segment, text: str) -> str:
    # The space around a stretch stays outside its marks, so that they hug their words.
    core = text.strip()
    lead, tail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    if not core:
        return text
    match segment.part:
        case Part.REMOVED:
            return f"{lead}<del>{core}</del>{tail}"
        case Part.ADDED:
            return f"{lead}<ins>{core}</ins>{tail}"
        case Part.SAME:
            return text

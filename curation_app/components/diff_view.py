"""A set's difference on a page: by mode, with removed and added words marked."""

from collections.abc import Sequence

import streamlit as st

from curation_app.components.modes import MODE_MARKDOWN_COLOURS, MODE_SHAPES
from curation_app.components.page_text import safe_html
from evalsets.items import Mode
from evalsets.sets.diff_formats.outline import Detail, Entry, Outline
from evalsets.sets.word_diff import Part, Segment

_SHOWN_AT_MOST = 50
_STYLE = {
    Part.REMOVED: ("del", "background:rgba(194,98,12,.18);text-decoration:line-through"),
    Part.ADDED: ("ins", "background:rgba(27,138,107,.22);text-decoration:none;font-weight:600"),
}
_SIGNS = {"+": "new", "-": "gone", "~": "changed"}


def show_outline(plan: Outline) -> None:
    """Show what changes, grouped by mode, fifty entries of each at most."""
    for group in plan.counts:
        if group.entries:
            colour, shape = MODE_MARKDOWN_COLOURS[group.mode], MODE_SHAPES[group.mode]
            name = mode_words(group.mode)
            st.markdown(f":{colour}[{shape}] **{name}**  {group.before} before, {group.after} after")
            _show_entries(group.entries)
    if plan.known_failing:
        st.markdown("**Known failing**")
        _show_entries(plan.known_failing)


def mode_words(mode: Mode) -> str:
    """Return a mode as it is read on pages."""
    return mode.value.replace("_", " ")


def _show_entries(entries: tuple[Entry, ...]) -> None:
    st.html("".join(_entry_html(entry) for entry in entries[:_SHOWN_AT_MOST]))
    if (rest := len(entries) - _SHOWN_AT_MOST) > 0:
        st.caption(f"and {rest} more; `errata diff` shows all of them")


def _entry_html(entry: Entry) -> str:
    details = "".join(f"<li>{_detail_html(detail)}</li>" for detail in entry.details)
    what = safe_html(f"{_SIGNS[entry.sign]}: {entry.what}" if entry.sign == "~" else entry.what)
    head = f"<code>{safe_html(entry.item_id)}</code> <em>{what}</em> {safe_html(entry.headline)}"
    block = "margin:0 0 .6rem 1rem;overflow-wrap:anywhere"
    return f'<div style="{block}">{head}<ul style="margin:.2rem 0">{details}</ul></div>'


def _detail_html(detail: Detail) -> str:
    return f"{safe_html(detail.label)}: {''.join(segment_html(segment) for segment in detail.segments)}"


def segment_html(segment: Segment) -> str:
    """Return a stretch of text as safe HTML, marked when it was removed or added."""
    text = safe_html(segment.text)
    if segment.part is Part.SAME:
        return text
    tag, style = _STYLE[segment.part]
    return f'<{tag} style="{style}">{text}</{tag}>'


def show_list(rows: Sequence[tuple[str, str, str]]) -> None:
    """Show rows of a name, a word and a sentence, each wrapped in full; fifty at most."""
    lines = [
        f"<li><code>{safe_html(name)}</code> <em>{safe_html(word)}</em> {safe_html(sentence)}</li>"
        for name, word, sentence in rows[:_SHOWN_AT_MOST]
    ]
    st.html(f'<ul style="overflow-wrap:anywhere">{"".join(lines)}</ul>')
    if (rest := len(rows) - _SHOWN_AT_MOST) > 0:
        st.caption(f"and {rest} more")

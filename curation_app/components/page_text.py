"""Untrusted text made safe to show: escaped, control characters made visible, cut when long, words marked."""

import html
import re
from collections.abc import Mapping
from typing import NamedTuple

from evalsets.words import fold

SHOWN_CHARACTERS = 3000
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
_WORD = re.compile("[^\\W_]+(?:['\u2019][^\\W_]+)*")


class CutText(NamedTuple):
    """The shown part of a text and how many characters the whole has."""

    text: str
    whole_length: int

    @property
    def is_cut(self) -> bool:
        """Whether anything is left out."""
        return len(self.text) < self.whole_length


def cut(text: str, limit: int = SHOWN_CHARACTERS) -> CutText:
    """Return at most `limit` characters of a text."""
    return CutText(text[:limit], len(text))


def visible(text: str) -> str:
    """Return the text with controls, bidirectional overrides and lone surrogates written out, such as [U+202E]."""
    return _INVISIBLE.sub(lambda match: f"[U+{ord(match.group()):04X}]", text)


def safe_html(text: str, limit: int = SHOWN_CHARACTERS) -> str:
    """Return text as HTML that shows it as it is, isolated from the direction of what stands around it."""
    shown = cut(text, limit)
    return f"<bdi>{html.escape(visible(shown.text))}</bdi>{_cut_note(shown)}"


def marked_html(text: str, words: Mapping[str, frozenset[str]], limit: int = SHOWN_CHARACTERS) -> str:
    """Return text as safe HTML with words marked; `words` maps a CSS class to folded words, the first match wins."""
    shown = cut(text, limit)
    source, pieces, end = visible(shown.text), [], 0
    for match in _WORD.finditer(source):
        found = fold(match.group())
        css_class = next((name for name, wanted in words.items() if found in wanted), "")
        if css_class:
            pieces += [
                html.escape(source[end : match.start()]),
                f'<mark class="{css_class}">{html.escape(match.group())}</mark>',
            ]
            end = match.end()
    pieces.append(html.escape(source[end:]))
    return f"<bdi>{''.join(pieces)}</bdi>{_cut_note(shown)}"


def _cut_note(shown: CutText) -> str:
    if not shown.is_cut:
        return ""
    return f' <span class="errata-cut">… cut: {len(shown.text):,} of {shown.whole_length:,} characters shown</span>'


def plain_line(text: str, limit: int = 200) -> str:
    """Return text for a place that shows plain text on one line, such as a table cell."""
    line = " ".join(visible(text[: limit + 1]).split())
    return f"{line[:limit]}…" if len(text) > limit else line


def markdown_text(text: str, limit: int = 200) -> str:
    """Return text for a Markdown place, with every character that means something there escaped."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|<>~:$&])", r"\\\1", plain_line(text, limit))

"""Renderings of a set's difference: for a terminal, for a pull request, for a program."""

from evalsets.sets.diff_formats.markdown import render_markdown
from evalsets.sets.diff_formats.text import render_text
from evalsets.sets.diff_formats.wire import render_json

__all__ = ["render_json", "render_markdown", "render_text"]

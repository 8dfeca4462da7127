"""A report as text, Markdown, HTML, JUnit XML and JSON."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from evalsets.errors import BadInputError
from evalsets.report import Report
from evalsets.running.clock import Clock

_RENDERERS = {"text": "text", "markdown": "markdown", "html": "html", "junit": "junit"}
FORMATS = (*_RENDERERS, "json")
"""The names of the formats."""
FORMAT_OF_SUFFIX = {".txt": "text", ".md": "markdown", ".html": "html", ".xml": "junit", ".json": "json"}


def format_of(path: Path) -> str:
    """Return the format a file's suffix asks for."""
    if path.suffix not in FORMAT_OF_SUFFIX:
        raise BadInputError(f"{path.name!r}: the suffix says the format, one of {', '.join(FORMAT_OF_SUFFIX)}")
    return FORMAT_OF_SUFFIX[path.suffix]


def render(report: Report, form: str, clock: Clock | None = None) -> str:
    """Return the report in one of FORMATS; with the clock's readings, times stand in it."""
    if form == "json":
        return report.to_bytes().decode()
    module = import_module(f"{__name__}.{_RENDERERS[form]}")
    renderer: Callable[[Report, Clock | None], str] = getattr(module, f"render_{form}")
    return renderer(report, clock)

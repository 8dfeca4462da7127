"""A check report for a terminal and as GitHub annotations."""

from collections.abc import Iterator, Mapping

from evalsets.sets.checks import CheckReport, Finding, Severity
from evalsets.sets.diff_formats.text import visible

_ENCODED = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_ENCODED_PROPERTY = _ENCODED | str.maketrans({":": "%3A", ",": "%2C"})


def render_report(report: CheckReport) -> str:
    """Render findings for a terminal, errors first; ends with a newline."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: CheckReport) -> Iterator[str]:
    reasons = {entry.code: entry.reason for entry in report.allowed}
    for finding in report.findings:
        is_allowed = finding.severity is Severity.ERROR and finding.code in reasons
        word = f"allowed ({reasons[finding.code]})" if is_allowed else finding.severity.value
        yield visible(f"{word} [{finding.code}] {finding.text}")
    blocking, warnings = len(report.blocking), len(report.warnings)
    corpus = "" if report.with_corpus else "; gold was not looked up: no corpus was given"
    yield f"{report.name}: {report.item_count} items, {blocking} error(s), {warnings} warning(s){corpus}"


def render_annotations(report: CheckReport, *, path: str, lines: Mapping[str, int]) -> str:
    """Render findings as GitHub workflow commands on the lines of the set file; `lines` gives a line by item id."""
    reasons = {entry.code for entry in report.allowed}
    rendered = [_annotation(finding, path, lines.get(finding.item_id, 1), reasons) for finding in report.findings]
    return "".join(f"{line}\n" for line in rendered)


def _annotation(finding: Finding, path: str, line: int, allowed: set[str]) -> str:
    is_blocking = finding.severity is Severity.ERROR and finding.code not in allowed
    level = "error" if is_blocking else "notice" if finding.code in allowed else "warning"
    file = path.translate(_ENCODED_PROPERTY)
    title = f"errata check: {finding.code}".translate(_ENCODED_PROPERTY)
    return f"::{level} file={file},line={line},title={title}::{finding.text.translate(_ENCODED)}"


def item_lines(raw: bytes) -> dict[str, int]:
    """Return the line on which each item of a canonical set file names its id, counted from 1."""
    import json

    found: dict[str, int] = {}
    for number, line in enumerate(raw.decode("utf-8", "replace").split("\n"), start=1):
        stripped = line.strip()
        if stripped.startswith('"id": '):
            found.setdefault(json.loads(stripped.removeprefix('"id": ').removesuffix(",")), number)
    return found

"""A drift report as text for a terminal and as Markdown for a pull request."""

from collections.abc import Iterator

from evalsets.sets.diff_formats.markdown import escape
from evalsets.sets.diff_formats.text import visible
from evalsets.sets.drift import REPAIRABLE, DriftKind, DriftReport, GoldDrift

_SHOWN_TEXT = 200

_MEANING = {
    DriftKind.VALID: "as labelled",
    DriftKind.MOVED: "same text under another id",
    DriftKind.MERGED: "inside a larger chunk",
    DriftKind.SPLIT: "spread over several chunks",
    DriftKind.CHANGED: "text was edited",
    DriftKind.GONE: "not in the corpus",
}


def render_drift(report: DriftReport) -> str:
    """Render a report for a terminal; ends with a newline."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: DriftReport) -> Iterator[str]:
    size = f"{len(report.gold)} gold chunks against {report.corpus_size:,} chunks"
    yield f"{report.name} version {report.version}: {size}"
    for kind, count in report.counts().items():
        if count:
            yield f"  {kind.value:<8}{count:>6}  {_MEANING[kind]}"
    for each in report.gold:
        if each.kind is not DriftKind.VALID:
            yield from _gold_lines(each)


def _gold_lines(each: GoldDrift) -> Iterator[str]:
    now = ", ".join(chunk.chunk_id for chunk in each.found_in)
    note = f" ({each.note})" if each.note else ""
    share = f", {each.coverage:.0%} of its words" if each.kind is DriftKind.CHANGED and each.coverage else ""
    yield ""
    yield visible(f"{each.kind}: item {each.item_id}, gold {each.chunk_id}{f' -> {now}' if now else ''}{share}{note}")
    if each.kind not in REPAIRABLE and each.old_text:
        yield f"  was: {visible(_short(each.old_text))}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_TEXT else line[: _SHOWN_TEXT - 1] + "…"


def render_drift_markdown(report: DriftReport) -> str:
    """Render a report for a pull request; ends with a newline."""
    rows = [f"| {kind.value} | {count} | {_MEANING[kind]} |" for kind, count in report.counts().items() if count]
    lines = [
        f"### Drift of {escape(report.name)} version {report.version}",
        "",
        "| gold chunks | count | meaning |",
        "|---|---:|---|",
        *rows,
        "",
        *(_markdown_line(each) for each in report.gold if each.kind is not DriftKind.VALID),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _markdown_line(each: GoldDrift) -> str:
    now = ", ".join(f"`{chunk.chunk_id.replace('`', chr(39))}`" for chunk in each.found_in)
    return f"- {each.kind}: item {escape(each.item_id)}, gold {escape(each.chunk_id)}{f', now {now}' if now else ''}"

"""Tables of the Ingest page: a preview, the report of an ingest, and quarantined records."""

from typing import Any

import pandas as pd
import streamlit as st

from curation_app.components.page_text import plain_line
from ingest.ingest_report import IngestReport
from ingest.previewing import Preview, PreviewReport
from ingest.quarantine import RejectedRecord

_SHOWN_FIELDS = ("asked_at", "session_id", "question", "answer", "retrieved", "model", "error")


def show_previews(report: PreviewReport) -> None:
    """Show a preview of each format among the files, and which files none is shown of."""
    st.subheader("Preview")
    for shown in report.previews:
        _show_preview(shown)
    for reason in report.unknown:
        st.warning(plain_line(reason, 400))
    if report.not_shown:
        st.caption(f"{report.not_shown:,} files of further formats are not previewed.")


def _show_preview(shown: Preview) -> None:
    """Show the first mapped rows and the share of them that has each field."""
    others = f" and {shown.files - 1:,} more" if shown.files > 1 else ""
    st.caption(
        f"{shown.file}{others}, read as {shown.format}: the first {shown.read:,} records make"
        f" {shown.interactions:,} interactions and {shown.votes:,} votes. Nothing is stored yet."
    )
    if shown.missing_paths:
        st.warning(
            plain_line(f"Mapped paths that lead nowhere in these records: {', '.join(shown.missing_paths)}.", 400)
        )
    rows, rates = st.columns([3, 1])
    rows.dataframe(pd.DataFrame([_preview_row(row) for row in shown.rows]), hide_index=True)
    filled = pd.DataFrame({"field": [rate.field for rate in shown.fill], "filled": [rate.share for rate in shown.fill]})
    rates.dataframe(
        filled,
        hide_index=True,
        height=300,
        column_config={"filled": st.column_config.ProgressColumn(format="percent", min_value=0, max_value=1)},
    )
    _listed("Would be quarantined", shown.rejects)
    _counted("Would be skipped", shown.skipped, "records")


def _preview_row(row: dict[str, Any]) -> dict[str, str]:
    chunks = row.get("retrieved") or []
    values = {**row, "retrieved": ", ".join(str(chunk["chunk_id"]) for chunk in chunks)}
    return {name: plain_line(str(values.get(name) or "")) for name in _SHOWN_FIELDS}


def show_report(report: IngestReport) -> None:
    """Show what became of every record read."""
    st.subheader("What the ingest did")
    made = report.interactions
    figures = {
        "Records read": report.read,
        "New": made.new,
        "Changed": made.changed,
        "Unchanged": made.unchanged,
        "Skipped": report.skipped_total,
        "Quarantined": report.quarantined,
        "Votes bound": report.feedback.bound,
        "Votes waiting": report.feedback.unbound,
    }
    with st.container(horizontal=True, gap="medium"):  # in a narrow window the figures wrap
        for label, count in figures.items():
            st.metric(label, f"{count:,}", width="content")
    for warning in report.warnings():
        st.warning(plain_line(warning, 400))
    _show_files(report)
    tables = {
        "Skipped, by reason": ({**report.skipped, **report.traces_skipped}, "records"),
        "Replaced by placeholders": (report.redactions, "values"),
    }
    filled = {title: held for title, held in tables.items() if held[0]}
    for column, (title, (counts, what)) in zip(st.columns(2), filled.items(), strict=False):
        with column:
            _counted(title, counts, what)


def _show_files(report: IngestReport) -> None:
    rows = [
        {
            "file": account.file,
            "read as": account.format,
            "layout": account.layout,
            "records": account.read,
            "made": account.made,
            "skipped": sum(account.skipped.values()),
            "quarantined": account.quarantined,
            "note": "read before, nothing new" if account.is_unchanged else account.note,
        }
        for account in report.files
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True)


def show_rejects(rejects: list[RejectedRecord]) -> None:
    """Show quarantined records with place and reason."""
    rows = [
        {"file": each.file, "line": each.line, "reason": each.reason, "record": plain_line(each.raw, 300)}
        for each in rejects
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True)


def _listed(title: str, lines: list[str]) -> None:
    if lines:
        st.markdown(f"**{title}**")
        st.dataframe(pd.DataFrame({"line and reason": lines}), hide_index=True)


def _counted(title: str, counts: dict[str, int], what: str) -> None:
    if counts:
        st.markdown(f"**{title}**")
        rows = sorted(counts.items(), key=lambda entry: -entry[1])
        st.dataframe(pd.DataFrame(rows, columns=["what", what]), hide_index=True)

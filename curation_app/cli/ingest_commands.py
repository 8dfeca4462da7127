"""Commands that bring logs and the corpus in, and tell what became of every record."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from curation_app.cli.output import JsonOption, WorkspaceOption, say, write_json, write_line
from curation_app.workspace import find_workspace
from evalsets.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from ingest.ingest_report import IngestReport
    from ingest.loading import Progress
    from ingest.previewing import Preview, PreviewReport

app = typer.Typer()
corpus_app = typer.Typer(help="The chunk store that gold chunks are picked from.", no_args_is_help=True)
app.add_typer(corpus_app, name="corpus")
mapping_app = typer.Typer(help="Mapping files: which field of a log is what.", no_args_is_help=True)
app.add_typer(mapping_app, name="mapping")
logs_app = typer.Typer(help="The interactions in the log store.", no_args_is_help=True)
app.add_typer(logs_app, name="logs")


@app.command()
def ingest(
    paths: list[str] = typer.Argument(None, help="Files, folders, globs, Hive folders, or - for standard input."),
    mapping: str | None = typer.Option(None, "--mapping", "-m", help="Mapping file, or the name of one."),
    format_name: str = typer.Option("", "--format", help="Format to read as; default: told by the content."),
    dry_run: bool = typer.Option(
        False, "--dry-run", help="Show the first mapped rows and fill rates of each format; store nothing."
    ),
    strict: bool = typer.Option(False, "--strict", help="Make a mapped path that leads nowhere an error."),
    retry: bool = typer.Option(False, "--retry-rejects", help="Take the quarantined records again."),
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> None:
    """Read logs into interactions and votes; reading the same twice changes nothing."""
    from curation_app.presence import step_back_for_reviewers
    from curation_app.service.ingesting import retry_quarantine, run_ingest, show_preview

    place = find_workspace(workspace)
    step_back_for_reviewers(place)
    if retry:
        report = retry_quarantine(place, mapping=mapping, format_name=format_name)
        write_json(report) if as_json else _write_report(report)
        return
    if not paths:
        raise BadInputError("name a file, folder or glob to read, or - for standard input.")
    if dry_run:
        shown = show_preview(place, paths, mapping=mapping, format_name=format_name)
        write_json(shown) if as_json else _write_previews(shown)
        return
    with _progress_bar() as on_progress:
        report = run_ingest(
            place, paths, mapping=mapping, format_name=format_name, strict=strict, on_progress=on_progress
        )
    write_json(report) if as_json else _write_report(report)


@contextmanager
def _progress_bar() -> "Iterator[Callable[[Progress], None] | None]":
    import sys

    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None)
        yield lambda seen: bar.update(task, total=seen.bytes_total, completed=seen.bytes_done)


def _write_report(report: "IngestReport") -> None:
    made = report.interactions
    write_line(f"read          {report.read} records of {len(report.files)} files")
    write_line(f"made          {report.made} of them into interactions, votes or parts of one")
    write_line(f"interactions  {made.new} new, {made.changed} changed, {made.unchanged} unchanged")
    for label, count in (("older", made.older), ("repeated", made.repeated), ("forgotten", made.forgotten)):
        if count:
            write_line(f"              {count} {label}")
    write_line(f"skipped       {report.skipped_total}")
    for reason, count in sorted(report.skipped.items()):
        write_line(f"              {count} {reason}")
    write_line(f"quarantined   {report.quarantined}")
    for reject in report.rejects[:10]:
        write_line(f"              {reject.file}:{reject.line}: {reject.reason}")
    for reason, count in sorted(report.traces_skipped.items()):
        write_line(f"traces        {count} {reason}")
    votes = report.feedback
    write_line(f"feedback      {votes.new} new; {votes.bound} bound, {votes.unbound} waiting for their interaction")
    if report.redactions:
        found = ", ".join(f"{count} {kind}" for kind, count in sorted(report.redactions.items()))
        write_line(f"redacted      {found}")
    for warning in report.warnings():
        say(f"warning: {warning}")
    write_line(f"stored        {report.stored} interactions in all, in {report.seconds:.1f} s")


def _write_previews(report: "PreviewReport") -> None:
    for shown in report.previews:
        _write_preview(shown)
        write_line("")
    for reason in report.unknown:
        say(f"warning: {reason}")
    if report.not_shown:
        say(f"{report.not_shown} files of further formats are not previewed")


def _write_preview(shown: "Preview") -> None:
    others = f" and {shown.files - 1} more" if shown.files > 1 else ""
    write_line(f"{shown.file}{others}: read as {shown.format} ({shown.layout})")
    write_line(f"{shown.read} records: {shown.interactions} interactions, {shown.votes} votes; nothing was stored")
    for reason, count in sorted(shown.skipped.items()):
        write_line(f"skipped     {count} {reason}")
    for reject in shown.rejects:
        write_line(f"quarantined {reject}")
    for path in shown.missing_paths:
        write_line(f"nowhere     {path!r} leads nowhere in these records")
    write_line("\nfield                 filled")
    for rate in shown.fill:
        write_line(f"{rate.field:20} {rate.share:7.0%}")
    for number, row in enumerate(shown.rows, 1):
        write_line(f"\n-- {number}")
        for name, value in row.items():
            write_line(f"{name:16} {_cut(value)}")


def _cut(value: object, limit: int = 160) -> str:
    shown = str(value)
    return shown if len(shown) <= limit else shown[:limit] + "…"


@app.command()
def formats(as_json: bool = JsonOption) -> None:
    """List what is read without a mapping of your own."""
    from curation_app.service.ingesting import list_formats

    found = list_formats()
    if as_json:
        write_json([{"name": name, "description": description} for name, description in found])
        return
    for name, description in found:
        write_line(f"{name:22} {description}")


@mapping_app.command("suggest")
def mapping_suggest(
    path: str = typer.Argument(..., help="A log file."),
    out: Path | None = typer.Option(None, "--out", "-o", help="Write the mapping here; default: standard output."),
) -> None:
    """Propose a mapping from the field names and values of a log."""
    from curation_app.service.ingesting import suggest_mapping

    proposed = suggest_mapping(path)
    if out is None:
        write_line(proposed.rstrip())
        return
    if out.exists():
        raise BadInputError(f"{out} is there already. Name another file.")
    out.write_text(proposed, encoding="utf-8")
    say(f"wrote {out}")


@app.command()
def rejects(
    file: str = typer.Option("", "--file", help="Only of files with this in their name."),
    limit: int = typer.Option(50, "--limit", min=1, help="How many to show at most."),
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> None:
    """Show quarantined records with file, line and reason."""
    from curation_app.service.ingesting import log_store
    from ingest.quarantine import count_rejects, list_rejects

    store = log_store(find_workspace(workspace))
    found = list_rejects(store, file=file, limit=limit)
    if as_json:
        write_json([reject._asdict() for reject in found])
        return
    for reject in found:
        write_line(f"{reject.file}:{reject.line}: {reject.reason}")
        write_line(f"    {_cut(reject.raw)}")
    total = count_rejects(store)
    say(f"{len(found)} of {total} shown. Mend the mapping, then: errata ingest --retry-rejects --mapping FILE")


@app.command()
def forget(
    user: str = typer.Option("", "--user", help="User id, as the log has it."),
    before: str = typer.Option("", "--before", help="Delete what was asked before this date or time."),
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> None:
    """Delete a user, or all before a date, from the log store, and keep them from coming back with a later ingest."""
    from curation_app.service.ingesting import forget as forget_in

    report = forget_in(find_workspace(workspace), user=user, before=_moment(before, "--before"))
    if as_json:
        write_json(report)
        return
    write_line(
        f"deleted {report.interactions} interactions, {report.spans} spans, {report.rejects} quarantined records"
    )
    for name in report.candidates:
        write_line(f"still in review: candidate {name}")
    for name in report.items:
        write_line(f"still in an eval set: {name}")


def _moment(written: str, option: str) -> "datetime | None":
    if not written:
        return None
    from ingest.normalising import instant

    try:
        found = instant(written)
    except (ValueError, TypeError, OverflowError) as error:
        raise BadInputError(f"{option} {written!r} is not a date or time, such as 2026-11-30.") from error
    return found.at if found else None


@logs_app.command("export")
def logs_export(
    out: Path | None = typer.Option(None, "--out", "-o", help="File, or folder for Parquet; default: standard output."),
    format_name: str = typer.Option("jsonl", "--format", help="jsonl or parquet (a folder a day)."),
    since: str = typer.Option("", "--since", help="Only what was asked since this date or time."),
    workspace: Path | None = WorkspaceOption,
) -> None:
    """Write canonical interactions, one a line, or Parquet with a folder a day."""
    import sys

    from curation_app.service.ingesting import log_store
    from ingest.exporting import iter_lines, write_parquet

    store, start = log_store(find_workspace(workspace)), _moment(since, "--since")
    if format_name == "parquet":
        if out is None:
            raise BadInputError("Parquet needs a folder to write to: say --out FOLDER.")
        say(f"wrote {write_parquet(store, out, since=start)} interactions to {out}")
        return
    if format_name != "jsonl":
        raise BadInputError(f"no export format is called {format_name!r}. There are: jsonl, parquet.")
    if out is None:
        for line in iter_lines(store, since=start):
            sys.stdout.buffer.write(line)
        return
    with out.open("wb") as stream:
        count = sum(bool(stream.write(line)) for line in iter_lines(store, since=start))
    say(f"wrote {count} interactions to {out}")


@corpus_app.command("add")
def corpus_add(
    paths: list[str] = typer.Argument(None, help="JSONL, JSON, CSV or Parquet files, or folders of Markdown or text."),
    from_logs: bool = typer.Option(False, "--from-logs", help="Add the chunks that were seen in the logs."),
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> None:
    """Add chunks; text files are split into one chunk a heading."""
    from curation_app.service.ingesting import add_corpus

    if not paths and not from_logs:
        raise BadInputError("name a file or folder to add, or say --from-logs.")
    report = add_corpus(find_workspace(workspace), paths or [], from_logs=from_logs)
    if as_json:
        write_json(report)
        return
    write_line(report.summary())
    for reject in report.rejects[:10]:
        say(f"warning: {reject.file}:{reject.line}: {reject.reason}")

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

    from ingest.ingest_report import IngestReport
    from ingest.loading import Progress

app = typer.Typer()
corpus_app = typer.Typer(help="The chunk store that gold chunks are picked from.", no_args_is_help=True)
app.add_typer(corpus_app, name="corpus")


@app.command()
def ingest(
    paths: list[str] = typer.Argument(..., help="Files, folders, globs, Hive folders, or - for standard input."),
    mapping: str | None = typer.Option(None, "--mapping", "-m", help="Mapping file, or the name of one."),
    format_name: str = typer.Option("", "--format", help="Format to read as; default: told by the content."),
    strict: bool = typer.Option(False, "--strict", help="Make a mapped path that leads nowhere an error."),
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> None:
    """Read logs into interactions and votes; reading the same twice changes nothing."""
    from curation_app.service.ingesting import run_ingest

    place = find_workspace(workspace)
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
    for caution in report.cautions:
        say(f"warning: {caution.message}" + (f" ({caution.count} times)" if caution.count > 1 else ""))
    write_line(f"stored        {report.stored} interactions in all, in {report.seconds:.1f} s")


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

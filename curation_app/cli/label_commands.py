"""Commands that move labels, bring in cases written elsewhere, and back up what people did."""

import getpass
import json
import sys
from pathlib import Path

import typer

from curation_app.cli.output import JsonOption, WorkspaceOption, say, write_json, write_line
from curation_app.workspace import find_workspace
from evalsets.items import Mode, Source

app = typer.Typer()
labels_app = typer.Typer(help="Move labels between workspaces as JSON lines.", no_args_is_help=True)
cases_app = typer.Typer(help="Bring in cases that do not come from the log.", no_args_is_help=True)
app.add_typer(labels_app, name="labels")
app.add_typer(cases_app, name="cases")

ReviewerOption = typer.Option(
    None, "--reviewer", envvar="ERRATA_REVIEWER", help="Name that stands on the labels; default: your user name."
)


@labels_app.command("export")
def export_labels(
    out: Path | None = typer.Option(None, "--out", help="File to write; default: stdout."),
    workspace: Path | None = WorkspaceOption,
) -> None:
    """Write every candidate, every label event (undone ones too) and every change of a sub-code, one JSON a line."""
    from curation_app.service.label_transfer import export_records
    from curation_app.service.labelling import open_desk

    store = open_desk(find_workspace(workspace)).store
    lines = (json.dumps(record, ensure_ascii=True) for record in export_records(store))
    if out is None:
        for line in lines:
            write_line(line)
        return
    written = 0
    with out.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(line + "\n")
            written += 1
    say(f"wrote {written} records to {out}")


@labels_app.command("import")
def import_labels(
    file: Path = typer.Argument(..., help="File that `errata labels export` wrote; - reads stdin."),
    reviewer: str | None = ReviewerOption,
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> None:
    """Bring in exported labels; what is there already is left alone, so importing twice changes nothing."""
    from curation_app.service.label_transfer import import_records
    from curation_app.service.labelling import open_desk
    from evalsets.errors import BadInputError

    store = open_desk(find_workspace(workspace)).store
    if str(file) != "-" and not file.is_file():
        raise BadInputError(f"no file {str(file)!r}")
    lines = sys.stdin if str(file) == "-" else file.read_text(encoding="utf-8").split("\n")
    report = import_records(store, iter(lines), importer=reviewer or getpass.getuser())
    if as_json:
        write_json(report._asdict())
        return
    write_line(
        f"{report.candidates} candidates, {report.events} events, {report.renames} changes of sub-codes were new"
    )


@cases_app.command("import")
def import_cases(
    file: Path = typer.Argument(..., help="CSV (lists set apart by semicolons) or JSONL; `question` is needed."),
    reviewer: str | None = ReviewerOption,
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> None:
    """Bring in cases from support tickets or interviews; complete ones are labelled, the others wait in the queue."""
    from curation_app.service.cases import read_cases

    _add(find_workspace(workspace), read_cases(file), reviewer, as_json=as_json)


@cases_app.command("add")
def add_case(
    question: str = typer.Argument(..., help="The question in the user's own words."),
    expected: str = typer.Option("", help="What the assistant should say."),
    gold: list[str] = typer.Option([], "--gold", help="Id of a gold chunk; repeat for several."),
    fact: list[str] = typer.Option([], "--fact", help="A fact the answer must contain; repeat for several."),
    mode: Mode | None = typer.Option(
        None, help="What goes wrong with it today; without it, the case waits for a label."
    ),
    note: str = typer.Option("", help="Where it comes from, what you saw."),
    source: Source = typer.Option(Source.SUPPORT, help="Where the case comes from."),
    reviewer: str | None = ReviewerOption,
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> None:
    """Write one case by hand."""
    from curation_app.service.cases import Case

    facts = tuple((each,) for each in fact)
    case = Case(
        question=question, expected=expected, gold_chunk_ids=tuple(gold), answer_facts=facts, mode=mode, note=note,
        source=source,
    )  # fmt: skip
    _add(find_workspace(workspace), [case], reviewer, as_json=as_json)


@cases_app.command("draft")
def draft_cases(
    document: str = typer.Argument(..., help="Id of a document of the corpus."),
    count: int = typer.Option(5, min=1, max=50, help="How many questions to draft."),
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> None:
    """Draft questions from a document with `draft_model` of errata.toml; they wait for review, never as items."""
    from curation_app.service.drafting import draft_questions
    from curation_app.service.labelling import open_desk

    found = find_workspace(workspace)
    cases = draft_questions(open_desk(found), document, count)
    _add(found, cases, None, as_json=as_json)


@app.command("backup")
def backup(
    out: Path | None = typer.Option(None, "--out", help="Zip file to write; default: errata-backup-TIME.zip."),
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> None:
    """Write labels, settings and eval sets into one zip file; safe while the app runs. Unzip it to restore."""
    from curation_app.service.label_transfer import back_up
    from curation_app.service.labelling import open_desk

    found = find_workspace(workspace)
    report = back_up(found, open_desk(found).store, out)
    if as_json:
        write_json({"path": str(report.path), "files": report.files, "events": report.events})
        return
    write_line(str(report.path))
    say(f"{report.files} files, {report.events} label events")


def _add(workspace: object, cases: list, reviewer: str | None, *, as_json: bool) -> None:  # type: ignore[type-arg]
    from curation_app.service.cases import add_cases
    from curation_app.service.labelling import open_desk

    report = add_cases(open_desk(workspace), cases, reviewer=reviewer or getpass.getuser())  # type: ignore[arg-type]
    if as_json:
        write_json(report._asdict())
        return
    write_line(f"{report.labelled} labelled, {report.to_label} to label, {report.already_there} there already")

"""Commands that write a set in another tool's format and read one back."""

import sys
from pathlib import Path

import typer

from curation_app.cli.output import JsonOption, WorkspaceOption, say, write_json, write_line
from evalsets.items import Mode, Source

app = typer.Typer()

FormatOption = typer.Option(
    ...,
    "--format",
    "-f",
    help="ragas, deepeval, inspect, promptfoo, langsmith, langfuse, phoenix, mlflow, openai-evals, qrels, "
    "huggingface or csv.",
)


@app.command("export")
def export(
    set_ref: str = typer.Argument(
        "", metavar="SET", help="Set file, folder, name or git:REV:path; default: the workspace's."
    ),
    form: str = FormatOption,
    out: Path | None = typer.Option(
        None, "--out", "-o", metavar="PATH", help="File, or folder where the format has several; default: stdout."
    ),
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> None:
    """Write a set in the format of another tool, and say what that format cannot hold."""
    from curation_app.service.exchanging import export_set, write_files
    from evalsets.errors import BadInputError

    exported = export_set(set_ref, form, workspace)
    if exported.lost:
        say(f"{form} has no place for: {', '.join(exported.lost)}")
    if out is None:
        if len(exported.files) > 1:
            raise BadInputError(f"{form} has several files ({', '.join(exported.files)}); name a folder with --out.")
        sys.stdout.write(next(iter(exported.files.values())).decode())
        return
    paths = [str(path) for path in write_files(exported.files, out)]
    if as_json:
        write_json({"format": form, "items": exported.items, "files": paths, "lost": exported.lost})
        return
    for path in paths:
        write_line(f"wrote {path}")


@app.command("import")
def import_(
    path: Path = typer.Argument(..., metavar="PATH", help="The other tool's file, or folder."),
    form: str = FormatOption,
    out: Path = typer.Option(..., "--out", "-o", metavar="FILE", help="Set file to write, for `errata freeze --from`."),
    name: str = typer.Option("", "--name", help="Name of the set; default: the name of the file."),
    mode: Mode = typer.Option(Mode.CONTROL, "--mode", help="Mode of the items where the file says none."),
    source: Source = typer.Option(Source.SYNTHETIC, "--source", help="Where the items come from, if not told."),
    as_json: bool = JsonOption,
) -> None:
    """Read a set from another tool's file into a set file of ours, not frozen yet."""
    from curation_app.service.exchanging import import_set, save_import

    imported = import_set(path, form, name=name or out.stem, mode=mode, source=source)
    save_import(imported, out)
    if as_json:
        write_json({"format": form, "items": len(imported.eval_set.items), "path": str(out)})
        return
    write_line(f"wrote {out}: {len(imported.eval_set.items)} items")
    say(f"{imported.form.tool}: its {imported.form.expected_is} is our expected answer")
    say(f"next: errata check {out}, then errata freeze {imported.eval_set.name} --from {out} --note WHY")

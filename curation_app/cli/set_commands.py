"""Commands that look at a set and change nothing: check, diff, verify, coverage, git-setup."""

import sys
from enum import StrEnum
from pathlib import Path

import typer

from curation_app.cli.output import CorpusOption, JsonOption, Rendering, WorkspaceOption, say, write_json, write_line
from evalsets.errors import ExitCode

app = typer.Typer()


class Reporting(StrEnum):
    """How findings are printed."""

    TEXT = "text"
    GITHUB = "github"
    JSON = "json"


@app.command("check")
def check(
    set_ref: str = typer.Argument(
        "", metavar="SET", help="Set file, folder, name or git:REV:path; default: the workspace's."
    ),
    corpus: Path | None = CorpusOption,
    against: str = typer.Option("", "--against", metavar="SET", help="The version before, to find changed ids."),
    allow: list[str] = typer.Option([], "--allow", metavar="CODE", help="Let an error of this code pass. Repeatable."),
    reason: str = typer.Option("", "--reason", help="Why the allowed codes may pass."),
    tolerance: float = typer.Option(0.05, min=0.001, max=1, help="The fall that the gate lets pass, as a share."),
    reporting: Reporting = typer.Option(Reporting.TEXT, "--format", help="text, github (annotations) or json."),
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> int:
    """Check a set: exit 0 when nothing blocks, 2 when an error stands that is not allowed."""
    from curation_app.service.set_checking import CheckRequest, check_set
    from evalsets.sets.check_formats import render_annotations, render_report

    request = CheckRequest(set_ref, corpus, against, tuple(allow), reason, tolerance)
    checked = check_set(request, workspace)
    if as_json or reporting is Reporting.JSON:
        write_json(checked.report.model_dump(mode="json") | {"blocking": len(checked.report.blocking)})
    elif reporting is Reporting.GITHUB:
        sys.stdout.write(render_annotations(checked.report, path=checked.path, lines=checked.lines))
    else:
        sys.stdout.write(render_report(checked.report))
    return ExitCode.BAD_INPUT if checked.report.blocking else ExitCode.DONE


@app.command("diff")
def diff(
    before: str = typer.Argument(..., metavar="A", help="Set file, folder, name@VERSION, VERSION or git:REV:path."),
    after: str = typer.Argument("", metavar="B", help="The same; default: the newest version of A's set."),
    rendering: Rendering = typer.Option(
        Rendering.TEXT, "--format", "-f", help="text, markdown (for a pull request), json."
    ),
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> None:
    """Print what changed from set A to set B, item by item and by meaning."""
    from curation_app.service.set_references import resolve_pair
    from evalsets.sets.diff import diff as diff_sets
    from evalsets.sets.diff_formats import render_json, render_markdown, render_text

    pair = resolve_pair(before, after, workspace)
    change = diff_sets(pair.before, pair.after)
    if as_json or rendering is Rendering.JSON:
        sys.stdout.write(render_json(change))
        return
    render = render_markdown if rendering is Rendering.MARKDOWN else render_text
    sys.stdout.write(render(change, chunk_texts=pair.chunk_texts))


@app.command("verify")
def verify(
    set_ref: str = typer.Argument("", metavar="SET", help="Folder or name of a set; default: the workspace's."),
    holdout: Path | None = typer.Option(None, "--holdout", metavar="FILE", help="Where the held-out items are."),
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> int:
    """Walk the hash chain of a set: exit 0 when every frozen byte is as it was frozen, 2 when not."""
    from curation_app.service.set_references import folder_of
    from evalsets.sets.verifying import verify as verify_set

    target = folder_of(set_ref, workspace)
    found = verify_set(target.root, holdout_place=holdout or target.holdout_place)
    if as_json:
        write_json(found._asdict())
    else:
        for fault in found.faults:
            write_line(f"fault: {fault}")
        for note in found.notes:
            say(f"note: {note}")
        if not found.faults:
            write_line(f"{found.name}: {found.versions} version(s) as frozen, newest {found.newest_hash}")
    return ExitCode.BAD_INPUT if found.faults else ExitCode.DONE


@app.command("coverage")
def coverage(
    name: str = typer.Argument("", metavar="NAME", help="Name of the set; default: the workspace's."),
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> None:
    """Compare the set's mix with traffic: by document asked about, week, language and model."""
    from curation_app.service.set_coverage import coverage_of
    from curation_app.workspace import find_workspace
    from evalsets.sets.coverage import render_coverage

    found = coverage_of(find_workspace(workspace), name)
    if as_json:
        write_json([each.model_dump(mode="json") | {"distance": each.distance} for each in found])
        return
    sys.stdout.write(render_coverage(found))


@app.command("git-setup")
def git_setup(
    folder: Path = typer.Argument(Path(), metavar="DIR", help="A folder of the repository that holds the sets."),
) -> None:
    """Teach git in this clone to show sets by meaning: `git diff` as errata diff, `git log -p` as readable text."""
    from curation_app.service.git_driver import set_up_git

    for line in set_up_git(folder):
        write_line(line)


@app.command("git-diff", hidden=True)
def git_diff(
    path: str = typer.Argument(..., help="Path in the repository."),
    old_file: Path = typer.Argument(..., help="The file before."),
    _old_hex: str = typer.Argument(..., help="Hash of the file before; git gives it."),
    _old_mode: str = typer.Argument(..., help="Mode of the file before; git gives it."),
    new_file: Path = typer.Argument(..., help="The file after."),
    _new_hex: str = typer.Argument(..., help="Hash of the file after; git gives it."),
    _new_mode: str = typer.Argument(..., help="Mode of the file after; git gives it."),
    _rest: list[str] = typer.Argument(None, help="What git adds for a renamed file."),
) -> None:
    """Print how two states of a file differ; git calls this."""
    from curation_app.service.git_driver import driver_diff

    sys.stdout.write(driver_diff(path, old_file, new_file))


@app.command("git-textconv", hidden=True)
def git_textconv(path: Path = typer.Argument(..., help="A file out of git.")) -> None:
    """Print a set as lines that git can compare; git calls this."""
    from curation_app.service.git_driver import as_text

    sys.stdout.write(as_text(path.read_bytes(), str(path)))

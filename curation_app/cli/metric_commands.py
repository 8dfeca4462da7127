"""Commands of the metric group: what is measured and how, and how far a judge can be trusted."""

import json
from collections.abc import Iterable
from pathlib import Path

import typer

from curation_app.cli.output import JsonOption, WorkspaceOption, say, write_json, write_line, write_result

app = typer.Typer()


def write_lines(lines: Iterable[str]) -> None:
    """Print lines of result on stdout."""
    for line in lines:
        write_line(line)


@app.command("metrics")
def list_metrics(
    name: str = typer.Argument("", help="Show one metric only, such as recall@5."),
    k: int = typer.Option(10, "--k", min=1, help="Depth of the metrics that have one."),
    half: str = typer.Option("", "--half", help="Only one half: retrieval, generation, safety or cost."),
    as_json: bool = JsonOption,
) -> None:
    """List every metric with its formula and source; the printed name is what reports, gates and options use."""
    from evalsets.metrics.registry import all_metrics, metric_named, optional_metrics

    every = (*all_metrics(k), *optional_metrics())
    chosen = [metric_named(name)] if name else [metric for metric in every if half in {"", metric.half.value}]
    rows = [
        {
            "name": metric.name,
            "half": metric.half.value,
            "scale": metric.scale.value,
            "formula": metric.formula,
            "source": metric.source,
            "undefined_when": metric.undefined_when,
            "is_proxy": metric.is_proxy,
            "higher_is_better": metric.higher_is_better,
        }
        for metric in chosen
    ]
    if as_json:
        write_json(rows)
        return
    for row in rows:
        write_line(f"{row['name']}  ({row['half']}, {row['scale']}{', proxy' if row['is_proxy'] else ''})")
        write_line(f"    {row['formula']}")
        write_line(f"    source: {row['source']}")
        if row["undefined_when"]:
            write_line(f"    left out when {row['undefined_when']}")


judge_app = typer.Typer(help="Check a judge: against people, and against itself.", no_args_is_help=True)
app.add_typer(judge_app, name="judge")


@judge_app.command("grade")
def grade(
    report: Path = typer.Argument(..., metavar="REPORT", help="A report written by `errata run`."),
    size: int = typer.Option(30, "--size", min=1, help="How many answers to draw when grading begins."),
    seed: int = typer.Option(1, "--seed", help="Seed of the draw; the same seed draws the same items in any run."),
    by: str = typer.Option("", "--by", help="Who grades; default: the name git knows."),
    sheet: Path | None = typer.Option(None, "--sheet", help="Write the answers that wait as JSON lines to fill in."),
    grades: Path | None = typer.Option(None, "--grades", help="Enter the grades of a filled-in sheet."),
    carry_over: bool = typer.Option(
        False, "--carry-over", help="After the judge changed: take the grades given to the same answers before."
    ),
    show: bool = typer.Option(False, "--show", help="Only show how judge and people agree."),
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> None:
    """Grade answers without seeing the judge's verdict; then read how far the judge agrees with you."""
    from curation_app.cli.judge_words import ask_for_grades, book_lines, book_wire
    from curation_app.service.judging import open_grading, read_sheet
    from curation_app.workspace import find_workspace
    from evalsets.judges.grade_sheets import sheet as blank_sheet

    grading = open_grading(report, find_workspace(workspace), size=size, seed=seed, by=by)
    if carry_over:
        grading = grading.carried_over()
    if sheet is not None:
        rows = blank_sheet(grading.waiting)
        write_result("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), sheet)
        say(f"{len(rows)} answers wait in {sheet}: fill in human with pass or fail, then enter it with --grades")
        return
    if grades is not None:
        grading = grading.entered(read_sheet(grades))
    elif not (show or carry_over):
        grading = ask_for_grades(grading)
    if as_json:
        write_json(book_wire(grading.book, grading.folder))
    else:
        write_lines(book_lines(grading.book, grading.folder))


@judge_app.command("list")
def list_judges(
    name: str = typer.Argument("", metavar="SET", help="Name of the set; default: the workspace's."),
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> None:
    """List the judges that people have graded on a set, and which of them may gate."""
    from curation_app.cli.judge_words import book_lines, book_wire
    from curation_app.service.judging import graded_judges, grades_folder
    from curation_app.service.set_places import set_name
    from curation_app.workspace import find_workspace

    found = find_workspace(workspace)
    folder = grades_folder(found, set_name(found, name))
    books = graded_judges(found, name)
    if as_json:
        write_json([book_wire(book, folder) for book in books])
        return
    if not books:
        say("no judge of this set has been graded; begin with `errata judge grade REPORT`")
    for book in books:
        write_lines(book_lines(book, folder))


@judge_app.command("probe")
def probe(
    report: Path = typer.Argument(..., metavar="REPORT", help="A report whose answers are judged again."),
    set_ref: str = typer.Option("", "--set", help="The set of the report; default: by its name in the workspace."),
    size: int = typer.Option(20, "--size", min=1, help="How many answers to probe with; each costs twelve calls."),
    judge: str = typer.Option("", "--judge", help="The judge; default: the one errata.toml names."),
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> None:
    """Judge answers again with passages reordered, length padded or commands added: no verdict should change."""
    import anyio

    from curation_app.cli.judge_words import probe_lines, probe_wire
    from curation_app.service.judging import cases_of
    from curation_app.workspace import find_workspace
    from evalsets.judges.making import make_judge
    from evalsets.judges.probing import probe as run_probes
    from evalsets.report import Report

    found = find_workspace(workspace)
    settings = found.settings().judge
    chosen = make_judge(settings.model_copy(update={"kind": judge}) if judge else settings, root=found.root)
    cases = cases_of(Report.load(report), found, set_ref=set_ref, limit=size)
    result = anyio.run(run_probes, chosen, cases)
    if as_json:
        write_json(probe_wire(result))
    else:
        write_lines(probe_lines(result))

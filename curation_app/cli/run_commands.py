"""Commands that run a pipeline over a set and render its report."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from curation_app.cli.output import CorpusOption, JsonOption, WorkspaceOption, say, write_json, write_result
from evalsets.errors import BadInputError, ExitCode

if TYPE_CHECKING:
    from curation_app.service.running import RunResult

app = typer.Typer()

_STATUS_CODES = {
    "complete": ExitCode.DONE,
    "incomplete": ExitCode.RUN_INCOMPLETE,
    "interrupted": ExitCode.INTERRUPTED,
}


@app.command("run")
def run(
    set_ref: str = typer.Argument("", metavar="SET", help="Set file, folder or name; default: the workspace's set."),
    pipeline: str = typer.Option(
        "",
        "--pipeline",
        "-p",
        help="A pipeline of errata.toml, keyword, logged, module:attr, or a URL; default: the first of errata.toml.",
    ),
    responses: Path | None = typer.Option(None, "--responses", help="JSONL of recorded responses to score instead."),
    corpus: Path | None = CorpusOption,
    judge: str = typer.Option("", "--judge", help="The judge; default: the one errata.toml names, else facts."),
    out: Path | None = typer.Option(None, "--out", "-o", help="Where the report goes; default: the workspace's runs."),
    k: int = typer.Option(10, "-k", min=1, help="How many chunks are retrieved and looked at."),
    repeat: int = typer.Option(1, min=1, help="Run every item this often, to see how steady the system is."),
    concurrency: int = typer.Option(20, "--concurrency", "-c", min=1, help="Calls in flight at once."),
    timeout: float = typer.Option(60.0, min=0.01, help="Seconds that one call may take."),
    item_timeout: float = typer.Option(300.0, min=0.01, help="Seconds that one item may take, retries included."),
    retries: int = typer.Option(3, min=0, help="How often a call is tried again after a passing fault; 0 never."),
    rate: float | None = typer.Option(None, min=0.001, help="Calls a second at most, to each endpoint."),
    max_calls: int | None = typer.Option(None, min=1, help="Stop cleanly after this many calls."),
    max_seconds: float | None = typer.Option(None, min=0.01, help="Stop cleanly after this many seconds."),
    max_cost: float | None = typer.Option(None, min=0, help="Stop cleanly once answers have cost this much."),
    max_error_share: float = typer.Option(
        0.1, min=0, max=1, help="Share of items that may end in an error before the run counts as incomplete (exit 4)."
    ),
    resume: bool = typer.Option(False, "--resume", help="Go on with the journal beside --out; no call is made twice."),
    retry_failed: bool = typer.Option(False, help="With --resume: make calls again that ended in an error."),
    also: list[Path] = typer.Option(
        [], "--also", help="Write the report in another format too, by suffix: .md, .html, .xml, .txt. Repeatable."
    ),
    metric: list[str] = typer.Option(
        [], "--metric", help="Score this metric too, such as words_within@5-120 or recall@3. Repeatable."
    ),
    embeddings: str = typer.Option(
        "", help="Measure grounded_meaning by this sentence model, such as minilm-int8 (extra embeddings)."
    ),
    cache: Path | None = typer.Option(None, help="Keep successful calls in this file and reuse them in later runs."),
    split: str = typer.Option(
        "dev",
        help="dev; all: dev, and held-out items in aggregates, which is recorded as a look; holdout: only the look.",
    ),
    place: Path | None = typer.Option(None, "--holdout", metavar="FILE", help="Where the held-out items are."),
    by: str = typer.Option("", "--by", help="Who looks at the held-out items; default: git's user.name."),
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> int:
    """Run a pipeline over a set and write the report: exit 0 done, 4 incomplete, 130 interrupted."""
    from curation_app.cli.holdout_commands import write_look
    from curation_app.cli.run_progress import progress_bar
    from curation_app.service.holding_out import LookRequest, RunSplit, carry_out_split
    from curation_app.service.running import RunRequest
    from curation_app.service.set_places import person
    from evalsets.metrics.registry import metrics_named
    from evalsets.report_formats import format_of
    from evalsets.running.settings import RunSettings

    if split not in list(RunSplit):
        raise BadInputError(f"--split {split!r}: the splits are {', '.join(RunSplit)}")
    for path in also:
        format_of(path)
    metrics_named(metric)

    if resume and out is None:
        raise BadInputError("--resume needs --out: the report whose run is to go on")
    settings = RunSettings(
        k=k,
        repeat=repeat,
        concurrency=concurrency,
        call_timeout_s=timeout,
        item_timeout_s=item_timeout,
        retries=retries,
        calls_per_s=rate,
        max_calls=max_calls,
        max_seconds=max_seconds,
        max_cost=max_cost or None,
        max_error_share=max_error_share,
        metrics=tuple(metric),
        embeddings=embeddings,
        cache_path=cache,
    )
    request = RunRequest(set_ref, pipeline, responses, corpus, judge, out, resume, retry_failed, settings)
    chosen = RunSplit(split)
    asked = LookRequest(person(by) if chosen is not RunSplit.DEV else "", place)
    with progress_bar() as observer:
        done, looked = carry_out_split(request, workspace, chosen, asked, observer)
    if done is not None:
        _write_run(done, also, as_json=as_json)
    if looked is not None and done is None and as_json:
        write_json(looked.look.model_dump(mode="json") | {"looks": looked.looks, "sentence": looked.sentence})
    elif looked is not None:
        (say(looked.sentence) if as_json else write_look(looked))
    return _STATUS_CODES[done.report.status] if done is not None else ExitCode.DONE


def _write_run(result: "RunResult", also: list[Path], *, as_json: bool) -> None:
    from evalsets.report_formats import format_of, render

    for path in also:
        write_result(render(result.report, format_of(path), result.clock), path)
    if as_json:
        write_json(result.report)
    else:
        write_result(render(result.report, "text", result.clock))
    say(f"report: {result.path}")


@app.command("report")
def report(
    path: Path = typer.Argument(..., metavar="REPORT", help="A report written by `errata run`."),
    form: str = typer.Option(
        "", "--format", "-f", help="text, markdown, html, junit or json; default: by --out, or text."
    ),
    out: Path | None = typer.Option(None, "--out", "-o", help="File to write; default: stdout."),
) -> None:
    """Render a report again, in any format; the clock's readings beside it are used when they are there."""
    from evalsets.report import Report
    from evalsets.report_formats import FORMATS, format_of, render
    from evalsets.running.clock import load_clock

    chosen = form or (format_of(out) if out else "text")
    if chosen not in FORMATS:
        raise BadInputError(f"--format {chosen!r}: the formats are {', '.join(FORMATS)}")
    text = render(Report.load(path), chosen, load_clock(path))
    write_result(text, out)


@app.command("sweep")
def sweep(
    set_ref: str = typer.Argument("", metavar="SET", help="Set file, folder or name; default: the workspace's set."),
    grid: list[str] = typer.Option(
        ..., "--grid", "-g", help="NAME=VALUE,VALUE,...: a setting of the pipeline, or k, and its values. Repeatable."
    ),
    expect: str = typer.Option(..., "--expect", help="What you expect to see; written down before the first run."),
    pipeline: str = typer.Option("", "--pipeline", "-p", help="A pipeline of errata.toml, keyword, or module:attr."),
    corpus: Path | None = CorpusOption,
    judge: str = typer.Option("", "--judge", help="The judge; default: the one errata.toml names, else facts."),
    out: Path | None = typer.Option(
        None, "--out", "-o", help="Folder of the reports; default: in the workspace's runs."
    ),
    k: int = typer.Option(10, "-k", min=1, help="How many chunks are retrieved and looked at."),
    concurrency: int = typer.Option(20, "--concurrency", "-c", min=1, help="Calls in flight at once."),
    metric: list[str] = typer.Option(["grounded_tokens"], "--metric", help="Metric shown in the table. Repeatable."),
    resume: bool = typer.Option(False, "--resume", help="With --out: go on with a sweep that was cut off."),
    form: str = typer.Option("text", "--format", "-f", help="text or markdown."),
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> None:
    """Run a grid of pipeline settings and print one table: the figures of each point and what moved."""
    from curation_app.service.running import RunRequest
    from curation_app.service.sweeping import SweepRequest, carry_out_sweep
    from evalsets.report_formats.sweep_table import render_sweep_markdown, render_sweep_text
    from evalsets.running.settings import RunSettings
    from evalsets.sweep import parse_grid

    if form not in {"text", "markdown"}:
        raise BadInputError(f"--format {form!r}: the formats are text, markdown")
    run_settings = RunSettings(k=k, concurrency=concurrency)
    request = RunRequest(set_ref, pipeline, None, corpus, judge, None, resume, settings=run_settings)
    result = carry_out_sweep(SweepRequest(request, parse_grid(grid), expect, out), workspace)
    if as_json:
        write_json(result.sweep)
    else:
        write_result((render_sweep_text if form == "text" else render_sweep_markdown)(result.sweep, metric))
    say(f"sweep: {result.folder}")

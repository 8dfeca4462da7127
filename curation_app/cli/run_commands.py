"""Commands that run a pipeline, gate its report and move the baseline."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from curation_app.cli.output import JsonOption, WorkspaceOption, say, write_json, write_line
from evalsets.errors import BadInputError, ExitCode

if TYPE_CHECKING:
    from evalsets.gate import GateResult, Tolerances

app = typer.Typer()
baseline_app = typer.Typer(help="The report a gate compares with.", no_args_is_help=True)
app.add_typer(baseline_app, name="baseline")

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
    corpus: Path | None = typer.Option(None, "--corpus", help="JSONL of chunks; default: the workspace's chunk store."),
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
    cache: Path | None = typer.Option(None, help="Keep successful calls in this file and reuse them in later runs."),
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> int:
    """Run a pipeline over a set and write the report: exit 0 done, 4 incomplete, 130 interrupted."""
    from curation_app.cli.run_progress import progress_bar
    from curation_app.service.running import RunRequest, carry_out
    from evalsets.report_formats.text import render_text
    from evalsets.run_settings import RunSettings

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
        cache_path=cache,
    )
    request = RunRequest(set_ref, pipeline, responses, corpus, judge, out, resume, retry_failed, settings)
    with progress_bar() as observer:
        result = carry_out(request, workspace, observer)
    if as_json:
        write_json(result.report)
    else:
        sys.stdout.write(render_text(result.report, result.clock))
    say(f"report: {result.path}")
    return _STATUS_CODES[result.report.status]


@app.command("gate")
def gate(
    current: Path = typer.Option(
        ..., "--current", "-c", help="Report of the run to gate, or a JSON object of figures."
    ),
    baseline: Path = typer.Option(..., "--baseline", "-b", help="The baseline report, or a JSON object of figures."),
    tolerance: float | None = typer.Option(
        None, min=0, max=1, help="How far any figure may fall; default: 0.03 for metrics, 0.05 for modes."
    ),
    metric: list[str] = typer.Option(
        [], "--metric", help="NAME or NAME=TOLERANCE: gate on this metric too. Repeatable."
    ),
    mode: list[str] = typer.Option([], "--mode", help="MODE=TOLERANCE: the tolerance of one mode. Repeatable."),
    floor: list[str] = typer.Option([], "--floor", help="NAME=VALUE: a metric or mode may not fall below. Repeatable."),
    allow_proxy: bool = typer.Option(False, help="Let metrics decide that see words, not meaning."),
    as_json: bool = JsonOption,
) -> int:
    """Compare a run with its baseline: exit 0 passed, 1 failed, 3 the set no longer fits the corpus, 4 incomplete."""
    from evalsets.gate import evaluate
    from evalsets.json_files import read_json

    limits = _tolerances(tolerance, metric, mode, floor, allow_proxy=allow_proxy)
    result = evaluate(read_json(baseline), read_json(current), limits)
    if as_json:
        write_json(result.wire())
    else:
        _print_gate(result)
    return result.exit_code


@baseline_app.command("set")
def set_baseline(
    report: Path = typer.Argument(..., metavar="REPORT", help="Report of the run that becomes the baseline."),
    reason: str = typer.Option(..., "--reason", help="Why the baseline moves; kept in its history."),
    by: str = typer.Option("", "--by", help="Who moves it; default: git's user.name."),
    folder: Path | None = typer.Option(None, "--folder", help="Folder of the set; default: the workspace's."),
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> None:
    """Make a report the baseline of its set, and record who moved it and why."""
    from curation_app.workspace import find_workspace
    from evalsets import baseline
    from evalsets.report import Report

    loaded = Report.load(report)
    target = folder or find_workspace(workspace).sets_folder / loaded.eval_set.name
    move = baseline.set_baseline(loaded, target, reason=reason, moved_by=by)
    if as_json:
        write_json(move._asdict())
    else:
        write_line(f"baseline of {loaded.eval_set.name}: {target / baseline.BASELINE_NAME} (by {move.moved_by})")


def _tolerances(
    tolerance: float | None, metrics: list[str], modes: list[str], floors: list[str], *, allow_proxy: bool
) -> "Tolerances":
    from evalsets.gate import METRIC_TOLERANCE, MODE_TOLERANCE, Tolerances

    general = METRIC_TOLERANCE if tolerance is None else tolerance
    return Tolerances(
        metric=general,
        mode=MODE_TOLERANCE if tolerance is None else tolerance,
        metrics=_named_numbers(metrics, "--metric", default=general),
        modes=_named_numbers(modes, "--mode"),
        floors=_named_numbers(floors, "--floor"),
        allow_proxy=allow_proxy,
    )


def _named_numbers(words: list[str], option: str, *, default: float | None = None) -> dict[str, float]:
    numbers: dict[str, float] = {}
    for word in words:
        name, _, value = word.partition("=")
        try:
            numbers[name] = float(value) if value or default is None else default
        except ValueError:
            raise BadInputError(
                f"{option} {word!r}: write NAME=NUMBER, as in {option} {name or 'recall@10'}=0.05"
            ) from None
    return numbers


def _print_gate(result: "GateResult") -> None:
    from evalsets.gate import look_at

    for note in result.notes:
        write_line(f"note: {note}")
    for finding in result.findings:
        write_line(f"{'pass' if finding.passed else 'FAIL'}  {finding.sentence}")
    for half in result.halves_to_fix:
        write_line(look_at(half, [finding.name for finding in result.failures if finding.half == half]))
    for warning in result.warnings:
        write_line(f"warning: {warning}")
    write_line("gate passed" if result.passed else "gate failed")

"""Commands that compare runs, gate them and move the baseline."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from curation_app.cli.output import JsonOption, WorkspaceOption, say, write_json, write_line, write_result
from evalsets.errors import BadInputError

if TYPE_CHECKING:
    from evalsets.comparison import Comparison
    from evalsets.gating.gate import Tolerances
    from evalsets.settings import GateSettings

app = typer.Typer()
baseline_app = typer.Typer(help="The report a gate compares with.", no_args_is_help=True)
app.add_typer(baseline_app, name="baseline")


@app.command("gate")
def gate(
    current: Path = typer.Option(..., "--current", "-c", help="Report of the run, or a JSON object of figures."),
    baseline: Path | None = typer.Option(
        None, "--baseline", "-b", help="The baseline report, or a JSON object of figures; default: the set's own."
    ),
    tolerance: float | None = typer.Option(
        None, min=0, max=1, help="How far any figure may fall; default: 0.03 for metrics, 0.05 for modes."
    ),
    metric: list[str] = typer.Option([], "--metric", help="NAME or NAME=TOLERANCE: gate on it too. Repeatable."),
    mode: list[str] = typer.Option([], "--mode", help="MODE=TOLERANCE: the tolerance of one mode. Repeatable."),
    floor: list[str] = typer.Option([], "--floor", help="NAME=VALUE: a figure may not fall below it. Repeatable."),
    require_significant: bool = typer.Option(
        False, "--require-significant", help="Fail only on falls that a paired test calls more than chance."
    ),
    strict_test: bool = typer.Option(
        False, "--strict-test", help="Use McNemar's exact test instead of its mid-p form."
    ),
    scorecard: bool = typer.Option(False, "--scorecard", help="Every metric of the scorecard must clear its bar."),
    every_question: bool = typer.Option(
        False, "--every-question", help="Every question must clear recall, groundedness and correctness."
    ),
    allow_proxy: bool = typer.Option(False, "--allow-proxy", help="Let metrics decide that see words, not meaning."),
    allow_unchecked_judge: bool = typer.Option(
        False, "--allow-unchecked-judge", help="Let a judge decide whose verdicts nobody checked; kept in the result."
    ),
    form: str = typer.Option("text", "--format", "-f", help="text or markdown."),
    out: Path | None = typer.Option(None, "--out", "-o", help="Write the result as JSON to this file too."),
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> int:
    """Compare a run with its baseline: exit 0 passed, 1 failed, 3 the set no longer fits the corpus, 4 incomplete."""
    import json

    from curation_app.service.gating import baseline_of, gate_settings
    from curation_app.service.judging import with_judge_checked
    from evalsets.gating.formats import render_gate
    from evalsets.gating.gate import evaluate
    from evalsets.json_files import read_json

    settings = gate_settings(workspace)
    limits = _tolerances(settings, tolerance, metric, mode, floor)._replace(
        require_significant=require_significant or settings.require_significant,
        strict_test=strict_test or settings.strict_test,
        scorecard=scorecard or settings.scorecard,
        every_question=every_question or settings.every_question,
        allow_proxy=allow_proxy or settings.allow_proxy,
        allow_unchecked_judge=allow_unchecked_judge,
    )
    run = with_judge_checked(read_json(current), workspace)
    result = evaluate(read_json(baseline or baseline_of(run, workspace)), run, limits)
    if out is not None:
        write_result(json.dumps(result.wire(), ensure_ascii=False, indent=1, sort_keys=True) + "\n", out)
    if as_json:
        write_json(result.wire())
    else:
        write_result(render_gate(result, form))
    return result.exit_code


@app.command("compare")
def compare(
    before: Path = typer.Argument(..., metavar="A", help="Report of the earlier run."),
    after: list[Path] = typer.Argument(..., metavar="B...", help="Reports to compare with it, one or more."),
    form: str = typer.Option("text", "--format", "-f", help="text or markdown."),
    answers: bool = typer.Option(True, help="Print the answers of items that broke or were fixed."),
    strict_test: bool = typer.Option(
        False, "--strict-test", help="Use McNemar's exact test instead of its mid-p form."
    ),
    as_json: bool = JsonOption,
) -> None:
    """Put runs side by side: figures with paired tests, items that broke and were fixed, with their answers."""
    from evalsets.comparison import compare as compare_reports
    from evalsets.report import Report

    earlier = Report.load(before)
    comparisons = [compare_reports(earlier, Report.load(path), strict=strict_test) for path in after]
    if as_json:
        wires = [comparison.model_dump(mode="json") for comparison in comparisons]
        write_json(wires[0] if len(wires) == 1 else wires)
        return
    write_result("\n".join(_rendered(comparison, form, answers=answers) for comparison in comparisons))


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
    from curation_app.service.gating import baseline_folder
    from evalsets.gating import baseline
    from evalsets.report import Report

    loaded = Report.load(report)
    target = folder or baseline_folder(loaded.eval_set.name, workspace)
    move = baseline.set_baseline(loaded, target, reason=reason, moved_by=by)
    if as_json:
        write_json(move._asdict())
    else:
        write_line(f"baseline of {loaded.eval_set.name}: {target / baseline.BASELINE_NAME} (by {move.moved_by})")


@baseline_app.command("history")
def baseline_history(
    name: str = typer.Argument("", metavar="SET", help="Name of the set; default: the workspace's."),
    folder: Path | None = typer.Option(None, "--folder", help="Folder of the set; default: the workspace's."),
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> None:
    """List the moves of a baseline: when, who, why, and the accuracy before and after."""
    from curation_app.service.gating import baseline_folder
    from evalsets.gating.baseline import history

    moves = history(folder or baseline_folder(name, workspace))
    if as_json:
        write_json([move._asdict() for move in moves])
        return
    for move in moves:
        before = f"{move.before['answer_accuracy']:.3f}" if move.before else "none"
        accuracy = f"accuracy {before} to {move.figures['answer_accuracy']:.3f}"
        write_line(f"{move.moved_at}  {move.moved_by}  {accuracy}  {move.reason}")
    if not moves:
        say("no baseline was set yet; run `errata baseline set REPORT --reason …`")


def _rendered(comparison: "Comparison", form: str, *, answers: bool) -> str:
    from evalsets.report_formats.comparison_text import render_comparison_markdown, render_comparison_text

    if form == "markdown":
        return render_comparison_markdown(comparison)
    if form != "text":
        raise BadInputError(f"--format {form!r}: the formats are text, markdown")
    return render_comparison_text(comparison, answers=answers)


def _tolerances(
    settings: "GateSettings", tolerance: float | None, metrics: list[str], modes: list[str], floors: list[str]
) -> "Tolerances":
    from evalsets.gating.gate import Tolerances

    general = settings.metric_tolerance if tolerance is None else tolerance
    return Tolerances(
        metric=general,
        mode=settings.mode_tolerance if tolerance is None else tolerance,
        metrics={**settings.metrics, **_named_numbers(metrics, "--metric", default=general)},
        modes={**settings.modes, **_named_numbers(modes, "--mode")},
        floors={**settings.floors, **_named_numbers(floors, "--floor")},
    )


def _named_numbers(words: list[str], option: str, *, default: float | None = None) -> dict[str, float]:
    numbers: dict[str, float] = {}
    for word in words:
        name, _, value = word.partition("=")
        try:
            numbers[name] = default if default is not None and not value else float(value)
        except ValueError:
            example = f"{option} {name or 'recall@10'}=0.05"
            raise BadInputError(f"{option} {word!r}: write NAME=NUMBER, as in {example}") from None
    return numbers

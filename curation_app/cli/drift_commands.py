"""The command that holds a set's gold against a corpus."""

import sys
from collections.abc import Mapping
from pathlib import Path

import typer

from curation_app.cli.output import CorpusOption, JsonOption, Rendering, WorkspaceOption, say, write_json
from curation_app.workspace import find_workspace
from evalsets.chunks import Chunk
from evalsets.errors import ExitCode

app = typer.Typer()


@app.command("drift")
def drift(
    set_ref: str = typer.Argument("", metavar="SET", help="Set file, folder or name; default: the workspace's."),
    corpus: Path | None = CorpusOption,
    fix: bool = typer.Option(False, "--fix", help="Freeze a version with moved and merged gold repaired."),
    to_review: bool = typer.Option(False, "--to-review", help="Put the rest into the review queue; part of --fix."),
    note: str = typer.Option("", "--note", "-m", help="Note of the repaired version; default: says what was repaired."),
    by: str = typer.Option("", "--by", help="Who does this; default: git's user.name."),
    rendering: Rendering = typer.Option(Rendering.TEXT, "--format", "-f", help="text, markdown or json."),
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> int:
    """Sort each gold chunk: valid, moved, merged, split, changed, gone. Exit 3 when gold no longer fits the corpus."""
    from curation_app.service.drifting import drift_of, send_to_review
    from evalsets.sets.drift_formats import render_drift, render_drift_markdown

    drifted = drift_of(set_ref, corpus, workspace)
    if as_json or rendering is Rendering.JSON:
        counts = {kind.value: count for kind, count in drifted.report.counts().items()}
        write_json(drifted.report.model_dump(mode="json") | {"fits": drifted.report.fits, "counts": counts})
    elif rendering is Rendering.MARKDOWN:
        sys.stdout.write(render_drift_markdown(drifted.report))
    else:
        sys.stdout.write(render_drift(drifted.report))
    if drifted.report.fits:
        return ExitCode.DONE
    if fix:
        return _repair(drifted.eval_set.name, drifted.corpus, workspace, note=note, by=by)
    if to_review:
        say(f"{send_to_review(find_workspace(workspace), drifted)} item(s) went to the review queue")
    return ExitCode.SET_DOES_NOT_FIT_CORPUS


def _repair(name: str, corpus: Mapping[str, Chunk], workspace: Path | None, *, note: str, by: str) -> int:
    from curation_app.service.drifting import drift_in_workspace, plan_repair, repair, send_to_review
    from curation_app.service.set_places import person
    from evalsets.sets.drift import REPAIRABLE
    from evalsets.sets.freezing import Stamp

    space = find_workspace(workspace)
    drifted = drift_in_workspace(space, name, corpus)
    repairs = sum(each.kind in REPAIRABLE for each in drifted.report.gold)
    waiting = len(drifted.report.for_review())
    if drifted.held_out_drift:
        say(f"{drifted.held_out_drift} gold chunk(s) of held-out items need a person: run errata drift on their file")
    if repairs:
        stamp = Stamp(note or f"Repaired {repairs} gold chunk(s) that moved or were merged", person(by))
        result = repair(plan_repair(space, name, drifted, stamp))
        say(f"froze {name} version {result.eval_set.version}: {repairs} gold chunk(s) repaired; see `errata diff`")
    if waiting:
        send_to_review(space, drifted)
        say(f"{waiting} item(s) wait in the review queue with both texts")
    return ExitCode.SET_DOES_NOT_FIT_CORPUS if waiting else ExitCode.DONE

"""The command that looks at the held-out part of a set, in aggregates, and keeps count."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from curation_app.cli.output import CorpusOption, JsonOption, WorkspaceOption, say, write_json, write_line

if TYPE_CHECKING:
    from curation_app.service.holding_out import Looked

app = typer.Typer()


@app.command("holdout")
def holdout(
    set_ref: str = typer.Argument("", metavar="SET", help="Folder or name of a set; default: the workspace's."),
    ledger: bool = typer.Option(False, "--ledger", help="Only list the looks so far; runs nothing."),
    pipeline: str = typer.Option("", "--pipeline", "-p", help="As for `errata run`."),
    responses: Path | None = typer.Option(None, "--responses", help="JSONL of recorded responses, for both parts."),
    corpus: Path | None = CorpusOption,
    judge: str = typer.Option("", "--judge", help="The judge; default: the one errata.toml names, else facts."),
    k: int = typer.Option(10, "-k", min=1, help="How many chunks are retrieved and looked at."),
    place: Path | None = typer.Option(None, "--holdout", metavar="FILE", help="Where the held-out items are."),
    by: str = typer.Option("", "--by", help="Who looks; default: git's user.name."),
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> None:
    """Run a pipeline on dev and held-out items, print aggregates and their gap only, and record the look."""
    from curation_app.service.holding_out import LookRequest, ledger_of, look_at_holdout
    from curation_app.service.running import RunRequest
    from curation_app.service.set_places import person
    from evalsets.running.settings import RunSettings
    from evalsets.sets.holdout_ledger import judged_gap

    if ledger:
        looks = ledger_of(set_ref, workspace)
        if as_json:
            write_json([look.model_dump(mode="json") for look in looks])
            return
        for look in looks:
            write_line(f"{look.looked_at:%Y-%m-%d %H:%M}  {look.looked_by}  {look.pipeline}  gap {100 * look.gap:+.0f}")
        say(judged_gap(looks))
        return
    request = RunRequest(set_ref, pipeline, responses, corpus, judge, settings=RunSettings(k=k))
    looked = look_at_holdout(request, workspace, LookRequest(person(by), place))
    if as_json:
        write_json(looked.look.model_dump(mode="json") | {"looks": looked.looks, "sentence": looked.sentence})
        return
    write_look(looked)


def write_look(looked: "Looked") -> None:
    """Write what a look found: both parts in aggregates, and what the gap between them means."""
    for name, part in (("dev", looked.look.dev), ("holdout", looked.look.holdout)):
        recall = "none" if part.retrieval_recall is None else f"{part.retrieval_recall:.2f}"
        write_line(
            f"{name:<8} {part.passed:g} of {part.items} passed  recall {recall}  refusals {part.refusal_rate:.2f}"
        )
    write_line(looked.sentence)

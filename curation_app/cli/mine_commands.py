"""Commands of mining: `mine`, `queue`, `signals` and `batch`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from curation_app.cli.output import JsonOption, WorkspaceOption, say, write_json, write_line
from curation_app.workspace import find_workspace
from evalsets.errors import BadInputError

if TYPE_CHECKING:
    from curation_app.service.mining import MinedWorkspace
    from ingest.mining.candidates import Candidate

app = typer.Typer()


@app.command()
def mine(
    workspace: Path | None = WorkspaceOption,
    full: bool = typer.Option(False, "--full", help="Read the whole log again, not only what changed."),
    engine: str = typer.Option("duckdb", "--engine", help="duckdb mines this workspace's log; spark mines --input."),
    source: str = typer.Option("", "--input", help="Spark: exported interactions, a path or URL Spark can read."),
    target: str = typer.Option("", "--output", help="Spark: folder to write the best candidates to."),
    master: str = typer.Option("", "--master", help="Spark: where to run, such as local[4]; default: as configured."),
    import_from: Path | None = typer.Option(None, "--import", help="Queue what a run on Spark wrote to this folder."),
    as_json: bool = JsonOption,
) -> None:
    """Find the interactions that were voted down, asked again, abandoned or declined, and queue them for review."""
    from curation_app.presence import step_back_for_reviewers
    from curation_app.service.mining import import_mined, mine_to_lake, mine_workspace

    place = find_workspace(workspace)
    step_back_for_reviewers(place)
    if engine == "spark":
        spark = mine_to_lake(place, source, target, master=master)
        say(f"{spark.interactions:,} interactions, {spark.flagged:,} flagged; the best are in {target}.")
        return
    if engine != "duckdb":
        raise BadInputError(f"--engine {engine!r} is not known; use duckdb or spark.")
    if import_from is not None:
        listed = import_mined(place, import_from)
        say(f"{listed.candidates:,} candidates handed to review, {listed.new_candidates:,} of them new.")
        return
    mined = mine_workspace(place, full=full)
    report = mined.report
    if as_json:
        write_json(_figures(mined))
        return
    for count in report.by_signal:
        weak = f" ({count.weak:,} weak)" if count.weak else ""
        write_line(f"{count.signal:<14}{count.flagged:>9,}{weak}")
    say(f"{report.interactions:,} interactions, {report.read:,} read, {report.flagged:,} flagged.")
    say(f"{len(report.queued):,} candidates queued for review, {mined.new_candidates:,} of them new.")
    for note in report.notes:
        say(f"note: {note}")


def _figures(mined: "MinedWorkspace") -> dict[str, Any]:
    report = mined.report
    return {
        "interactions": report.interactions,
        "read": report.read,
        "flagged": report.flagged,
        "by_signal": [count._asdict() for count in report.by_signal],
        "notes": report.notes,
        "is_incremental": report.is_incremental,
        "candidates": len(report.queued),
        "new_candidates": mined.new_candidates,
    }


@app.command()
def queue(
    workspace: Path | None = WorkspaceOption,
    signal: str = typer.Option("", "--signal", "-s", help="Only candidates of this signal."),
    limit: int = typer.Option(20, "--limit", "-n", min=1, max=1000, help="How many to list."),
    as_json: bool = JsonOption,
) -> None:
    """List what waits for review, highest priority first, each with the reasons why it is there."""
    from curation_app.review_queue import QueueFilter
    from curation_app.review_store import ReviewStore

    store = ReviewStore(find_workspace(workspace).review_path)
    page = store.queue_page(QueueFilter(signal=signal), page=1, page_size=limit)
    candidates = {each.candidate_id: each for each, _ in store.candidates([row.candidate_id for row in page.rows])}
    rows = [queue_entry(candidates[row.candidate_id]) for row in page.rows]
    if as_json:
        write_json({"total": page.total, "candidates": rows})
        return
    for row in rows:
        write_entry(row)
    say(f"{page.total:,} candidates; the first {len(page.rows):,} are listed.")


def queue_entry(candidate: "Candidate", drawn_for: str = "") -> dict[str, Any]:
    """Return what a list says of one candidate, JSON-ready."""
    suggestion = candidate.suggestion
    return {
        "candidate_id": candidate.candidate_id,
        "priority": candidate.priority,
        "question": candidate.flagged_turn.question,
        "reasons": [f"{hit.signal}: {hit.reason}" for hit in candidate.signals],
        "sampling_signal": candidate.sampling_signal,
        "inclusion_probability": candidate.inclusion_probability,
        "group_size": candidate.group_size,
        "known_item_id": candidate.known_item_id,
        "suggestion": suggestion.model_dump(mode="json") if suggestion else None,
        "drawn_for": drawn_for,
    }


def write_entry(entry: dict[str, Any]) -> None:
    """Print one candidate and why it is there."""
    write_line(f"{entry['priority']:.2f}  {entry['candidate_id']}  {' '.join(entry['question'].split())[:160]}")
    if entry["drawn_for"]:
        write_line(f"      drawn: {entry['drawn_for']}")
    for reason in entry["reasons"]:
        write_line(f"      {' '.join(reason.split())}")
    if entry["group_size"] > 1:
        write_line(f"      stands for {entry['group_size']} that ask the same")
    if entry["known_item_id"]:
        write_line(f"      already in the set as {entry['known_item_id']}")
    if entry["suggestion"]:
        write_line(f"      perhaps {entry['suggestion']['mode']}: {entry['suggestion']['evidence']}")


@app.command()
def batch(
    workspace: Path | None = WorkspaceOption,
    size: int = typer.Option(50, "--size", "-n", min=1, max=1000, help="How many candidates to draw."),
    seed: int | None = typer.Option(None, "--seed", help="Draws the same batch again; default: queue.seed."),
    as_json: bool = JsonOption,
) -> None:
    """Draw an afternoon's work: highest priority first, spread over groups, signals and weeks, with a control share."""
    from curation_app.service.mining import draw_from_queue

    drawn = draw_from_queue(find_workspace(workspace), size, seed=seed)
    entries = [queue_entry(each.candidate, each.reason) for each in drawn.drawn]
    if as_json:
        write_json({"batch": drawn.name, "candidates": entries})
        return
    for entry in entries:
        write_entry(entry)
    say(f"batch {drawn.name}: {len(entries):,} candidates. Filter the Queue page by this batch to label it.")


@app.command()
def signals(workspace: Path | None = WorkspaceOption, as_json: bool = JsonOption) -> None:
    """List the signals: what each means, whether it is switched on and what it weighs in the queue."""
    from ingest.signals.registry import all_signals

    settings = find_workspace(workspace).settings()
    rows = [
        {
            "name": signal.name,
            "meaning": signal.meaning,
            "enabled": signal.name not in settings.signals.disabled,
            "weight": settings.queue.weight(signal.name),
        }
        for signal in all_signals()
    ]
    if as_json:
        write_json(rows)
        return
    for row in rows:
        state = f"weight {row['weight']:.2f}" if row["enabled"] else "off"
        write_line(f"{row['name']:<13}{state:<13}{row['meaning']}")

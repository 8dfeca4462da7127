"""Commands of mining: `mine`, `queue`, `signals` and `batch`."""

from pathlib import Path

import typer

from curation_app.cli.output import JsonOption, WorkspaceOption, say, write_json, write_line
from curation_app.workspace import find_workspace

app = typer.Typer()


@app.command()
def mine(
    workspace: Path | None = WorkspaceOption,
    full: bool = typer.Option(False, "--full", help="Read the whole log again, not only what changed."),
    as_json: bool = JsonOption,
) -> None:
    """Find the interactions that were voted down, asked again, abandoned or declined, and queue them for review."""
    from curation_app.review_store import ReviewStore
    from ingest.log_store import LogStore
    from ingest.mining import mine as run_mining

    place = find_workspace(workspace)
    settings = place.settings()
    report = run_mining(LogStore(place.logs_path), settings.signals, settings.queue, full=full)
    added = ReviewStore(place.review_path).add_candidates(list(report.candidates))
    if as_json:
        write_json(
            {
                **report._replace(candidates=())._asdict(),
                "by_signal": [count._asdict() for count in report.by_signal],
                "candidates": len(report.candidates),
                "new_candidates": added,
            }
        )
        return
    for count in report.by_signal:
        weak = f" ({count.weak:,} weak)" if count.weak else ""
        write_line(f"{count.signal:<14}{count.flagged:>9,}{weak}")
    say(f"{report.interactions:,} interactions, {report.read:,} read, {report.flagged:,} flagged.")
    say(f"{len(report.candidates):,} candidates handed to review, {added:,} of them new.")
    for note in report.notes:
        say(f"note: {note}")


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

    place = find_workspace(workspace)
    store = ReviewStore(place.review_path)
    page = store.queue_page(QueueFilter(signal=signal), page=1, page_size=limit)
    rows = [
        {
            "candidate_id": row.candidate_id,
            "priority": row.priority,
            "signals": list(row.signals),
            "question": row.question,
        }
        for row in page.rows
    ]
    if as_json:
        write_json({"total": page.total, "candidates": rows})
        return
    for row in page.rows:
        write_line(f"{row.priority:.2f}  {row.candidate_id}  {row.question}")
        write_line(f"      {', '.join(row.signals)}")
    say(f"{page.total:,} candidates; the first {len(page.rows):,} are listed.")


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

"""What the ingest page and the ingest commands do: preview, ingest, list rejects, add to the corpus."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel

from curation_app.labels import origin_hash
from curation_app.review_store import ReviewStore
from curation_app.workspace import Workspace
from evalsets.errors import BadInputError, ErrataError
from evalsets.sets.file import load
from ingest import daily
from ingest.adapters import iter_adapters
from ingest.corpus import store as corpus
from ingest.corpus.reading import CorpusReport
from ingest.forgetting import forget_before, forget_user
from ingest.ingest_report import IngestReport
from ingest.loading import Progress, ingest
from ingest.log_store import LogStore
from ingest.previewing import PreviewReport, preview
from ingest.reading.probing import probe
from ingest.reading.sources import find_files
from ingest.retrying import retry_rejects
from ingest.suggesting.mapping import suggest


def log_store(workspace: Workspace) -> LogStore:
    """Return the log store of a workspace."""
    return LogStore(workspace.logs_path)


def named_mappings(workspace: Workspace) -> dict[str, Path]:
    """Return the mappings that errata.toml names, by name."""
    return {name: workspace.root / file for name, file in workspace.settings().logs.mappings.items()}


def run_ingest(  # noqa: PLR0913 - one parameter for each option of the command
    workspace: Workspace,
    paths: Iterable[str | Path],
    *,
    mapping: str | None = None,
    format_name: str = "",
    strict: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
    shown_names: dict[str, str] | None = None,
) -> IngestReport:
    """Ingest files into a workspace as its errata.toml says."""
    settings = workspace.settings()
    store = log_store(workspace)
    report = ingest(
        paths,
        store=store,
        mapping=mapping,
        format=format_name,
        mappings=named_mappings(workspace),
        logs=settings.logs,
        privacy=settings.privacy,
        strict=strict,
        on_progress=on_progress,
        shown_names=shown_names,
    )
    with store.unit() as connection:
        daily.ensure_in_step(connection)
    return report


def show_preview(
    workspace: Workspace,
    paths: Iterable[str | Path],
    *,
    mapping: str | None = None,
    format_name: str = "",
    shown_names: dict[str, str] | None = None,
) -> PreviewReport:
    """Map the first records of the files of each format, with nothing stored."""
    return preview(
        paths,
        mapping=mapping,
        format_name=format_name,
        mappings=named_mappings(workspace),
        privacy=workspace.settings().privacy,
        shown_names=shown_names,
    )


def suggest_mapping(path: str | Path) -> str:
    """Return a proposed mapping, as YAML, for the first file at `path`."""
    return suggest(probe(find_files([path])[0]))


def retry_quarantine(workspace: Workspace, *, mapping: str | None = None, format_name: str = "") -> IngestReport:
    """Take the quarantined records again."""
    settings = workspace.settings()
    return retry_rejects(
        log_store(workspace),
        mapping=mapping,
        format_name=format_name,
        mappings=named_mappings(workspace),
        logs=settings.logs,
        privacy=settings.privacy,
    )


def list_formats() -> list[tuple[str, str]]:
    """Return the name and description of everything that is read without a mapping of one's own."""
    return [(adapter.name, adapter.description) for adapter in iter_adapters()]


class ForgetReport(BaseModel):
    """What forgetting deleted, and what was labelled from it and stays: sets and labels are a person's to mend."""

    interactions: int
    spans: int
    rejects: int
    candidates: list[str]
    """Candidates in review that were drawn from deleted interactions."""
    items: list[str]
    """Items of eval sets, as set/item, that were labelled from deleted interactions."""


def forget(workspace: Workspace, *, user: str = "", before: datetime | None = None) -> ForgetReport:
    """Delete a user, or all before a time, from the log store, and name what was labelled from it."""
    if (before is None) == (not user):
        raise BadInputError("say either --user ID or --before DATE.")
    store = log_store(workspace)
    gone = forget_user(store, user) if before is None else forget_before(store, before)
    touched = set(gone.interaction_ids)
    return ForgetReport(
        interactions=len(touched),
        spans=gone.spans,
        rejects=gone.rejects,
        candidates=_touched_candidates(workspace, touched),
        items=_touched_items(workspace, touched),
    )


def _touched_candidates(workspace: Workspace, touched: set[str]) -> list[str]:
    if not workspace.review_path.exists() or not touched:
        return []
    with ReviewStore(workspace.review_path).unit() as connection:
        rows = connection.execute("SELECT candidate_id, interaction_id FROM candidates ORDER BY 1").fetchall()
    return [candidate for candidate, interaction_id in rows if interaction_id in touched]


def _touched_items(workspace: Workspace, touched: set[str]) -> list[str]:
    origins = {origin_hash(interaction_id) for interaction_id in touched}
    found: list[str] = []
    for file in sorted(workspace.sets_folder.glob("*/*.json")):
        try:
            items = load(file).items
        except ErrataError:
            continue
        found.extend(
            f"{file.parent.name}/{item.id}" for item in items if item.origin and item.origin.interaction in origins
        )
    return found


def add_corpus(workspace: Workspace, paths: Sequence[str | Path], *, from_logs: bool = False) -> CorpusReport:
    """Add files, or the chunks seen in the logs, to the chunk store of a workspace."""
    store = log_store(workspace)
    return corpus.add_from_logs(store) if from_logs else corpus.add(paths, store)

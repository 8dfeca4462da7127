"""What the ingest page and the ingest commands do: preview, ingest, list rejects, add to the corpus."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from curation_app.workspace import Workspace
from ingest import corpus
from ingest.ingest_report import IngestReport
from ingest.loading import Progress, ingest
from ingest.log_store import LogStore


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
) -> IngestReport:
    """Ingest files into a workspace as its errata.toml says."""
    settings = workspace.settings()
    return ingest(
        paths,
        store=log_store(workspace),
        mapping=mapping,
        format=format_name,
        mappings=named_mappings(workspace),
        logs=settings.logs,
        privacy=settings.privacy,
        strict=strict,
        on_progress=on_progress,
    )


def add_corpus(workspace: Workspace, paths: Sequence[str | Path], *, from_logs: bool = False) -> corpus.CorpusReport:
    """Add files, or the chunks seen in the logs, to the chunk store of a workspace."""
    store = log_store(workspace)
    return corpus.add_from_logs(store) if from_logs else corpus.add(paths, store)

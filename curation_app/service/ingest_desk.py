"""What the Ingest page shows and does: uploads kept only while they are read, previews, reports and quarantine."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

from curation_app.service.ingesting import (
    add_corpus,
    list_formats,
    log_store,
    named_mappings,
    run_ingest,
    show_preview,
    suggest_mapping,
)
from curation_app.workspace import Workspace
from evalsets.errors import BadInputError
from ingest.corpus.reading import CorpusReport
from ingest.ingest_report import IngestReport
from ingest.previewing import PreviewReport
from ingest.quarantine import RejectedRecord, list_rejects
from ingest.spooling import scratch_folder

BY_CONTENT = "Told by the content"
WRITTEN_BELOW = "The mapping written below"
REJECTS_A_PAGE = 50
_MAPPING_PREFIX = "Mapping: "


class Upload(Protocol):
    """A file a person has chosen in the browser."""

    name: str

    def getbuffer(self) -> memoryview:
        """Return its bytes."""


class Source(NamedTuple):
    """What is to be read: uploaded files, or else a path on the server, and how."""

    uploads: Sequence[Upload]
    path: str
    read_as: str
    mapping_text: str

    @property
    def is_named(self) -> bool:
        """Whether there is anything to read."""
        return bool(self.uploads or self.path.strip())


class Stored(NamedTuple):
    """What the log store holds."""

    interactions: int
    corpus_chunks: int
    rejects: int


def ways_to_read(workspace: Workspace) -> list[str]:
    """Return the choices of how a log is read: by content, own mappings, the mapping on the page, known formats."""
    own = [_MAPPING_PREFIX + name for name in named_mappings(workspace)]
    return [BY_CONTENT, *own, WRITTEN_BELOW, *(name for name, _ in list_formats())]


def preview_source(workspace: Workspace, source: Source) -> PreviewReport:
    """Map the first records of what is to be read, with nothing stored."""
    with _files(workspace, source) as places, _way(workspace, source) as (mapping, format_name):
        return show_preview(workspace, places, mapping=mapping, format_name=format_name, shown_names=places)


def ingest_source(workspace: Workspace, source: Source, *, strict: bool = False) -> IngestReport:
    """Ingest what is to be read."""
    with _files(workspace, source) as places, _way(workspace, source) as (mapping, format_name):
        return run_ingest(
            workspace, list(places), mapping=mapping, format_name=format_name, strict=strict, shown_names=places
        )


def propose_mapping(workspace: Workspace, source: Source) -> str:
    """Return a mapping proposed for what is to be read."""
    with _files(workspace, source) as places:
        return suggest_mapping(next(iter(places)))


def add_to_corpus(workspace: Workspace, uploads: Sequence[Upload], path: str) -> CorpusReport:
    """Add uploaded files, or a path on the server, to the corpus."""
    with _files(workspace, Source(uploads, path, BY_CONTENT, "")) as places:
        return add_corpus(workspace, list(places))


def stored(workspace: Workspace) -> Stored:
    """Return how much the log store holds."""
    store = log_store(workspace)
    if not store.exists:
        return Stored(0, 0, 0)
    with store.unit() as connection:
        interactions, chunks, rejects = connection.execute(
            "SELECT (SELECT count(*) FROM interactions), (SELECT count(*) FROM corpus_chunks),"
            " (SELECT count(*) FROM rejects)"
        ).fetchall()[0]
    return Stored(interactions, chunks, rejects)


def rejects_page(workspace: Workspace, page: int) -> list[RejectedRecord]:
    """Return one page of quarantined records; pages count from 1."""
    return list_rejects(log_store(workspace), offset=(page - 1) * REJECTS_A_PAGE, limit=REJECTS_A_PAGE)


@contextmanager
def _files(workspace: Workspace, source: Source) -> Iterator[dict[str, str]]:
    """Yield the places of what is to be read with the names to call them by; uploads are removed afterwards."""
    if not source.is_named:
        raise BadInputError("choose a file to upload, or name a path on the server.")
    if not source.uploads:
        yield {source.path.strip(): source.path.strip()}
        return
    with scratch_folder(workspace.logs_path.parent) as folder:
        places = {}
        for number, upload in enumerate(source.uploads):
            place = folder / str(number) / Path(upload.name).name
            place.parent.mkdir()
            place.write_bytes(upload.getbuffer())
            places[str(place)] = upload.name
        yield places


@contextmanager
def _way(workspace: Workspace, source: Source) -> Iterator[tuple[str | None, str]]:
    if source.read_as == BY_CONTENT:
        yield None, ""
    elif source.read_as.startswith(_MAPPING_PREFIX):
        yield source.read_as.removeprefix(_MAPPING_PREFIX), ""
    elif source.read_as != WRITTEN_BELOW:
        yield None, source.read_as
    else:
        with scratch_folder(workspace.logs_path.parent) as folder:
            place = folder / "mapping.yaml"
            place.write_text(source.mapping_text, encoding="utf-8")
            yield str(place), ""

"""What the buttons of the Ingest page do; each leaves its outcome for the page to show."""

from collections.abc import Callable
from typing import Any

from curation_app import session_keys
from curation_app.service.ingest_desk import (
    WRITTEN_BELOW,
    Source,
    add_to_corpus,
    ingest_source,
    preview_source,
    propose_mapping,
)
from curation_app.service.overview import forget_counts
from curation_app.workspace import Workspace
from evalsets.errors import ErrataError


def chosen_source() -> Source:
    """Return what the page's widgets say is to be read."""
    value = session_keys.widget_value
    is_upload = value(session_keys.INGEST_FROM) != "Path on the server"
    return Source(
        uploads=value(session_keys.INGEST_UPLOADS) or [] if is_upload else [],
        path="" if is_upload else value(session_keys.INGEST_PATH) or "",
        read_as=value(session_keys.INGEST_READ_AS),
        mapping_text=value(session_keys.INGEST_MAPPING) or "",
    )


def preview(workspace: Workspace) -> None:
    """Preview what is chosen."""
    session_keys.set_widget(session_keys.INGEST_REPORT, None)
    _attempt(session_keys.INGEST_PREVIEW, lambda: preview_source(workspace, chosen_source()))


def ingest(workspace: Workspace) -> None:
    """Ingest what is chosen."""
    strict = bool(session_keys.widget_value(session_keys.INGEST_STRICT))
    session_keys.set_widget(session_keys.INGEST_PREVIEW, None)
    _attempt(session_keys.INGEST_REPORT, lambda: ingest_source(workspace, chosen_source(), strict=strict))
    forget_counts()


def propose(workspace: Workspace) -> None:
    """Put a proposed mapping into the mapping field."""
    if _attempt(session_keys.INGEST_MAPPING, lambda: propose_mapping(workspace, chosen_source())):
        session_keys.set_widget(session_keys.INGEST_READ_AS, WRITTEN_BELOW)


def add_corpus(workspace: Workspace) -> None:
    """Add what is chosen to the corpus."""
    uploads = session_keys.widget_value(session_keys.INGEST_CORPUS_UPLOADS) or []
    path = session_keys.widget_value(session_keys.INGEST_CORPUS_PATH) or ""
    _attempt(session_keys.INGEST_CORPUS_REPORT, lambda: add_to_corpus(workspace, uploads, path))


def _attempt(key: str, action: Callable[[], Any]) -> bool:
    session_keys.set_widget(session_keys.INGEST_PROBLEM, "")
    try:
        session_keys.set_widget(key, action())
    except ErrataError as error:
        session_keys.set_widget(session_keys.INGEST_PROBLEM, str(error))
        return False
    return True

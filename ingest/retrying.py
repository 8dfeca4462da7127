"""Takes quarantined records again, through a mended mapping or a newer adapter."""

from collections.abc import Mapping
from pathlib import Path

from evalsets.errors import BadInputError
from ingest.adapters.mapping_file import MappingFile
from ingest.ingest_report import IngestReport
from ingest.loading import ingest
from ingest.log_store import LogStore
from ingest.quarantine import drop_rejects, iter_raw, list_rejects
from ingest.settings import LogSettings, PrivacySettings
from ingest.spooling import scratch_folder


def retry_rejects(  # noqa: PLR0913 - one parameter for each option of the command
    store: LogStore,
    *,
    mapping: str | Path | MappingFile | None,
    format_name: str = "",
    mappings: Mapping[str, Path] | None = None,
    logs: LogSettings | None = None,
    privacy: PrivacySettings | None = None,
) -> IngestReport:
    """Ingest every quarantined record again and return the account; what is still bad stays in quarantine.

    Raises BadInputError when there is nothing in quarantine, or neither mapping nor format is named.
    """
    if mapping is None and not format_name:
        raise BadInputError("say with --mapping or --format how the quarantined records are to be read.")
    if not list_rejects(store, limit=1):
        raise BadInputError("nothing is in quarantine.")
    with scratch_folder(store.path.parent) as folder:
        spool = folder / "quarantined.jsonl"
        places = _write_spool(store, spool)
        report = ingest(
            [spool],
            store=store,
            mapping=mapping,
            format=format_name,
            mappings=mappings,
            logs=logs,
            privacy=privacy,
        )
        _settle(store, report, str(spool), places)
    return report


def _write_spool(store: LogStore, spool: Path) -> list[str]:
    keys = []
    with spool.open("wb") as stream:
        for reject, raw in iter_raw(store):
            keys.append(reject.reject_key)
            stream.write(raw.replace(b"\n", b" ") + b"\n")
    return keys


def _settle(store: LogStore, report: IngestReport, spool: str, keys: list[str]) -> None:
    """Drop what was taken; what failed again keeps its old entry, with the new reason."""
    with store.unit() as connection:
        failed = dict(connection.execute("SELECT line, reason FROM rejects WHERE file = ?", [spool]).fetchall())
        connection.execute("DELETE FROM rejects WHERE file = ?", [spool])
        connection.execute("DELETE FROM ingested_files WHERE file = ?", [spool])
        for line, reason in failed.items():
            if 0 < line <= len(keys):
                connection.execute("UPDATE rejects SET reason = ? WHERE reject_key = ?", [reason, keys[line - 1]])
    drop_rejects(store, [key for line, key in enumerate(keys, 1) if line not in failed])
    for account in report.files:
        account.file = "quarantine"
    for reject in report.rejects:
        reject.file = "quarantine"

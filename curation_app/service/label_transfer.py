"""Labels as a file: every candidate, event and change of a sub-code as JSON lines, to keep and to move; and backups."""

import json
import shutil
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from curation_app.labels import LabelEvent
from curation_app.review_store import ReviewStore
from curation_app.workspace import Workspace
from evalsets.errors import BadInputError, FaultsError
from evalsets.items import Mode, Source
from ingest.mining.candidates import Candidate


class TransferReport(NamedTuple):
    """How many of each record were written, or were new to the store."""

    candidates: int
    events: int
    renames: int


class BackupReport(NamedTuple):
    """The archive that was written and what it holds."""

    path: Path
    files: int
    events: int


def export_records(store: ReviewStore) -> Iterator[dict[str, Any]]:
    """Yield every candidate, then every event in order, then the merges and splits of sub-codes."""
    for candidate, source in store.candidates():
        yield {"record": "candidate", "case_source": source.value, "candidate": candidate.model_dump(mode="json")}
    for event in store.events():
        yield {"record": "event", **event.model_dump(mode="json")}
    for step in store.code_renames().steps:
        ids = sorted(step.candidate_ids) if step.candidate_ids is not None else None
        yield {"record": "rename", "mode": step.mode.value, "old": step.old_code, "new": step.new_code, "ids": ids}


def import_records(store: ReviewStore, lines: Iterator[str], *, importer: str) -> TransferReport:
    """Bring in what `export_records` wrote; what is there already is left as it is. Every bad line is named at once."""
    parsed = _parse(lines)
    known = store.known_ids()
    added = 0
    for source in Source:
        fresh = [each for each, of in parsed.candidates if of is source and each.candidate_id not in known]
        added += store.add_candidates(fresh, case_source=source)
    events = store.import_events(parsed.events)
    existing = {(step.mode, step.old_code, step.new_code) for step in store.code_renames().steps}
    renames = [each for each in parsed.renames if (Mode(each["mode"]), each["old"], each["new"]) not in existing]
    for each in renames:
        store.rename_code(Mode(each["mode"]), each["old"], each["new"], reviewer=importer, candidate_ids=each["ids"])
    return TransferReport(added, events, len(renames))


def back_up(workspace: Workspace, store: ReviewStore, target: Path | None = None) -> BackupReport:
    """Write review.duckdb, errata.toml and the eval sets into one zip file, consistent while the app runs."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    path = target or workspace.root / f"errata-backup-{stamp}.zip"
    if path.exists():
        raise BadInputError(f"{path} is there already; name another file")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".part")
    copy = path.with_name(path.name + ".duckdb")
    try:
        events = _copy_store(workspace, store, copy)
        files = _write_archive(workspace, partial, copy)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
        copy.unlink(missing_ok=True)
    return BackupReport(path, files, events)


class _Parsed(NamedTuple):
    candidates: list[tuple[Candidate, Source]]
    events: list[LabelEvent]
    renames: list[dict[str, Any]]


def _parse(lines: Iterator[str]) -> _Parsed:
    parsed, faults = _Parsed([], [], []), []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            _take(parsed, json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
            faults.append(f"line {number}: {reason}")
    if faults:
        raise FaultsError(f"{len(faults)} line(s) cannot be read, so nothing was imported:", faults)
    return parsed


def _take(parsed: _Parsed, record: dict[str, Any]) -> None:
    kind = record.pop("record", None)
    if kind == "candidate":
        parsed.candidates.append((Candidate.model_validate(record["candidate"]), Source(record["case_source"])))
    elif kind == "event":
        parsed.events.append(LabelEvent.model_validate(record))
    elif kind == "rename":
        Mode(record["mode"])
        parsed.renames.append(record)
    else:
        raise ValueError(f"unknown record {kind!r}; a line is a candidate, an event or a rename")


def _copy_store(workspace: Workspace, store: ReviewStore, copy: Path) -> int:
    """Copy review.duckdb while this process holds it, so that no other writes in between."""
    if not workspace.review_path.exists():
        return 0
    with store.unit() as connection:
        connection.execute("CHECKPOINT").fetchall()
        (events,) = connection.execute("SELECT count(*) FROM label_events").fetchall()[0]
        shutil.copyfile(workspace.review_path, copy)
    return int(events)


def _write_archive(workspace: Workspace, partial: Path, copy: Path) -> int:
    sets = sorted(path for path in workspace.sets_folder.rglob("*") if path.is_file())
    entries = [(workspace.config_path, workspace.config_path.name)]
    entries += [(path, str(path.relative_to(workspace.root))) for path in sets]
    if copy.exists():
        entries.append((copy, str(workspace.review_path.relative_to(workspace.root))))
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, name in entries:
            archive.write(path, name)
    return len(entries)

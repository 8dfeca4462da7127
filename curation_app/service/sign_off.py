"""The sign-off of a version by a second person: one proposes, another, seeing the same content, freezes."""

import hashlib
import json
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from curation_app.workspace import STATE_FOLDER, Workspace
from evalsets.atomic_files import write_over
from evalsets.eval_set import AllowedCheck, EvalSet, wire_item


class Proposal(BaseModel):
    """A version that one person wants frozen; `digest` names its content, so that nothing else gets signed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    digest: str
    proposed_by: str
    note: str
    allow: tuple[AllowedCheck, ...] = ()


def content_digest(after: EvalSet) -> str:
    """Return a digest of what would be frozen, whoever freezes it and whenever."""
    items = [wire_item(item) for item in after.items]
    known = [entry.model_dump(mode="json") for entry in after.known_failing]
    told = json.dumps([after.name, after.version, after.parent_hash, items, known], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()


def propose(workspace: Workspace, after: EvalSet, *, by: str, note: str, allow: tuple[AllowedCheck, ...]) -> Proposal:
    """Record a proposal in place of an older one."""
    proposal = Proposal(digest=content_digest(after), proposed_by=by, note=note, allow=allow)
    write_over(_path(workspace, after.name), proposal.model_dump_json(indent=2).encode())
    return proposal


def open_proposal(workspace: Workspace, after: EvalSet) -> Proposal | None:
    """Return the proposal of exactly this content; None when there is none or the content has changed since."""
    try:
        proposal = Proposal.model_validate_json(_path(workspace, after.name).read_bytes())
    except (OSError, ValidationError):
        return None
    return proposal if proposal.digest == content_digest(after) else None


def clear_proposal(workspace: Workspace, name: str) -> None:
    """Forget the proposal of a set, once it is frozen."""
    _path(workspace, name).unlink(missing_ok=True)


def _path(workspace: Workspace, name: str) -> Path:
    return workspace.root / STATE_FOLDER / "proposals" / f"{name}.json"

"""Where the eval sets of a workspace are, what they were labelled against, and who holds them out."""

import getpass
import os
import secrets
import subprocess
from collections.abc import Iterable
from pathlib import Path

from curation_app.workspace import STATE_FOLDER, Workspace
from evalsets.chunks import Chunk
from evalsets.errors import BadInputError
from evalsets.items import Item
from evalsets.sets.folder import SetFolder
from evalsets.sets.holdout import HoldoutPlan
from ingest.log_store import LogStore

KEY_VARIABLE = "ERRATA_HOLDOUT_KEY"
_NAME_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


def set_name(workspace: Workspace, name: str = "") -> str:
    """Return the name of a set, the workspace's default when none is given; BadInputError when it is no folder name."""
    chosen = name or workspace.settings().sets.default
    if not set(chosen) <= _NAME_LETTERS or chosen.startswith("."):
        raise BadInputError(f"{chosen!r} cannot name a set; use letters, digits, '.', '_' and '-'.")
    return chosen


def set_folder(workspace: Workspace, name: str = "") -> SetFolder:
    """Return the folder of a set, the workspace's default when none is named."""
    return SetFolder(workspace.sets_folder / set_name(workspace, name), holdout_place(workspace))


def set_names(workspace: Workspace) -> list[str]:
    """Return the names of the sets that have a frozen version, the default one first."""
    default = workspace.settings().sets.default
    found = sorted(path.parent.parent.name for path in workspace.sets_folder.glob("*/versions/0001.json"))
    return sorted(found, key=lambda name: name != default)


def holdout_place(workspace: Workspace) -> Path | None:
    """Return where errata.toml says held-out items are written; None: beside the set."""
    place = workspace.settings().sets.holdout_path
    return workspace.root / Path(place).expanduser() if place else None


def holdout_plan(workspace: Workspace) -> HoldoutPlan:
    """Return how new items are held out, with the key from ERRATA_HOLDOUT_KEY or the workspace's own."""
    share = workspace.settings().sets.holdout_share
    key = _holdout_key(workspace) if share > 0 else b""
    return HoldoutPlan(share, key, holdout_place(workspace))


def _holdout_key(workspace: Workspace) -> bytes:
    if given := os.environ.get(KEY_VARIABLE):
        return given.encode()
    path = workspace.root / STATE_FOLDER / "holdout.key"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(secrets.token_hex(32))
    return path.read_text(encoding="utf-8").strip().encode()


def gold_corpus(workspace: Workspace, items: Iterable[Item]) -> dict[str, Chunk] | None:
    """Return the gold chunks of the items that the chunk store holds, by id; None when it holds no chunk at all."""
    return chunks_by_id(workspace, {chunk_id for item in items for chunk_id in item.gold_chunk_ids})


def chunks_by_id(workspace: Workspace, chunk_ids: Iterable[str]) -> dict[str, Chunk] | None:
    """Return those of the named chunks that the chunk store holds; None when it holds no chunk at all."""
    store = LogStore(workspace.logs_path)
    if not store.exists:
        return None
    with store.unit() as connection:
        if not connection.execute("SELECT 1 FROM corpus_chunks LIMIT 1").fetchall():
            return None
        rows = connection.execute(
            "SELECT chunk_id, text, doc_id FROM corpus_chunks WHERE list_contains(?, chunk_id)",
            [sorted(set(chunk_ids))],
        ).fetchall()
    return {chunk_id: Chunk(chunk_id, text, doc_id or "") for chunk_id, text, doc_id in rows}


def whole_corpus(workspace: Workspace) -> dict[str, Chunk] | None:
    """Return every chunk of the chunk store by id; None when there is none."""
    store = LogStore(workspace.logs_path)
    if not store.exists:
        return None
    with store.unit() as connection:
        rows = connection.execute(
            "SELECT chunk_id, text, doc_id FROM corpus_chunks ORDER BY doc_id, position"
        ).fetchall()
    return {chunk_id: Chunk(chunk_id, text, doc_id or "") for chunk_id, text, doc_id in rows} or None


def person(given: str = "") -> str:
    """Return who is at work: the name given, else the one git knows, else the login name."""
    if given:
        return given
    try:
        found = subprocess.run(["git", "config", "user.name"], capture_output=True, text=True, check=False)  # noqa: S607
    except OSError:
        return getpass.getuser()
    return found.stdout.strip() or getpass.getuser()

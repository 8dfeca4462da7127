"""Make a workspace: errata.toml and the ignore entry for its state."""

from pathlib import Path
from typing import NamedTuple

from curation_app.config_template import render_config_template
from curation_app.workspace import STATE_FOLDER, Workspace

IGNORE_NAME = ".gitignore"


class InitResult(NamedTuple):
    """What `errata init` did: each path with whether it was written now."""

    workspace: Workspace
    wrote_config: bool
    wrote_ignore: bool


def make_workspace(folder: Path) -> InitResult:
    """Write errata.toml and the `.gitignore` entry into `folder`, leaving alone what is there already."""
    folder.mkdir(parents=True, exist_ok=True)
    workspace = Workspace(folder.resolve())
    wrote_config = not workspace.config_path.exists()
    if wrote_config:
        workspace.config_path.write_text(render_config_template(), encoding="utf-8")
    return InitResult(workspace, wrote_config, _ignore_state(workspace.root / IGNORE_NAME))


def _ignore_state(path: Path) -> bool:
    entry = f"{STATE_FOLDER}/"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if entry in (line.strip() for line in text.splitlines()):
        return False
    separator = "" if not text or text.endswith("\n") else "\n"
    path.write_text(f"{text}{separator}{entry}\n", encoding="utf-8")
    return True

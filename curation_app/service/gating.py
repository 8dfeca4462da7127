"""What gates and baselines read of a workspace."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from curation_app.service.running import workspace_or_none
from curation_app.service.set_places import set_name
from curation_app.workspace import Settings, find_workspace
from evalsets.errors import BadInputError
from evalsets.gating.baseline import BASELINE_NAME
from evalsets.settings import GateSettings


def gate_settings(folder: Path | None) -> GateSettings:
    """Return the gate section of errata.toml, or its defaults outside a workspace."""
    workspace = workspace_or_none(folder)
    return workspace.settings().gate if workspace is not None else Settings().gate


def baseline_folder(name: str, folder: Path | None) -> Path:
    """Return the folder of a set, where its baseline stands: the workspace's, or `evalsets/NAME` without one."""
    workspace = workspace_or_none(folder)
    if workspace is None and name:
        return Path("evalsets") / name
    found = workspace or find_workspace(folder)
    return found.sets_folder / set_name(found, name)


def baseline_of(report: Any, folder: Path | None) -> Path:
    """Return the baseline of the set that a parsed report is of."""
    if not isinstance(report, Mapping) or "eval_set" not in report:
        raise BadInputError("plain figures have no baseline of their own; name one with --baseline")
    path = baseline_folder(report["eval_set"]["name"], folder) / BASELINE_NAME
    if not path.is_file():
        raise BadInputError(f"there is no baseline at {path}; set one with `errata baseline set REPORT --reason …`")
    return path

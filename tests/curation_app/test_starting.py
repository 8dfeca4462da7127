"""Making a workspace and opening the app on it."""

import re
import socket
import tomllib
from pathlib import Path

import pytest

from curation_app.config_template import EXAMPLES, render_config_template
from curation_app.launching import plan_launch
from curation_app.service.starting import make_workspace
from curation_app.workspace import WORKSPACE_VARIABLE, Settings, Workspace, app_workspace
from evalsets.errors import BadInputError


def test_a_fresh_config_says_nothing_but_defaults(tmp_path: Path) -> None:
    result = make_workspace(tmp_path / "new")
    assert result.wrote_config
    assert result.workspace.settings() == Settings()


def test_every_line_of_the_template_is_valid_once_uncommented() -> None:
    uncommented = re.sub(r"^# (?=(\[?[A-Za-z_.-]+\]?$)|([\w-]+ = ))", "", render_config_template(), flags=re.MULTILINE)
    parsed = tomllib.loads(uncommented)
    Settings.model_validate(parsed)
    assert parsed["queue"]["weights"]
    assert parsed["pipelines"]["mine"]["kind"] == "python"


def test_the_template_names_every_setting() -> None:
    text = render_config_template()
    for section, field in Settings.model_fields.items():
        model = field.annotation
        for key in getattr(model, "model_fields", {}):
            shown = f"[{section}.{key}]" if f"{section}.{key}" in EXAMPLES else f"# {key} = "
            assert shown in text


def test_making_a_workspace_again_keeps_what_is_there(tmp_path: Path) -> None:
    make_workspace(tmp_path)
    (tmp_path / "errata.toml").write_text("[sets]\ndefault = 'mine'\n")
    (tmp_path / ".gitignore").write_text("*.pyc\n.errata/")
    result = make_workspace(tmp_path)
    assert not result.wrote_config
    assert not result.wrote_ignore
    assert result.workspace.settings().sets.default == "mine"
    assert (tmp_path / ".gitignore").read_text() == "*.pyc\n.errata/"


def test_the_ignore_entry_is_added_on_a_line_of_its_own(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.pyc")
    make_workspace(tmp_path)
    assert (tmp_path / ".gitignore").read_text() == "*.pyc\n.errata/\n"


def test_a_taken_port_is_named_with_what_to_do(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(BadInputError, match=rf"port {port} .*--port"):
            plan_launch(Workspace(tmp_path), port=port)


def test_the_app_serves_the_workspace_it_was_started_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = make_workspace(tmp_path).workspace
    launch = plan_launch(workspace, port=0)
    assert not launch.address.endswith(":0")
    monkeypatch.setenv(WORKSPACE_VARIABLE, launch.environment[WORKSPACE_VARIABLE])
    assert app_workspace() == workspace

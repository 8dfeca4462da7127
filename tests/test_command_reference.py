"""Every command has help and stands in docs/commands.md."""

import importlib.util
from pathlib import Path
from types import ModuleType

from curation_app.cli.entry import COMMAND_MODULES, app_for

ROOT = Path(__file__).resolve().parents[1]


def reference_module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("command_reference", ROOT / "tests" / "command_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_command_page_is_what_the_command_line_says() -> None:
    module = reference_module()
    assert module.PAGE.read_text(encoding="utf-8") == module.reference(), "run `make docs`"


def test_every_command_and_option_has_help() -> None:
    assert "see the description" not in reference_module().reference()


def test_every_command_loads_only_the_module_it_is_listed_under() -> None:
    for module, names in COMMAND_MODULES.items():
        for name in names:
            assert len(app_for([name]).registered_groups) == 1, (module, name)

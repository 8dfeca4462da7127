"""What a CI job pays for `import evalsets`."""

import json
import pkgutil
import subprocess
import sys

import evalsets

HEAVY = ("duckdb", "streamlit", "pandas", "pyarrow", "numpy", "scipy", "pydantic_ai", "httpx", "typer", "rich")
PLUGIN_MODULES = {"evalsets.pytest_plugin"}


def modules_loaded_by(statement: str) -> set[str]:
    """Run a statement in a fresh interpreter and return the names of the modules it loaded."""
    script = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr))


def every_module() -> list[str]:
    return [
        module.name
        for module in pkgutil.walk_packages(evalsets.__path__, "evalsets.")
        if module.name not in PLUGIN_MODULES
    ]


def test_importing_every_module_of_evalsets_loads_nothing_heavy() -> None:
    loaded = modules_loaded_by("\n".join(f"import {name}" for name in every_module()))
    assert loaded.isdisjoint(HEAVY), sorted(loaded.intersection(HEAVY))


def test_the_command_line_answers_its_version_without_loading_a_command() -> None:
    loaded = modules_loaded_by("from curation_app.cli.entry import run\nrun(['--version'])")
    assert loaded.isdisjoint(HEAVY[:-2])

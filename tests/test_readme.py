"""The README's loop is executed as it stands, so that it cannot go stale."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
SHELL_BLOCK = re.compile(r"^```sh\n(?P<commands>.*?)^```$", re.MULTILINE | re.DOTALL)


def shell_blocks(document: Path) -> list[str]:
    """Return the commands of every `sh` block; blocks meant for reading only are marked `console`."""
    return [block["commands"] for block in SHELL_BLOCK.finditer(document.read_text(encoding="utf-8"))]


def run_as_user(commands: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a block as a person would, stopping at the first command that fails."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_every_command_of_the_readme_runs_in_an_empty_folder(tmp_path: Path) -> None:
    blocks = shell_blocks(README)
    assert blocks, "the README shows no commands"
    done = run_as_user("\n".join(blocks), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr

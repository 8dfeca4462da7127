"""Write docs/commands.md from the command line itself; the tests hold the page to it."""

import sys
from pathlib import Path

from typer.main import get_command

from curation_app.cli.entry import COMMAND_MODULES, assemble

PAGE = Path(__file__).resolve().parents[1] / "docs" / "commands.md"
HEAD = """# Commands

Every command prints data on stdout and words on stderr. Exit codes: 0 done or gate passed, 1 gate failed, 2 wrong usage
or bad data, 3 the set no longer fits the corpus, 4 run incomplete, 130 interrupted.
"""


def reference() -> str:
    """Return the whole page: one section a command, its help text and its options."""
    root = get_command(assemble(list(COMMAND_MODULES)))
    return HEAD + "".join(_section(command, f"errata {name}") for name, command in sorted(_commands(root).items()))


def _commands(group: object) -> dict[str, object]:
    return dict(getattr(group, "commands", {}))


def _section(command: object, path: str) -> str:
    children = sorted(_commands(command).items())
    if children:
        return "".join(_section(child, f"{path} {name}") for name, child in children)
    lines = ["", f"## {path}", "", (getattr(command, "help", "") or "").strip(), ""]
    for parameter in getattr(command, "params", []):
        if parameter.name != "help":
            names = " / ".join(f"`{name}`" for name in parameter.opts)
            lines.append(f"- {names}: {getattr(parameter, 'help', None) or 'see the description'}")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(reference(), encoding="utf-8")
    else:
        sys.stdout.write(reference())

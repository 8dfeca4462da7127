"""What commands write: data on stdout, words for a person on stderr."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Any

import typer

WorkspaceOption = typer.Option(None, "--workspace", "-w", help="Folder that holds errata.toml; default: here or above.")
JsonOption = typer.Option(False, "--json", help="Print the result as JSON.")
CorpusOption = typer.Option(
    None, "--corpus", metavar="FILE", help="JSONL of chunks; default: the workspace's chunk store."
)


class Rendering(StrEnum):
    """How a comparison for people is printed."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


def write_json(result: Any) -> None:
    """Print a JSON-ready value (or a pydantic model) on stdout, sorted and indented."""
    import json

    ready = result.model_dump(mode="json") if hasattr(result, "model_dump") else result
    sys.stdout.write(json.dumps(ready, ensure_ascii=False, indent=2, sort_keys=True, default=str) + "\n")


def write_line(text: str = "") -> None:
    """Print one line of result on stdout."""
    sys.stdout.write(text + "\n")


def say(text: str) -> None:
    """Print one line for the person, on stderr, so that stdout stays data."""
    sys.stderr.write(text + "\n")


def write_result(text: str, path: Path | None = None) -> None:
    """Write a whole result to a file, or to stdout when none is named."""
    if path is None:
        sys.stdout.write(text)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")

"""The `errata` command: one owner of stderr and exit codes; each command loads only what it needs."""

from curation_app.cli.entry import main

__all__ = ["main"]

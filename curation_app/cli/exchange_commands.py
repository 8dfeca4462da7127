"""Commands for import and export of sets."""

import typer

app = typer.Typer()

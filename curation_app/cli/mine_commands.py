"""Commands of the mine group."""

import typer

app = typer.Typer()

"""Commands of the label group."""

import typer

app = typer.Typer()

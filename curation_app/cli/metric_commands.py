"""Commands of the metric group."""

import typer

app = typer.Typer()

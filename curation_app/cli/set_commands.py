"""Commands of the set group."""

import typer

app = typer.Typer()

"""Commands of the workspace group."""

import typer

app = typer.Typer()

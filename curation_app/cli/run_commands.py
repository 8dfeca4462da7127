"""Commands of the run group."""

import typer

app = typer.Typer()

"""Commands of the ingest group."""

import typer

app = typer.Typer()

"""Commands for the drift of gold against a corpus."""

import typer

app = typer.Typer()

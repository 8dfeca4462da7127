"""Commands that make a workspace, open the app on it and show the whole loop."""

from pathlib import Path

import typer

from curation_app.cli.output import JsonOption, WorkspaceOption, say, write_json, write_line
from curation_app.workspace import find_workspace

app = typer.Typer()


@app.command("init")
def init(
    folder: Path = typer.Argument(Path(), metavar="DIR", help="Folder that becomes a workspace; made if missing."),
    as_json: bool = JsonOption,
) -> None:
    """Write errata.toml, commented, and keep .errata/ out of git. What is there already is left alone."""
    from curation_app.service.starting import make_workspace

    result = make_workspace(folder)
    if as_json:
        write_json(
            {
                "workspace": str(result.workspace.root),
                "wrote_config": result.wrote_config,
                "wrote_ignore": result.wrote_ignore,
            }
        )
        return
    config = result.workspace.config_path
    write_line(f"{'wrote' if result.wrote_config else 'kept'} {config}")
    say("next: errata ingest LOG --mapping NAME-or-FILE, errata corpus add FILE, errata mine, errata app")


@app.command("app")
def open_app(
    workspace: Path | None = WorkspaceOption,
    port: int = typer.Option(8501, min=0, max=65535, help="Port to serve on; 0 picks a free one."),
    host: str = typer.Option("127.0.0.1", help="Address to listen on; the default is this machine alone."),
) -> int:
    """Serve the app of a workspace and print its address; Ctrl+C stops it."""
    from curation_app.launching import become, plan_launch

    launch = plan_launch(find_workspace(workspace), port=port, host=host)
    write_line(launch.address)
    say("the app is starting at that address; Ctrl+C stops it")
    return become(launch)

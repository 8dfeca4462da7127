"""Commands that make a workspace, open the app on it and show the whole loop."""

from pathlib import Path
from tempfile import TemporaryDirectory

import typer

from curation_app.cli.output import JsonOption, WorkspaceOption, say, write_json, write_line
from curation_app.workspace import find_workspace
from evalsets.errors import BadInputError

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


@app.command("demo")
def demo(
    folder: Path | None = typer.Argument(
        None, metavar="DIR", help="Where to work; default: a folder removed at the end."
    ),
    prepare: bool = typer.Option(
        False, "--prepare", help="Only make DIR a workspace with the sample's log and corpus, mined, if it is empty."
    ),
    as_json: bool = JsonOption,
) -> None:
    """Go once around the loop on a sample help desk: ingest, mine, label, freeze, run, and two gates, one failing."""
    from curation_app.service.demonstrating import prepare_demo

    if prepare:
        if folder is None:
            raise BadInputError("--prepare needs a folder: errata demo --prepare DIR")
        prepare_demo(folder, say)
    elif folder is not None:
        _go_around(folder, as_json=as_json)
    else:
        with TemporaryDirectory(prefix="errata-demo-") as temporary:
            _go_around(Path(temporary), as_json=as_json)


def _go_around(folder: Path, *, as_json: bool) -> None:
    from curation_app.service.demonstrating import run_demo
    from evalsets.gating.formats import render_gate

    result = run_demo(folder, say)
    if as_json:
        write_json({"unchanged": result.unchanged.wire(), "changed": result.changed.wire()})
        return
    write_line("Gate 1: the same pipeline again. Nothing changed, so it has to pass.")
    write_line(render_gate(result.unchanged))
    write_line("Gate 2: a pipeline that reads one chunk only and pads its answers. It has to fail.")
    write_line(render_gate(result.changed))

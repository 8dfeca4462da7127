"""Dispatch of the `errata` command: loads one command's module, prints errors once, owns the exit code."""

import errno
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version

import typer
from typer._click.exceptions import ClickException
from typer.main import get_command

from evalsets.errors import ErrataError, ExitCode

COMMAND_MODULES: dict[str, tuple[str, ...]] = {
    "curation_app.cli.workspace_commands": ("init", "app", "demo"),
    "curation_app.cli.ingest_commands": ("ingest", "corpus", "mapping", "formats", "rejects", "forget", "logs"),
    "curation_app.cli.mine_commands": ("mine", "queue", "signals", "batch"),
    "curation_app.cli.label_commands": ("labels", "cases", "backup"),
    "curation_app.cli.set_commands": ("check", "diff", "verify", "coverage", "git-setup", "git-diff", "git-textconv"),
    "curation_app.cli.freeze_commands": ("freeze", "retire", "known-failing", "restore", "upkeep"),
    "curation_app.cli.drift_commands": ("drift",),
    "curation_app.cli.holdout_commands": ("holdout",),
    "curation_app.cli.exchange_commands": ("export", "import"),
    "curation_app.cli.run_commands": ("run", "report", "sweep"),
    "curation_app.cli.gate_commands": ("gate", "compare", "baseline"),
    "curation_app.cli.metric_commands": ("metrics", "judge"),
}
"""Every command and the module whose `app` defines it, so that one command never pays for another's imports."""

_OF_THE_DISK = {errno.ENOSPC, errno.EDQUOT}


def main() -> None:
    """Run the command line and end the process with its exit code."""
    if sys.argv[1:2] == ["ingest"]:
        _start_lean()
    code = run(sys.argv[1:])
    sys.stdout.flush()
    sys.exit(int(code))


def _start_lean() -> None:
    """Spare an ingest the import of pandas, which costs more than reading a small log."""
    from ingest.worker_processes import tell_arrow_of_no_pandas

    tell_arrow_of_no_pandas()


def run(argv: Sequence[str]) -> int:
    """Run one command and return its exit code; the only place that catches and prints errors."""
    try:
        return _run_command(argv)
    except ErrataError as error:
        return _fail(str(error), error.exit_code)
    except ClickException as error:
        return _fail(error.format_message(), ExitCode.BAD_INPUT)
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted; what was finished is kept", ExitCode.INTERRUPTED)
    except Exception as error:  # noqa: BLE001 - Python's own exit code 1 would read as a failed gate
        return _fail_unforeseen(error)


def _run_command(argv: Sequence[str]) -> int:
    if list(argv) == ["--version"]:
        sys.stdout.write(f"errata {version('errata-evals')}\n")
        return ExitCode.DONE
    try:
        result = get_command(app_for(argv)).main(args=list(argv), prog_name="errata", standalone_mode=False)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.DONE
    return result if isinstance(result, int) else ExitCode.DONE


def _fail_unforeseen(error: Exception) -> int:
    if isinstance(error, OSError) and error.errno in _OF_THE_DISK:
        where = f" {error.filename!r}" if error.filename else ""
        message = f"cannot write{where}: {error.strerror}. Make room and run it again; what was stored is kept."
        return _fail(message, ExitCode.BAD_INPUT)
    traceback.print_exception(error)
    return _fail(f"{error!r}, a defect in errata: please report it with the lines above", ExitCode.BAD_INPUT)


def _fail(message: str, code: ExitCode) -> int:
    sys.stderr.write(f"error: {message}\n")
    return code


def app_for(argv: Sequence[str]) -> typer.Typer:
    """Return the command line holding only the module that `argv` needs; every module where it names none."""
    command = next((word for word in argv if not word.startswith("-")), "")
    owners = [module for module, names in COMMAND_MODULES.items() if command in names]
    return assemble(owners or list(COMMAND_MODULES))


def assemble(modules: Sequence[str]) -> typer.Typer:
    """Return the command line with the commands of these modules."""
    root = typer.Typer(
        help="Turn production logs of a RAG assistant into a versioned eval set, score pipelines on it and gate CI.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )

    @root.callback()
    def _root(
        *,
        show_version: bool = typer.Option(False, "--version", help="Print the version and end."),
    ) -> None:
        """Keep the commands as sub-commands, however few are loaded."""

    for module in modules:
        root.add_typer(import_module(module).app)
    return root

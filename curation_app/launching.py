"""Start the app: pick the port, hand over the workspace and become the Streamlit process."""

import os
import socket
import subprocess
import sys
from typing import NamedTuple

from curation_app.workspace import WORKSPACE_VARIABLE, Workspace
from evalsets.errors import BadInputError

HOST = "127.0.0.1"


class Launch(NamedTuple):
    """How the app will be started."""

    command: list[str]
    environment: dict[str, str]
    address: str


def plan_launch(workspace: Workspace, *, port: int, host: str = HOST) -> Launch:
    """Return the command that serves `workspace`; port 0 picks a free one. Raises when the port is taken."""
    free_port = _free_port(host, port)
    command = [
        sys.executable,
        "-m",
        "curation_app.serving",
        f"--server.port={free_port}",
        f"--server.address={host}",
    ]
    return Launch(command, {**os.environ, WORKSPACE_VARIABLE: str(workspace.root)}, f"http://{host}:{free_port}")


def become(launch: Launch) -> int:
    """Run the app until it is stopped and return its exit code.

    Where the system can, this process turns into the app's, so that a signal sent to it reaches Streamlit itself and
    nothing is left behind.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "posix":
        os.execve(launch.command[0], launch.command, launch.environment)  # noqa: S606 - our own interpreter
    return subprocess.run(launch.command, env=launch.environment, check=False).returncode  # noqa: S603


def _free_port(host: str, port: int) -> int:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise BadInputError(
                f"port {port} on {host} cannot be used ({error.strerror}). Choose another with --port; 0 picks one."
            ) from error
        return int(probe.getsockname()[1])

"""The app in a process of its own, and how its browser is started: for tests, benches and pictures."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import httpx
from playwright.sync_api import Browser, Playwright

_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def launch_chromium(playwright: Playwright) -> Browser:
    """Start a headless browser: the system's Chromium where there is one, else Playwright's own."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    return playwright.chromium.launch(executable_path=found, args=_FLAGS)


class Server:
    """One process that serves a workspace on one port, to be killed and started again."""

    def __init__(self, workspace: Path, command: Sequence[str] = ("-m", "curation_app.serving")) -> None:
        self.workspace = workspace
        self.command = tuple(command)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> subprocess.Popen[bytes]:
        """Start it, wait until it answers, and return its process."""
        flags = (f"--server.port={self.port}", "--server.address=127.0.0.1")
        started = self.process = subprocess.Popen(
            [sys.executable, *self.command, *flags],
            env={**os.environ, "ERRATA_WORKSPACE": str(self.workspace)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                httpx.get(f"{self.url}/_stcore/health", timeout=1)
            except httpx.TransportError:
                time.sleep(0.1)
            else:
                return started
        raise RuntimeError("the app did not start within a minute")

    def kill(self) -> None:
        """End it as a crash would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def stop(self) -> None:
        """Ask it to end, and wait."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait()

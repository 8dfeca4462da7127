"""One run in a process of its own: it goes on when the browser closes, and says how far it is in a small file."""

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from curation_app.service.holding_out import LookRequest, RunSplit, carry_out_split
from curation_app.service.running import RunRequest
from evalsets.errors import ErrataError
from evalsets.running.runner import Progress
from evalsets.running.settings import RunSettings

HEARTBEAT_S = 0.5


class ProgressFile:
    """Says twice a second how far the run is; written whole, so that a reader never sees half of it."""

    def __init__(self, path: Path) -> None:
        """Name the file."""
        self._path = path
        self._told: dict[str, Any] = {"state": "running", "pid": os.getpid()}
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="progress", daemon=True)

    def start(self) -> None:
        """Begin to tell."""
        self._write()
        self._thread.start()

    def observe(self, progress: Progress) -> None:
        """Take the runner's latest word; written with the next beat."""
        self._told = {**self._told, **progress._asdict()}

    def end(self, state: str, message: str = "") -> None:
        """Say how it ended."""
        self._is_over.set()
        self._thread.join()
        self._told = {**self._told, "state": state, "message": message}
        self._write()

    def _beat(self) -> None:
        while not self._is_over.wait(HEARTBEAT_S):
            self._write()

    def _write(self) -> None:
        draft = self._path.with_suffix(".tmp")
        draft.write_text(json.dumps({**self._told, "told_at": time.time()}), encoding="utf-8")
        draft.replace(self._path)


def main(argv: list[str]) -> int:
    """Carry out the run described in the file `argv[0]`; the progress file is named in it."""
    wire = json.loads(Path(argv[0]).read_text(encoding="utf-8"))
    progress = ProgressFile(Path(wire["progress"]))
    progress.start()
    try:
        done, looked = carry_out_split(
            RunRequest(
                set_ref=wire["set_ref"],
                pipeline=wire["pipeline"],
                judge=wire["judge"],
                out=Path(wire["out"]),
                resume=wire["resume"],
                retry_failed=wire["resume"],
                settings=RunSettings.model_validate(wire["settings"]),
            ),
            Path(wire["workspace"]),
            RunSplit(wire.get("split", "dev")),
            LookRequest(wire.get("by", "")),
            progress.observe,
        )
    except ErrataError as error:
        progress.end("failed", str(error))
        return int(error.exit_code)
    except Exception as error:
        progress.end("failed", f"{type(error).__name__}: {error}")
        raise
    state, reason = (done.report.status, done.report.status_reason) if done else ("complete", "")
    progress.end(state, looked.sentence if looked else reason)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The progress bar of a run, on stderr: done of total, rate, remaining time, failures and slow-downs."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evalsets.running.runner import Observer, Progress

if TYPE_CHECKING:
    from rich.console import Console

REDRAW_S = 0.25


@contextmanager
def progress_bar() -> Iterator[Observer]:
    """Yield an observer that draws a bar on a terminal, and says a line now and then where there is none."""
    if not sys.stderr.isatty():
        yield _quiet_observer()
        return
    from rich.console import Console

    with drawn_progress(Console(stderr=True)) as observer:
        yield observer


@contextmanager
def drawn_progress(console: "Console") -> Iterator[Observer]:
    """Yield an observer that draws a bar on a console, four times a second at most."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[notes]}"),
    )
    with Bar(*columns, console=console, transient=True, refresh_per_second=2) as bar:
        task = bar.add_task("run", total=None, rate="", notes="")
        started_at = drawn_at = time.monotonic()

        def observe(progress: Progress) -> None:
            nonlocal drawn_at
            now = time.monotonic()
            if now - drawn_at < REDRAW_S and progress.done < progress.total and not progress.stopping:
                return
            drawn_at = now
            rate = progress.done / max(1e-3, now - started_at)
            bar.update(
                task,
                total=progress.total,
                completed=progress.done,
                rate=f"{rate:.1f}/s",
                notes=notes_of(progress),
            )

        yield observe


def notes_of(progress: Progress) -> str:
    """Return what a person should know while a run goes on."""
    notes = [
        f"{progress.failed} failed" if progress.failed else "",
        f"{progress.reused} calls reused" if progress.reused else "",
        f"slowed {progress.slowed}x by rate limits" if progress.slowed else "",
        f"stopping: {progress.stopping}; calls under way end first, Ctrl-C again drops them"
        if progress.stopping
        else "",
    ]
    return ", ".join(note for note in notes if note)


def _quiet_observer() -> Observer:
    tenths_said: set[int] = set()

    def observe(progress: Progress) -> None:
        tenth = progress.done * 10 // progress.total
        if tenth not in tenths_said and progress.total >= 100:  # noqa: PLR2004 - short runs need no progress
            tenths_said.add(tenth)
            notes = notes_of(progress)
            sys.stderr.write(f"{progress.done} of {progress.total} items{', ' if notes else ''}{notes}\n")

    return observe

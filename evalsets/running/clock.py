"""The clock's readings of a run: what differs between two runs of the same thing, kept beside the report."""

from pathlib import Path

from pydantic import Field

from evalsets.atomic_files import write_over
from evalsets.items import StrictModel
from evalsets.json_files import read_json


class CallClock(StrictModel):
    """The clock's reading of one item's calls, in seconds."""

    retrieve_s: float | None = None
    answer_s: float | None = None
    judge_s: float | None = None
    attempts: int = 0


class Clock(StrictModel):
    """What differs between two runs of the same thing: times and attempts. Written beside the report, not in it."""

    started_at: str
    finished_at: str
    wall_s: float
    calls: int
    retried: int
    """Attempts beyond the first of each call."""
    slowed: int
    """How often a rate limit was answered by fewer calls at once."""
    latency: dict[str, dict[str, float]] = Field(default_factory=dict)
    """Median and 95th percentile in seconds, by step."""
    items: dict[str, CallClock] = Field(default_factory=dict)

    def save(self, path: Path) -> None:
        """Write the readings."""
        write_over(path, (self.model_dump_json(indent=1) + "\n").encode())


def clock_path(report_path: Path) -> Path:
    """Return where the clock's readings of a report stand: beside it."""
    return report_path.with_name(f"{report_path.stem}.clock.json")


def load_clock(report_path: Path) -> Clock | None:
    """Read the clock's readings beside a report, if they are there."""
    path = clock_path(report_path)
    return Clock.model_validate(read_json(path)) if path.is_file() else None

"""The clock's readings of a run, from its journal: what differs between two runs of the same thing."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from evalsets.running.clock import CallClock, Clock
from evalsets.running.figures import at_share
from evalsets.running.journal import CallRecord, JournalIndex, read_calls

_FIELDS = {"retrieve": "retrieve_s", "answer": "answer_s", "ask": "answer_s", "judge": "judge_s"}


def read_clock(journal_path: Path) -> Clock:
    """Return times, attempts and slow-downs of a journal's calls; a resumed run counts every start."""
    index = JournalIndex(journal_path)
    index.close()
    calls = list(read_calls(journal_path))
    starts = [event["at"] for event in index.events if event["event"] == "started"]
    ends = [event for event in index.events if event["event"] == "ended"]
    return Clock(
        started_at=_iso(starts[0]) if starts else "",
        finished_at=_iso(ends[-1]["at"]) if ends else "",
        wall_s=round(sum(event["wall_s"] for event in ends), 3),
        calls=len(calls),
        retried=sum(call.attempts - 1 for call in calls),
        slowed=sum(event["slowed"] for event in ends),
        latency=_latencies(calls),
        items=_by_item(calls),
    )


def _by_item(calls: Sequence[CallRecord]) -> dict[str, CallClock]:
    readings: dict[str, CallClock] = {}
    for call in calls:
        reading = readings.get(call.key.item_id, CallClock())
        seconds = {_FIELDS[call.key.step]: round(call.seconds, 4)}
        readings[call.key.item_id] = reading.model_copy(
            update={**seconds, "attempts": reading.attempts + call.attempts}
        )
    return dict(sorted(readings.items()))


def _latencies(calls: Sequence[CallRecord]) -> dict[str, dict[str, float]]:
    seconds: dict[str, list[float]] = {}
    for call in calls:
        if call.is_ok:
            seconds.setdefault(call.key.step, []).append(call.seconds)
    return {step: {"median": _rounded(values, 0.5), "p95": _rounded(values, 0.95)} for step, values in seconds.items()}


def _rounded(seconds: Sequence[float], share: float) -> float:
    return round(at_share(seconds, share) or 0.0, 4)


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")

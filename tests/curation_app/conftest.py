"""Candidates and stores that the tests of the app share."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from curation_app.review_store import ReviewStore
from ingest.mining.candidates import Candidate, CandidateChunk, CandidateTurn, ModeSuggestion, SignalHit
from tests.curation_app.served_app import launch_chromium

STARTED_AT = datetime(2026, 11, 2, 9, 2, tzinfo=UTC)


class Clock:
    """A clock that moves only when told to."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 3, 14, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, minutes: float) -> None:
        self.now += timedelta(minutes=minutes)


def _candidate(number: int = 0, *, priority: float = 0.5, answer: str = "", signal: str = "rephrased") -> Candidate:
    """A flagged second turn about refunds, between two others of its session."""
    chunks = (
        CandidateChunk(chunk_id="kb-002#1", doc_id="kb-002", text="Invoices are sent on the first day.", score=0.67),
        CandidateChunk(
            chunk_id="kb-003#0", doc_id="kb-003", text="Refunds for annual plans take 30 days.", score=0.41, rank=1
        ),
    )
    flagged = CandidateTurn(
        interaction_id=f"log:turn-{number}",
        asked_at=STARTED_AT + timedelta(minutes=number),
        question=f"how many days do I have to ask for a refund? ({number})",
        answer=answer or "Refunds are granted within 14 days.",
        retrieved=chunks,
        model="small-1",
        prompt_version="v7",
        latency_ms=840,
    )
    before = CandidateTurn(interaction_id=f"log:before-{number}", asked_at=STARTED_AT, question="hello", answer="Hi.")
    after = CandidateTurn(
        interaction_id=f"log:after-{number}",
        asked_at=STARTED_AT + timedelta(minutes=number, seconds=34),
        question="annual plan refund how many days",
        answer="Refunds are granted within 14 days.",
        feedback=-1,
        feedback_comment="wrong, annual is 30 days",
    )
    return Candidate(
        candidate_id=f"c{number:05d}",
        interaction_id=flagged.interaction_id,
        source="log",
        session_id=f"s{number}",
        signals=(SignalHit(signal=signal, kind="restated", score=0.8, reason="restated, 34 s later"),),
        priority=priority,
        sampling_signal=signal,
        inclusion_probability=1.0,
        suggestion=ModeSuggestion(
            mode="grounding_failure", evidence="“30 days” stands in kb-003#0", gold_chunk_ids=("kb-003#0",)
        ),
        language="en",
        turns=(before, flagged, after),
    )


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> ReviewStore:
    return ReviewStore(tmp_path / "review.duckdb", clock=clock)


@pytest.fixture(scope="session")
def make_candidate() -> Callable[..., Candidate]:
    """Makes a candidate of the given number, priority, answer and signal."""
    return _candidate


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A headless browser for one module: while it is open its event loop runs, and no other test may start one."""
    with sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        yield browser
        browser.close()

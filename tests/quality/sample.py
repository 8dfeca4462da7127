"""Mine the sample log and compare the queue with what is known to have failed in it."""

import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from curation_app.review_store import ReviewStore
from curation_app.sample.truth import read_truth
from curation_app.service.demonstrating import prepare_demo
from ingest.candidates import Candidate
from ingest.shortlist import CONTROL

TOP = 50


class SampleFigures(NamedTuple):
    """How much of what failed is queued, and how much of the top of the queue failed."""

    interactions: int
    failed: int
    queued: int
    failed_found: float
    top_failed: float


def measure_sample() -> SampleFigures:
    """Ingest and mine the sample in a folder of its own; return the two shares the README states."""
    failed = {truth.interaction_id: truth.failed for truth in read_truth()}
    with tempfile.TemporaryDirectory() as folder:
        workspace = prepare_demo(Path(folder), lambda _line: None)
        candidates = [candidate for candidate, _ in ReviewStore(workspace.review_path).candidates()]
    return figures(candidates, failed)


def figures(candidates: list[Candidate], failed: dict[str, bool]) -> SampleFigures:
    """Compare flagged candidates, best first, with the truth; controls are no claim and do not count."""
    queued = [each for each in candidates if each.sampling_signal != CONTROL]
    ids = [each.interaction_id for each in sorted(queued, key=lambda each: (-each.priority, each.candidate_id))]
    truly = {interaction_id for interaction_id, has_failed in failed.items() if has_failed}
    return SampleFigures(
        interactions=len(failed),
        failed=len(truly),
        queued=len(ids),
        failed_found=len(truly & set(ids)) / len(truly),
        top_failed=sum(each in truly for each in ids[:TOP]) / TOP,
    )


if __name__ == "__main__":
    sys.stdout.write(f"{measure_sample()}\n")

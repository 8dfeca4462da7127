"""Mine the sample log and compare the queue with what is known to have failed in it."""

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from curation_app.review_store import ReviewStore
from curation_app.sample.truth import TurnTruth, read_truth
from curation_app.service.demonstrating import prepare_demo
from evalsets.items import Mode
from ingest.mining.candidates import Candidate
from ingest.mining.shortlist import CONTROL

TOP = 50


class SampleFigures(NamedTuple):
    """How much of what failed is queued, and how much of the top of the queue failed."""

    interactions: int
    failed: int
    queued: int
    failed_found: float
    top_failed: float
    suggested: int
    """Flagged interactions with a suggested mode."""
    suggested_rightly: float


def measure_sample() -> SampleFigures:
    """Ingest and mine the sample in a folder of its own; return the two shares the README states."""
    truths = {truth.interaction_id: truth for truth in read_truth()}
    with tempfile.TemporaryDirectory() as folder:
        workspace = prepare_demo(Path(folder), lambda _line: None)
        candidates = [candidate for candidate, _ in ReviewStore(workspace.review_path).candidates()]
    return figures(candidates, truths)


def figures(candidates: list[Candidate], truths: Mapping[str, TurnTruth]) -> SampleFigures:
    """Compare flagged candidates, best first, with the truth; controls are no claim and do not count."""
    queued = [each for each in candidates if each.sampling_signal != CONTROL]
    ids = [each.interaction_id for each in sorted(queued, key=lambda each: (-each.priority, each.candidate_id))]
    truly = {interaction_id for interaction_id, truth in truths.items() if truth.failed}
    suggested = [each for each in queued if each.suggestion]
    return SampleFigures(
        interactions=len(truths),
        failed=len(truly),
        queued=len(ids),
        failed_found=len(truly & set(ids)) / len(truly),
        top_failed=sum(each in truly for each in ids[:TOP]) / TOP,
        suggested=len(suggested),
        suggested_rightly=sum(_is_right(each, truths[each.interaction_id]) for each in suggested) / len(suggested),
    )


def _is_right(candidate: Candidate, truth: TurnTruth) -> bool:
    """Tell whether the suggested mode is the first thing that went wrong, or says why it was right to decline."""
    mode = candidate.suggestion.mode if candidate.suggestion else ""
    return mode == (Mode.OUT_OF_SCOPE if truth.outcome == "declined_rightly" else truth.mode)


if __name__ == "__main__":
    sys.stdout.write(f"{measure_sample()}\n")

"""What really happened in each turn of the sample, known because its maker decided it."""

from collections.abc import Iterator
from typing import Literal

from evalsets.items import Fact, Mode, StrictModel

from . import TRUTH_PATH

Outcome = Literal[
    "right",
    "declined_rightly",
    "missed_wrong",
    "missed_declined",
    "misread",
    "refused",
    "made_up",
    "error",
    "cut",
    "empty",
    "small_talk",
]


class TurnTruth(StrictModel):
    """One turn: whether the assistant failed, how, and what the right answer would have been."""

    interaction_id: str
    session_id: str | None
    outcome: Outcome
    failed: bool
    mode: Mode | None = None
    """The first thing that went wrong; None when nothing did, or when the request itself broke (error, cut, empty)."""
    why: str = ""
    in_scope: bool = True
    """Whether the handbook holds the answer."""
    gold_chunk_ids: tuple[str, ...] = ()
    expected: str = ""
    answer_facts: tuple[Fact, ...] = ()
    topic: str = ""
    asks_again_of: str = ""
    """The earlier turn of the session that this question says again, when it does."""
    asks_again_kind: str = ""
    """repeated, restated, reworded, narrowed, corrected, keywords, typo or complaint."""
    left_unhappy: bool = False
    """Whether the person left after this turn without what they came for."""


def read_truth() -> Iterator[TurnTruth]:
    """Yield the ground truth of the sample in the order the questions were asked."""
    with TRUTH_PATH.open(encoding="utf-8") as lines:
        for line in lines:
            yield TurnTruth.model_validate_json(line)

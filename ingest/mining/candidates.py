"""A review candidate: a flagged interaction with its session around it and the reasons it was surfaced."""

from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel, ConfigDict


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


# Ten thousand turns with their chunks are made in a run: as plain records that takes a third of the time.
@dataclass(frozen=True, slots=True)
class CandidateChunk:
    """A retrieved chunk as the reviewer sees it."""

    chunk_id: str
    doc_id: str = ""
    text: str = ""
    score: float | None = None
    rank: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateTurn:
    """One turn of the session around a flagged interaction."""

    interaction_id: str
    asked_at: datetime | None = None
    question: str
    answer: str = ""
    retrieved: tuple[CandidateChunk, ...] = ()
    feedback: int | None = None
    feedback_comment: str = ""
    model: str = ""
    prompt_version: str = ""
    latency_ms: float | None = None
    cost: float | None = None
    error: str = ""
    stream_cut: bool = False


class SignalHit(_Frozen):
    """One signal that fired: `score` in [0, 1], `reason` a sentence a person can read."""

    signal: str
    """Name of the signal, such as rephrased or thumbs_down."""
    kind: str = ""
    """A finer kind, such as restated, reworded, corrected or repeated."""
    score: float
    reason: str
    is_weak: bool = False
    evidence_interaction_id: str = ""
    """The other turn that is the evidence, such as the rephrased question."""


class ModeSuggestion(_Frozen):
    """A first diagnosis with its evidence; never a label."""

    mode: str
    evidence: str
    gold_chunk_ids: tuple[str, ...] = ()


class Candidate(_Frozen):
    """What goes to review. `turns` is the session in order; the flagged turn is the one with `interaction_id`."""

    candidate_id: str
    """Derived from the interaction id alone, so that mining again finds the same candidate."""
    interaction_id: str
    source: str
    session_id: str = ""
    user_id: str = ""
    signals: tuple[SignalHit, ...]
    priority: float
    sampling_signal: str
    """The signal (or control) that this candidate was drawn for."""
    inclusion_probability: float
    suggestion: ModeSuggestion | None = None
    group_id: str = ""
    group_size: int = 1
    group_first_at: datetime | None = None
    group_last_at: datetime | None = None
    known_item_id: str = ""
    """The item of the current set that asks the same, if there is one."""
    language: str = ""
    turns: tuple[CandidateTurn, ...]

    @property
    def flagged_turn(self) -> CandidateTurn:
        """Return the turn this candidate is about."""
        return next(turn for turn in self.turns if turn.interaction_id == self.interaction_id)

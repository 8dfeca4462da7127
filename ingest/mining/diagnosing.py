"""A first guess at why a flagged turn failed, with its evidence; a suggestion for the reviewer, never a label."""

from collections.abc import Callable, Sequence
from math import log
from typing import NamedTuple, Protocol

from evalsets.grounding import token_precision
from evalsets.keyword_search import search_terms
from evalsets.refusals import RefusalKind, detect_refusal
from ingest.mining.candidates import Candidate, CandidateChunk, CandidateTurn, ModeSuggestion
from ingest.signals.pair_features import points_back

STRONG_SCORE = 1.35
"""BM25 score over the log of the number of chunks from which a passage is taken to answer a question. Told apart so,
questions in and out of scope of the sample have an AUROC of .87; of public multi-turn sessions, asked without their
context, one of .70: the suggestion is a first guess."""
_FEWEST_WORDS = 1
_GROUNDED = 0.5
_ASKED_AGAIN = frozenset({"rephrased", "complaint", "regenerated", "thumbs_down", "declined"})


class FoundPassage(Protocol):
    """What a corpus search returns."""

    @property
    def chunk_id(self) -> str:
        """The id of the chunk."""
        ...

    @property
    def score(self) -> float:
        """Its BM25 score."""
        ...


class CorpusSearch(NamedTuple):
    """A search of the corpus, called with a question and how many passages to return; and how many chunks there are."""

    find: Callable[[str, int], Sequence[FoundPassage]]
    chunks: int

    @property
    def strong_from(self) -> float:
        """The score from which a passage is strong; it grows with the corpus, as BM25 scores do."""
        return STRONG_SCORE * log(1 + self.chunks)


def diagnosed(candidate: Candidate, search: CorpusSearch | None = None) -> Candidate:
    """Return the candidate with a suggested mode, or as it is when nothing tells."""
    suggestion = suggest(candidate, search)
    return candidate.model_copy(update={"suggestion": suggestion}) if suggestion else candidate


def suggest(candidate: Candidate, search: CorpusSearch | None = None) -> ModeSuggestion | None:
    """Suggest a failure mode; without a corpus search a refusal and a question out of scope cannot be told apart.

    A turn that broke (error, empty or cut answer) has no mode: there was no answer to judge.
    """
    signals = {hit.signal for hit in candidate.signals}
    turn = candidate.flagged_turn
    if not signals or not turn.answer.strip() or turn.error or turn.stream_cut:
        return None
    return (
        (_found_later(candidate) if signals & _ASKED_AGAIN else None)
        or (_declined(candidate, search) if search and _declines(candidate) else None)
        or (_ungrounded(candidate, search) if "ungrounded" in signals else None)
    )


def _declines(candidate: Candidate) -> bool:
    """Tell whether the answer declines as a whole: one that declines a part was given what it needed."""
    return any(hit.signal == "declined" and hit.kind != RefusalKind.PARTIAL for hit in candidate.signals)


def _found_later(candidate: Candidate) -> ModeSuggestion | None:
    """Look for a later turn that asked the same, was answered, and had retrieved something the failed turn lacked."""
    had = {chunk.chunk_id for chunk in candidate.flagged_turn.retrieved}
    for later in _asked_again(candidate):
        if later.error or later.stream_cut or (later.feedback or 0) < 0 or detect_refusal(later.answer).is_refusal:
            continue
        new = [chunk for chunk in later.retrieved if chunk.chunk_id not in had]
        best = max(new, key=lambda chunk: _supports(later, chunk), default=None)
        if best is not None and _supports(later, best) >= _GROUNDED:
            evidence = (
                f"Asked again as “{later.question}”, it was answered from {best.chunk_id}, which this turn lacked."
            )
            return ModeSuggestion(mode="retrieval_miss", evidence=evidence, gold_chunk_ids=(best.chunk_id,))
    return None


def _asked_again(candidate: Candidate) -> list[CandidateTurn]:
    """Return the turns that took the flagged one up again, following the evidence from turn to turn."""
    named = {hit.evidence_interaction_id for hit in candidate.signals if hit.evidence_interaction_id}
    place = next(i for i, turn in enumerate(candidate.turns) if turn.interaction_id == candidate.interaction_id)
    return [turn for turn in candidate.turns[place + 1 :] if turn.interaction_id in named]


def _supports(turn: CandidateTurn, chunk: CandidateChunk) -> float:
    return token_precision(turn.answer, [chunk.text]) or 0.0 if chunk.text else 0.0


def _declined(candidate: Candidate, search: CorpusSearch) -> ModeSuggestion | None:
    found = _looked_up(candidate, search)
    if found is None:
        return None
    if not found.is_strong:
        return ModeSuggestion(
            mode="out_of_scope", evidence=f"Declined, and the corpus has no strong passage{found.closest}."
        )
    mode = "retrieval_miss" if found.was_missed else "refusal"
    return ModeSuggestion(mode=mode, evidence=f"Declined, but {found.account}.", gold_chunk_ids=found.chunk_ids)


def _ungrounded(candidate: Candidate, search: CorpusSearch | None) -> ModeSuggestion:
    reason = next(hit.reason for hit in candidate.signals if hit.signal == "ungrounded")
    found = _looked_up(candidate, search) if search else None
    if found and not found.is_strong:
        evidence = f"{reason} The corpus has no strong passage for the question{found.closest}: check each claim."
        return ModeSuggestion(mode="out_of_scope", evidence=evidence)
    if found and found.was_missed:
        evidence = f"{reason} But {found.account}."
        return ModeSuggestion(mode="retrieval_miss", evidence=evidence, gold_chunk_ids=found.chunk_ids)
    return ModeSuggestion(mode="grounding_failure", evidence=f"{reason} Check each claim against the chunks.")


class _Found(NamedTuple):
    """What the corpus has for a question."""

    best: FoundPassage | None
    strong_from: float
    was_missed: bool
    """Whether the log says what was retrieved, and the best passage is not among it."""

    @property
    def is_strong(self) -> bool:
        return self.best is not None and self.best.score >= self.strong_from

    @property
    def closest(self) -> str:
        return f"; the closest is {self.best.chunk_id}" if self.best else ""

    @property
    def chunk_ids(self) -> tuple[str, ...]:
        return (self.best.chunk_id,) if self.best else ()

    @property
    def account(self) -> str:
        if self.best is None:
            return "the corpus has nothing"
        strength = f"score {self.best.score:.1f}, strong from {self.strong_from:.1f}"
        how = "was not retrieved" if self.was_missed else "was at hand"
        return f"the corpus has a strong passage, {self.best.chunk_id} ({strength}), which {how}"


def _looked_up(candidate: Candidate, search: CorpusSearch) -> _Found | None:
    """Look the question up, with the one before it where it points back; None when it says too little."""
    turn = candidate.flagged_turn
    question = _with_context(candidate)
    if len(search_terms(question)) < _FEWEST_WORDS:
        return None
    best = next(iter(search.find(question, 1)), None)
    had = {chunk.chunk_id for chunk in turn.retrieved}
    return _Found(best, search.strong_from, was_missed=bool(had) and best is not None and best.chunk_id not in had)


def _with_context(candidate: Candidate) -> str:
    turn = candidate.flagged_turn
    place = candidate.turns.index(turn)
    if not place or not points_back(turn.question):
        return turn.question
    return f"{candidate.turns[place - 1].question} {turn.question}"

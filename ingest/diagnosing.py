"""A first guess at why a flagged turn failed, with its evidence; a suggestion for the reviewer, never a label."""

from collections.abc import Callable, Sequence
from math import log
from typing import NamedTuple, Protocol

from evalsets.grounding import token_precision
from evalsets.keyword_search import search_terms
from evalsets.refusals import detect_refusal
from ingest.candidates import Candidate, CandidateChunk, CandidateTurn, ModeSuggestion

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
        or (_declined(turn, search) if "declined" in signals and search else None)
        or (_ungrounded(candidate) if "ungrounded" in signals else None)
    )


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


def _declined(turn: CandidateTurn, search: CorpusSearch) -> ModeSuggestion | None:
    if len(search_terms(turn.question)) < _FEWEST_WORDS:
        return None
    found = search.find(turn.question, 1)
    if not found or found[0].score < search.strong_from:
        closest = f"; the closest is {found[0].chunk_id}" if found else ""
        return ModeSuggestion(mode="out_of_scope", evidence=f"Declined, and the corpus has no strong passage{closest}.")
    best = found[0]
    was_there = best.chunk_id in {chunk.chunk_id for chunk in turn.retrieved}
    return ModeSuggestion(
        mode="refusal",
        evidence=(
            f"Declined, but the corpus has a strong passage, {best.chunk_id} (score {best.score:.1f}, strong from "
            f"{search.strong_from:.1f}), which {_WAS_THERE if was_there else _WAS_NOT}."
        ),
        gold_chunk_ids=(best.chunk_id,),
    )


_WAS_THERE = "was retrieved"
_WAS_NOT = "was not retrieved: if it holds the answer, call it a retrieval miss"


def _ungrounded(candidate: Candidate) -> ModeSuggestion:
    reason = next(hit.reason for hit in candidate.signals if hit.signal == "ungrounded")
    return ModeSuggestion(mode="grounding_failure", evidence=f"{reason} Check each claim against the chunks.")

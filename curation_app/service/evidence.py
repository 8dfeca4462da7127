"""Where a typed answer stands: in what was retrieved, elsewhere in the corpus, or nowhere; and what contradicts it."""

from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from curation_app.labels import LabelContent
from evalsets.items import Mode
from evalsets.refusals import RefusalKind, detect_refusal
from evalsets.words import content_words, numbers, phrase_in, sentences, token_text
from ingest.corpus.documents import CorpusHit
from ingest.corpus.index import CorpusIndex
from ingest.mining.candidates import CandidateTurn

MODE_WORDS = {
    Mode.RETRIEVAL_MISS: "retrieval miss",
    Mode.GROUNDING_FAILURE: "grounding failure",
    Mode.REFUSAL: "refusal",
    Mode.OUT_OF_SCOPE: "out of scope",
    Mode.CONTROL: "control",
}
MODE_MEANINGS = {
    Mode.RETRIEVAL_MISS: "the answer was not in what was retrieved",
    Mode.GROUNDING_FAILURE: "it was there, the model said otherwise",
    Mode.REFUSAL: "it declined what it could have answered",
    Mode.OUT_OF_SCOPE: "the corpus does not hold it; declining is right",
}
_CORPUS_HITS_READ = 8
_SUPPORTED_SHARE = 0.6
"""Share of a sentence's content words that one chunk must hold for the sentence to stand there."""
_READ_CHARACTERS = 200_000


class Standing(StrEnum):
    """Where a statement was found."""

    RETRIEVED = "retrieved"
    CORPUS = "corpus"
    NOWHERE = "nowhere"


class StatementEvidence(NamedTuple):
    """Where one fact (or one sentence of the expected answer) stands."""

    statement: str
    standing: Standing
    chunk_id: str = ""
    rank: int | None = None


class Evidence(NamedTuple):
    """What the typed answer and facts say about the mode; `offered` is a chunk that could be gold."""

    statements: tuple[StatementEvidence, ...] = ()
    suggested: Mode | None = None
    sentence: str = ""
    offered: CorpusHit | None = None


def weigh_evidence(content: LabelContent, turn: CandidateTurn, corpus: CorpusIndex) -> Evidence:
    """Look up each fact, or each sentence of the expected answer when there are no facts yet."""
    found: list[StatementEvidence] = []
    offered: CorpusHit | None = None
    for alternatives, is_fact in _statements(content):
        evidence, hit = _stand(alternatives, turn, corpus, is_fact=is_fact)
        found.append(evidence)
        offered = offered or hit
    suggested = _suggest([each.standing for each in found], turn)
    return Evidence(tuple(found), suggested, _sentence(suggested, found), offered)


def contradictions(content: LabelContent, turn: CandidateTurn) -> list[str]:
    """Name, one sentence each, where the label contradicts what was logged."""
    retrieved = {chunk.chunk_id for chunk in turn.retrieved}
    gold = content.gold_chunk_ids
    found_gold = [chunk_id for chunk_id in gold if chunk_id in retrieved]
    named = []
    if content.mode is Mode.RETRIEVAL_MISS and found_gold:
        named.append(f"Retrieval miss, yet gold chunk {found_gold[0]} was retrieved.")
    if content.mode is Mode.GROUNDING_FAILURE and gold and not found_gold:
        named.append(f"Grounding failure, yet gold chunk {gold[0]} was not retrieved.")
    if content.mode is Mode.OUT_OF_SCOPE and gold:
        named.append(f"Out of scope, yet gold chunk {gold[0]} is picked.")
    if content.mode is Mode.REFUSAL and not declines(turn.answer):
        named.append("Refusal, yet the logged answer does not decline.")
    named += [f"The logged answer already says “{fact}”." for fact in facts_in_answer(content, turn)]
    return named


def facts_in_answer(content: LabelContent, turn: CandidateTurn) -> list[str]:
    """Return the facts that the logged answer contains: those cannot tell a good answer from this one."""
    answer = _tokens(turn.answer[:_READ_CHARACTERS])
    hits = [next((one for one in fact if phrase_in(answer, one)), "") for fact in content.answer_facts]
    return [hit for hit in hits if hit]


def declines(answer: str) -> bool:
    """Whether the answer declines, wholly."""
    return detect_refusal(answer[:_READ_CHARACTERS]).kind in (RefusalKind.ABSTENTION, RefusalKind.POLICY)


def unsupported_sentences(turn: CandidateTurn) -> tuple[str, ...]:
    """Return the sentences of the logged answer that stand in no retrieved chunk."""
    return _unsupported(turn.answer[:_READ_CHARACTERS], tuple(chunk.text for chunk in turn.retrieved))


@lru_cache(maxsize=64)
def _unsupported(answer: str, texts: tuple[str, ...]) -> tuple[str, ...]:
    if not texts or not any(texts):
        return ()
    bags = [(frozenset(content_words(text)), _tokens(text)) for text in texts]
    return tuple(
        sentence
        for sentence in sentences(answer)
        if content_words(sentence) and not any(_supports(words, text, sentence) for words, text in bags)
    )


def _supports(words: frozenset[str], text: str, sentence: str) -> bool:
    wanted = content_words(sentence)
    share = sum(word in words for word in wanted) / len(wanted)
    return share >= _SUPPORTED_SHARE and all(phrase_in(text, number) for number in numbers(sentence))


def _statements(content: LabelContent) -> list[tuple[tuple[str, ...], bool]]:
    if content.answer_facts:
        return [(fact, True) for fact in content.answer_facts]
    return [((sentence,), False) for sentence in sentences(content.expected) if content_words(sentence)]


def _stand(
    alternatives: Sequence[str], turn: CandidateTurn, corpus: CorpusIndex, *, is_fact: bool
) -> tuple[StatementEvidence, CorpusHit | None]:
    for rank, chunk in enumerate(turn.retrieved):
        if _holds(chunk.text, alternatives, is_fact=is_fact):
            return StatementEvidence(alternatives[0], Standing.RETRIEVED, chunk.chunk_id, rank), None
    # The question gives a short fact such as "30 days" its context.
    for hit in corpus.search(f"{turn.question} {' '.join(alternatives)}", _CORPUS_HITS_READ):
        if _holds(hit.text, alternatives, is_fact=is_fact):
            return StatementEvidence(alternatives[0], Standing.CORPUS, hit.chunk_id), hit
    return StatementEvidence(alternatives[0], Standing.NOWHERE), None


def _holds(text: str, alternatives: Sequence[str], *, is_fact: bool) -> bool:
    tokens = _tokens(text)
    if is_fact:
        return any(phrase_in(tokens, one) for one in alternatives)
    return any(_supports(_content(text), tokens, one) for one in alternatives)


def _suggest(standings: list[Standing], turn: CandidateTurn) -> Mode | None:
    if not standings:
        return None
    if Standing.CORPUS in standings:
        return Mode.RETRIEVAL_MISS
    if all(standing is Standing.RETRIEVED for standing in standings):
        return Mode.REFUSAL if declines(turn.answer) else Mode.GROUNDING_FAILURE
    if all(standing is Standing.NOWHERE for standing in standings):
        return Mode.OUT_OF_SCOPE
    return None


def _sentence(suggested: Mode | None, found: list[StatementEvidence]) -> str:
    if suggested is Mode.RETRIEVAL_MISS:
        chunk_id = next(each.chunk_id for each in found if each.standing is Standing.CORPUS)
        return f"It stands in {chunk_id}, which was not retrieved."
    if suggested is Mode.OUT_OF_SCOPE:
        return "It stands nowhere in the corpus: out of scope, or a fact to correct."
    if suggested is not None:
        return f"It stands in {found[0].chunk_id}, which was retrieved."
    missing = [each.statement for each in found if each.standing is Standing.NOWHERE]
    return f"“{missing[0]}” stands nowhere in the corpus: correct it, or leave it out." if missing else ""


@lru_cache(maxsize=512)
def _tokens(text: str) -> str:
    return token_text(text)


@lru_cache(maxsize=512)
def _content(text: str) -> frozenset[str]:
    return frozenset(content_words(text))

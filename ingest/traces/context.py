"""Which passages the answer was given from, when a turn retrieves and reranks in several steps."""

from typing import NamedTuple

from ingest.interaction import RetrievedChunk
from ingest.traces.facts import SpanFacts
from ingest.traces.tree import Node, SpanTree


class Step(NamedTuple):
    """One retrieval or reranking of a turn."""

    stage: str
    query: str | None
    chunks: tuple[RetrievedChunk, ...]

    def as_metadata(self) -> dict[str, object]:
        """Return the step as JSON values: its query, and its chunk ids and scores in order."""
        return {
            "stage": self.stage,
            "query": self.query,
            "chunk_ids": [chunk.chunk_id for chunk in self.chunks],
            "scores": [chunk.score for chunk in self.chunks],
        }


class Retrieval(NamedTuple):
    """The final context and the steps that led to it."""

    chunks: tuple[RetrievedChunk, ...]
    steps: tuple[Step, ...]

    def is_worth_telling(self, question: str | None) -> bool:
        """Return whether the steps say more than the final context does."""
        if len(self.steps) == 1:
            query = self.steps[0].query
            return bool(query) and query != question
        return bool(self.steps)


def final_context(tree: SpanTree) -> Retrieval:
    """Return the passages in the order the model got them, each once.

    A reranking replaces what was retrieved since the one before it: what it left out the model never saw, and
    stands in the steps only. Of nested retrievers the outermost that lists passages counts: what is inside fed it.
    """
    return context_of([_step(node) for node in _outermost(tree, _retrieving(tree))])


def context_of(steps: list[Step]) -> Retrieval:
    """Return the passages that the model got in the end, from the steps in order of time."""
    if len(steps) == 1:
        return Retrieval(each_once(list(steps[0].chunks), {}), tuple(steps))
    waiting: list[RetrievedChunk] = []
    final: list[RetrievedChunk] = []
    for step in steps:
        if step.stage == "reranker":
            final.extend(step.chunks)
            waiting = []
        else:
            waiting.extend(step.chunks)
    known = {
        chunk.chunk_id: chunk for step in reversed(steps) for chunk in step.chunks if chunk.text or chunk.text_hash
    }
    return Retrieval(each_once([*final, *waiting], known), tuple(steps))


def _filled(chunk: RetrievedChunk, known: RetrievedChunk | None) -> RetrievedChunk:
    """Give a passage that a later step names by its id alone the text and document of the step that found it."""
    if known is None or chunk.text or chunk.text_hash:
        return chunk
    return chunk._replace(text=known.text, text_hash=known.text_hash, doc_id=chunk.doc_id or known.doc_id)


def _retrieving(tree: SpanTree) -> list[Node]:
    stated = [node for node in tree.of_kind("retriever", "reranker") if node.facts.chunks]
    return stated or [node for node in tree.ai_nodes if node.facts.chunks and node.facts.kind != "evaluator"]


def _outermost(tree: SpanTree, nodes: list[Node]) -> list[Node]:
    if len(nodes) < 2:  # noqa: PLR2004 - one lies in no other
        return nodes
    listed = {node.span_id for node in nodes}
    return [node for node in nodes if not any(above.span_id in listed for above in tree.ancestors(node))]


def _step(node: Node) -> Step:
    return step_of(node.facts, "reranker" if node.facts.kind == "reranker" else "retriever")


def step_of(facts: SpanFacts, stage: str) -> Step:
    """Return the step of a span that retrieved, or reranked."""
    chunks = tuple([chunk if chunk.stage == stage else chunk._replace(stage=stage) for chunk in facts.chunks])
    return Step(stage, facts.query or facts.question, chunks)


def each_once(chunks: list[RetrievedChunk], known: dict[str, RetrievedChunk]) -> tuple[RetrievedChunk, ...]:
    """Return the passages each once, with what is `known` of those that lack it; ranks are counted anew if need be."""
    seen: dict[str, RetrievedChunk] = {}
    for chunk in chunks:
        if chunk.chunk_id not in seen:
            seen[chunk.chunk_id] = _filled(chunk, known.get(chunk.chunk_id)) if known else chunk
    kept = list(seen.values())
    ranks = [chunk.rank for chunk in kept]
    if ranks == sorted(set(ranks)):  # one list: its own places stand, also where its start is missing
        return tuple(kept)
    return tuple(chunk._replace(rank=place) for place, chunk in enumerate(kept))

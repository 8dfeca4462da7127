"""Tell a session that was logged as one trace from a turn of several steps, and cut it into its turns."""

from itertools import groupby, pairwise

from ingest.traces.tree import Node, SpanTree

_SPEAKING = frozenset({"chain", "agent"})
BESIDE = frozenset({"trace", "evaluator", "guardrail", "embedding", "prompt"})
"""Kinds of spans that are no turns, wherever they stand."""


def turns_of(tree: SpanTree) -> list[list[Node]]:
    """Return the spans of each turn, in order of time; nothing where the trace is one turn.

    Several turns are: steps of one name that follow one another, each with a question and an answer or error of its
    own, with nothing else of AI software beside them. Steps that ask the same in a row are one turn, such as a loop.
    """
    heads = _heads(tree)
    if len(heads) < 2 or not _are_turns(tree, heads):  # noqa: PLR2004 - one is no series
        return []
    grouped = [list(same) for _, same in groupby(heads, key=lambda node: node.facts.question)]
    if len(grouped) < 2:  # noqa: PLR2004 - one question is one turn
        return []
    turn_of = {head.span_id: place for place, same in enumerate(grouped) for head in same}
    turns: list[list[Node]] = [[] for _ in grouped]
    for node in tree.nodes:
        above = next((known for known in (node, *tree.ancestors(node)) if known.span_id in turn_of), None)
        if above is not None:
            turns[turn_of[above.span_id]].append(node)
    return turns


def _heads(tree: SpanTree) -> list[Node]:
    """Return the highest spans that may be turns: below an entry that says nothing itself, those under it."""
    entries = [node for node in tree.entries if node.facts.kind not in BESIDE]
    if len(entries) != 1 or entries[0].facts.question or entries[0].facts.answer:
        return entries
    return [node for node in tree.children(entries[0]) if node.facts.kind and node.facts.kind not in BESIDE]


def _are_turns(tree: SpanTree, heads: list[Node]) -> bool:
    if any(node.facts.skip or (node.facts.kind == "trace" and node.facts.question) for node in tree.nodes):
        return False
    if len({head.facts.name for head in heads}) > 1:
        return False
    speaks = all(
        head.facts.kind in _SPEAKING and head.facts.question and (head.facts.answer or head.facts.error)
        for head in heads
    )
    return speaks and all(0 < before.facts.end_ns <= after.started_ns for before, after in pairwise(heads))

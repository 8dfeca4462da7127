"""Tell a session that was logged as one trace from a turn of several steps, and cut it into its turns."""

from collections.abc import Sequence
from itertools import groupby, pairwise

from ingest.traces.facts import SpanFacts
from ingest.traces.tree import Node, SpanTree

_SPEAKING = frozenset({"chain", "agent"})
BESIDE = frozenset({"trace", "evaluator", "guardrail", "embedding", "prompt"})
"""Kinds of spans that are no turns, wherever they stand."""


def turns_of(tree: SpanTree) -> list[list[Node]]:
    """Return the spans of each turn, in order of time; nothing where the trace is one turn.

    Several turns are: steps of one name that follow one another, each with a question and an answer or error of its
    own, with nothing else of AI software beside them. Steps that ask the same in a row are one turn, such as a loop.
    The steps of a batch, which returns their answers and nothing else, may run side by side.
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
    if len(entries) != 1:
        return entries
    entry = entries[0].facts
    below = [node for node in tree.children(entries[0]) if node.facts.kind and node.facts.kind not in BESIDE]
    says_nothing = not entry.question and not entry.answer
    return below if says_nothing or is_batch(entry, [node.facts for node in below]) else entries


def is_batch(entry: SpanFacts, below: Sequence[SpanFacts]) -> bool:
    """Return whether all that an entry answers is what the steps below it answer, each to a question of its own."""
    answers = [facts.answer for facts in below if facts.answer]
    questions = {facts.question for facts in below}
    if not entry.answer or len(answers) < 2 or len(questions) < 2:  # noqa: PLR2004 - one is no batch
        return False
    if entry.question and entry.question not in questions:
        return False
    rest = entry.answer
    for answer in sorted(answers, key=len, reverse=True):
        before, found, after = rest.partition(answer)
        if not found:
            return False
        rest = f"{before}\n{after}"
    return not rest.strip()


def _are_turns(tree: SpanTree, heads: list[Node]) -> bool:
    if any(node.facts.skip or (node.facts.kind == "trace" and node.facts.question) for node in tree.nodes):
        return False
    if len({head.facts.name for head in heads}) > 1:
        return False
    speaks = all(
        head.facts.kind in _SPEAKING and head.facts.question and (head.facts.answer or head.facts.error)
        for head in heads
    )
    return speaks and (_follow_one_another(heads) or _are_a_batch(tree, heads))


def _follow_one_another(heads: list[Node]) -> bool:
    return all(0 < before.facts.end_ns <= after.started_ns for before, after in pairwise(heads))


def _are_a_batch(tree: SpanTree, heads: list[Node]) -> bool:
    above = next(tree.ancestors(heads[0]), None)
    return above is not None and is_batch(above.facts, [head.facts for head in heads])

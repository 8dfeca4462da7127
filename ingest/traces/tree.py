"""The spans of a trace as a tree: which is the entry, what lies below what."""

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from ingest.traces.facts import SpanFacts

_NOT_A_TURN = frozenset({"evaluator"})


class Node(NamedTuple):
    """One span with all that is known of it."""

    span_id: str
    facts: SpanFacts
    started_ns: int
    version_ns: int
    user_id: str | None

    def merged(self, other: "Node") -> "Node":
        """Return this span with what `other`, a log event or another export of it, adds; a later question counts."""
        mine, theirs = self.facts, other.facts
        filled = {
            name: getattr(theirs, name)
            for name in SpanFacts.__struct_fields__
            if not getattr(mine, name) and getattr(theirs, name)
        }
        if theirs.of and theirs.question:
            filled["question"] = theirs.question
        filled["is_silent"] = mine.is_silent and theirs.is_silent
        filled["of"] = mine.of and theirs.of
        return Node(
            self.span_id,
            msgspec.structs.replace(mine, **filled),
            self.started_ns or other.started_ns,
            max(self.version_ns, other.version_ns),
            self.user_id or other.user_id,
        )


class SpanTree:
    """Spans by start time, their parents, and the entry spans: the highest that belong to AI software."""

    def __init__(self, nodes: list[Node]) -> None:
        """Take the merged spans of one trace, in order of start time."""
        self.nodes = nodes
        self._parents = _acyclic_parents(nodes)
        self.ai_nodes = [node for node in nodes if node.facts.kind]
        """The spans of AI software, in order of start time."""
        self.entries = self._entries()
        """AI spans below no other AI span; their parent may be an HTTP span, missing, or none."""

    def _entries(self) -> list[Node]:
        return [node for node in self.ai_nodes if node.facts.kind not in _NOT_A_TURN and not self._is_below_ai(node)]

    def _is_below_ai(self, node: Node) -> bool:
        above = self._parents.get(node.span_id)
        while above is not None:
            if above.facts.kind:
                return True
            above = self._parents.get(above.span_id)
        return False

    def ancestors(self, node: Node) -> Iterator[Node]:
        """Yield the known spans above `node`, nearest first."""
        above = self._parents.get(node.span_id)
        while above is not None:
            yield above
            above = self._parents.get(above.span_id)

    def children(self, node: Node) -> list[Node]:
        """Return the spans right below `node`, in order of start time."""
        return [below for below in self.nodes if self._parents.get(below.span_id) is node]

    def of_kind(self, *kinds: str) -> list[Node]:
        """Return the spans of these kinds, in order of start time."""
        return [node for node in self.ai_nodes if node.facts.kind in kinds]

    def depth(self, node: Node) -> int:
        """Return how many known spans lie above `node`."""
        return sum(1 for _ in self.ancestors(node))


def _acyclic_parents(nodes: list[Node]) -> dict[str, Node]:
    """Return the parent of each span that has a known one; a link that would close a cycle is left out."""
    parents: dict[str, Node] = {}
    if len(nodes) == 1:
        return parents
    by_id = {node.span_id: node for node in nodes}
    settled: set[str] = set()
    for node in nodes:
        path = {node.span_id}
        current = node
        while current.span_id not in settled:
            above = by_id.get(current.facts.parent)
            settled.add(current.span_id)
            if above is None or above.span_id in path:
                break
            parents[current.span_id] = above
            path.add(above.span_id)
            current = above
    return parents

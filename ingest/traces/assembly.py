"""Make interactions of all spans of a trace, one unless it holds a whole session, or say why it is none."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from ingest.adapters.base import Caution, Skip, Span, Trace
from ingest.interaction import FeedbackEvent, Interaction
from ingest.traces.context import Retrieval, final_context
from ingest.traces.facts import from_span
from ingest.traces.identity import moment_of
from ingest.traces.several_turns import turns_of
from ingest.traces.tree import Node, SpanTree
from ingest.traces.turn import Turn, read_turn

_MOST_ALIASES = 40
_NEVER_NS = 2**63


class Verdict(NamedTuple):
    """Why a trace is no interaction, and the warning that goes with it."""

    reason: str
    caution: Caution | None = None


def assemble(trace: Trace, source: str) -> Iterator[Interaction | FeedbackEvent | Skip | Caution]:
    """Yield the interactions of `trace` and their cautions, or a Skip; the same for any order in which spans arrived.

    `source` is what the interaction id begins with: TRACE_SOURCE unless the format has ids of its own. The trace id is
    the native id of its first turn; a later turn of a session logged as one trace adds the id of its span.
    """
    try:
        tree = SpanTree(_facts_by_span(trace.spans))
    except msgspec.ValidationError as error:
        yield Skip(f"staged spans of another version: {error}")
        return
    turns = turns_of(tree)
    if not turns:
        yield from _made_of(tree, trace.trace_id, source, trace.trace_id)
        return
    shared = read_turn(tree)
    for place, nodes in enumerate(turns):
        native_id = f"{trace.trace_id}/{nodes[0].span_id}" if place else trace.trace_id
        for made in _made_of(SpanTree(nodes), native_id, source, trace.trace_id):
            yield _of_session(made, shared, trace.trace_id)


def _made_of(
    tree: SpanTree, native_id: str, source: str, trace_id: str
) -> Iterator[Interaction | FeedbackEvent | Skip | Caution]:
    """Yield the interaction of one turn and its cautions, or a Skip."""
    turn = read_turn(tree)
    retrieval = final_context(tree)
    verdict = _verdict(tree, turn, retrieval)
    if verdict is not None or turn.question is None:
        yield Skip(verdict.reason if verdict else "no question")
        if verdict is not None and verdict.caution is not None:
            yield verdict.caution
        return
    cautions = list(_cautions(tree))
    aliases = _aliases(tree, trace_id)
    yield _interaction(f"{source}:{native_id}", source, tree, turn, retrieval, aliases, cautions)
    yield from cautions


def _of_session(
    made: Interaction | FeedbackEvent | Skip | Caution, shared: Turn, trace_id: str
) -> Interaction | FeedbackEvent | Skip | Caution:
    """Give a turn of a session logged as one trace what stands on the trace; the trace itself is a session too."""
    if not isinstance(made, Interaction):
        return made
    session_id = made.session_id or shared.session_id or trace_id
    return made._replace(session_id=session_id, user_id=made.user_id or shared.user_id)


def _facts_by_span(spans: Iterable[Span]) -> list[Node]:
    """Merge the pieces of each span: log events, and the same span from another export."""
    nodes: dict[str, Node] = {}
    pieces = [(span, from_span(span)) for span in spans]
    if any(facts.of for _, facts in pieces):
        pieces.sort(key=lambda piece: (bool(piece[1].of), piece[0].started_ns, piece[0].span_id))
    for span, facts in pieces:
        span_id = facts.of or span.span_id
        known = nodes.get(span_id)
        node = Node(span_id, facts, span.started_ns, span.version_ns, span.user_id)
        nodes[span_id] = node if known is None else known.merged(node)
    return sorted(nodes.values(), key=_place)


def _place(node: Node) -> tuple[int, str]:
    return node.started_ns or _NEVER_NS, node.span_id


def _verdict(  # noqa: PLR0911 - one return per reason
    tree: SpanTree, turn: Turn, retrieval: Retrieval
) -> Verdict | None:
    """Return why the trace is no interaction, None when it is one."""
    for node in tree.nodes:
        if node.facts.skip:
            return Verdict(node.facts.skip)
    if not tree.ai_nodes:
        return Verdict("no AI span (health check or other traffic)")
    kinds = {node.facts.kind for node in tree.ai_nodes}
    if kinds <= {"evaluator"}:
        return Verdict("evaluator traffic or feedback carrier")
    if kinds <= {"embedding", "evaluator"}:
        return Verdict("embedding only (index building)")
    if turn.question is None and turn.answer is None:
        if any(node.facts.is_silent for node in tree.ai_nodes):
            return _content_off()
        return Verdict("no question and no answer")
    if turn.question is None:
        return Verdict("no question")
    if turn.answer is None and turn.error is None and kinds <= {"retriever", "reranker", "embedding", "evaluator"}:
        return Verdict("retrieval only, nothing answered" if retrieval.chunks else "no question and no answer")
    return None


def _content_off() -> Verdict:
    return Verdict(
        "content capture is off",
        Caution(
            "content-capture-off",
            "AI spans hold no texts: content capture is off, or the log events that carry it were not given. Set "
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT, or ingest the log file of the same traces too.",
        ),
    )


def _interaction(  # noqa: PLR0913, PLR0917 - one call, the parts it puts together
    interaction_id: str,
    source: str,
    tree: SpanTree,
    turn: Turn,
    retrieval: Retrieval,
    aliases: tuple[str, ...],
    cautions: list[Caution],
) -> Interaction:
    return Interaction(
        interaction_id=interaction_id,
        source=source,
        question=turn.question or "",
        answer=turn.answer,
        session_id=turn.session_id,
        user_id=turn.user_id,
        asked_at=moment_of(turn.started_ns),
        retrieved=retrieval.chunks,
        model=turn.model,
        prompt_version=turn.prompt_version,
        latency_ms=turn.latency_ms,
        input_tokens=turn.input_tokens,
        output_tokens=turn.output_tokens,
        cost=turn.cost,
        error=turn.error,
        stream_cut=turn.is_cut,
        metadata=_metadata(tree, turn, retrieval),
        aliases=aliases,
        version_ns=max([node.version_ns for node in tree.nodes], default=0),
        cautions=tuple(caution.message for caution in cautions),
    )


def _metadata(tree: SpanTree, turn: Turn, retrieval: Retrieval) -> dict[str, object] | None:
    found: dict[str, object] = {}
    for node in (*turn.entries, *tree.ai_nodes):
        for key, value in node.facts.metadata.items():
            if key not in found:
                found[key] = value
    if turn.failed_steps:
        found["failed_steps"] = list(turn.failed_steps)
    if retrieval.is_worth_telling(turn.question):
        found["retrieval_steps"] = [step.as_metadata() for step in retrieval.steps]
    return found or None


def _aliases(tree: SpanTree, trace_id: str) -> tuple[str, ...]:
    entries = [node.span_id for node in tree.entries if node.facts.kind != "trace"]
    stated = [alias for node in tree.nodes for alias in node.facts.aliases]
    if not stated and len(entries) == 1:
        return (entries[0],) if entries[0] != trace_id else ()
    return tuple(alias for alias in dict.fromkeys([*entries, *stated]) if alias and alias != trace_id)[:_MOST_ALIASES]


def _cautions(tree: SpanTree) -> Iterator[Caution]:
    for node in tree.ai_nodes:
        if node.facts.dropped:
            yield Caution(
                "evicted-attributes",
                f"span {node.facts.name or node.span_id!r} lost {node.facts.dropped} attributes to the SDK's limit of "
                "attributes per span: its first passages may be missing. Raise OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT.",
            )

"""What was asked and answered in a trace, by whom, when, at what cost, and what went wrong."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ingest.traces.facts import SpanFacts
from ingest.traces.tree import Node, SpanTree

_SPEAKING = ("trace", "agent", "chain")
_CLIENT_ERROR = 400


class Turn(NamedTuple):
    """One turn as the spans tell it; times in nanoseconds since 1970 UTC."""

    entries: list[Node]
    question: str | None
    answer: str | None
    is_cut: bool
    error: str | None
    failed_steps: tuple[str, ...]
    session_id: str | None
    user_id: str | None
    model: str | None
    prompt_version: str | None
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    started_ns: int
    latency_ms: float | None


class Reply(NamedTuple):
    """The answer, and whether its stream was cut."""

    text: str | None
    is_cut: bool


def read_turn(tree: SpanTree) -> Turn:
    """Return what the spans of `tree` tell about the turn; its question may be None."""
    entries = tree.entries
    spans = [node for node in entries if node.facts.kind != "trace"] or entries
    models = leaf_models(tree)
    latest_models = models[::-1]
    reply = _reply(tree, models)
    error = _error(tree, entries, reply)
    order = [*entries, *tree.ai_nodes]
    return Turn(
        entries=entries,
        question=_question(tree, models),
        answer=reply.text,
        is_cut=reply.is_cut,
        error=error,
        failed_steps=() if error else _failed_steps(tree),
        session_id=_first(order, "session_id"),
        user_id=next((node.user_id for node in order if node.user_id), None),
        model=_first(latest_models, "model") or _first(order, "model"),
        prompt_version=_first([*latest_models, *order], "prompt_version"),
        input_tokens=_summed(models, order, "input_tokens"),
        output_tokens=_summed(models, order, "output_tokens"),
        cost=_summed(models, order, "cost"),
        started_ns=min([node.started_ns for node in spans if node.started_ns], default=0),
        latency_ms=_latency_ms(spans, entries),
    )


def leaf_models(tree: SpanTree) -> list[Node]:
    """Return the model calls that hold no other model call: a wrapper repeats what is inside it."""
    models = tree.of_kind("llm")
    if len(models) < 2:  # noqa: PLR2004 - one holds no other
        return models
    wrapping = {above.span_id for node in models for above in tree.ancestors(node) if above.facts.kind == "llm"}
    return [node for node in models if node.span_id not in wrapping]


def _question(tree: SpanTree, models: list[Node]) -> str | None:
    entries = tree.entries
    if len(entries) > 1:
        entries = sorted(entries, key=lambda node: node.facts.kind != "trace")
    below = sorted(tree.of_kind(*_SPEAKING), key=tree.depth)
    speaking = [*(node for node in entries if node.facts.kind in _SPEAKING), *below]
    retrieving = tree.of_kind("retriever", "reranker")
    return question_of(*([node.facts for node in nodes] for nodes in (speaking, models, retrieving)))


def question_of(
    speaking: Iterable[SpanFacts], models: Iterable[SpanFacts], retrieving: Sequence[SpanFacts]
) -> str | None:
    """Return the words of the first of the `speaking` that has any; else what the last model was asked.

    The entry comes first of the `speaking`, then the higher before the lower; the others stand in order of time.
    """
    stated = next((facts.question for facts in speaking if facts.question is not None), None)
    if stated is None:
        stated = _asked_of_models(models, retrieving)
    if stated:
        return stated
    return next((query for facts in retrieving if (query := facts.query or facts.question) is not None), None)


def _asked_of_models(models: Iterable[SpanFacts], retrieving: Iterable[SpanFacts]) -> str | None:
    asked = [facts.question for facts in models if facts.question]
    if not asked:
        return None
    retrievers = (facts for facts in retrieving if facts.kind == "retriever")
    queries = [text for facts in retrievers if (text := facts.query or facts.question)]
    last = asked[-1]
    for shorter in [*asked[:-1], *queries]:  # a prompt built around the question holds it
        if len(shorter) * 2 < len(last) and shorter in last:
            return shorter
    return last


def _reply(tree: SpanTree, models: list[Node]) -> Reply:
    last = models[-1].facts if models else SpanFacts()
    return reply_of(_stated_answer(tree), last.answer, is_cut=last.is_cut)


def reply_of(stated: str | None, last: str | None, *, is_cut: bool) -> Reply:
    """Return the answer of a turn that states one, or None, and whose last model call said `last`, maybe cut."""
    if stated is None:
        return Reply(last, is_cut and last is not None)
    if last is not None and stated.endswith("...") and _is_shortened(stated.removesuffix("..."), last):
        return Reply(last, is_cut)
    is_fragment = last is not None and len(last.rstrip()) > len(stated.rstrip())
    if is_fragment and last and last.startswith(stated.rstrip()):
        return Reply(last, is_cut=True)
    return Reply(stated, is_cut)


def _is_shortened(head: str, whole: str) -> bool:
    """Return whether a text of which three dots stand for the rest is the beginning of a longer one."""
    return bool(head.strip()) and len(whole) > len(head) + 3 and whole.startswith(head)


def _stated_answer(tree: SpanTree) -> str | None:
    """The trace's own answer, else that of the entry which ended last: steps side by side come before it."""
    speaking = [node for node in tree.entries if node.facts.kind in _SPEAKING and node.facts.answer]
    if not speaking:
        return None
    if len(speaking) == 1:
        return speaking[0].facts.answer
    return max(speaking, key=lambda node: (node.facts.kind == "trace", node.facts.end_ns, node.started_ns)).facts.answer


def _error(tree: SpanTree, entries: Sequence[Node], reply: Reply) -> str | None:
    """The cause inside when the turn failed as a whole or said nothing; a step that failed on the way is no error."""
    stated = _first(entries, "error")
    failed = [node for node in tree.ai_nodes if node.facts.error and node.facts.kind != "evaluator"]
    if failed and (stated is not None or reply.text is None):
        return max(failed, key=lambda node: (tree.depth(node), node.started_ns, node.span_id)).facts.error
    for node in tree.nodes:
        status = node.facts.http_status
        if status and status >= _CLIENT_ERROR and not node.facts.parent:
            return f"HTTP {status}"
    return None


def _failed_steps(tree: SpanTree) -> tuple[str, ...]:
    return tuple(f"{node.facts.name}: {node.facts.error}" for node in tree.ai_nodes if node.facts.error)


def _latency_ms(spans: Sequence[Node], entries: Sequence[Node]) -> float | None:
    started = [node.started_ns for node in spans if node.started_ns]
    ended = [node.facts.end_ns for node in spans if node.facts.end_ns]
    if started and ended and max(ended) >= min(started):
        return (max(ended) - min(started)) / 1e6
    stated: float | None = _first(entries, "latency_ms")
    return stated


def _first(nodes: Iterable[Node], name: str) -> Any:
    """Return the first that is known of what the spans say under `name`, a field of SpanFacts."""
    for node in nodes:
        value = getattr(node.facts, name)
        if value is not None:
            return value
    return None


def _summed(models: list[Node], order: list[Node], name: str) -> Any:
    numbers = [value for node in models if (value := getattr(node.facts, name)) is not None]
    return sum(numbers) if numbers else _first(order, name)

"""The LangSmith adapter: runs as v1 and v2 dumps, bulk-export Parquet, and feedback records."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.adapters.base import Caution, Outcome, Record, Skip, Span, Trace
from ingest.adapters.guarding import guarded, surest
from ingest.adapters.langsmith_votes import feedback_event, is_feedback, stats_events
from ingest.interaction import FeedbackEvent, Interaction
from ingest.traces.assembly import assemble
from ingest.traces.dialects.values import (
    PROMPT_VERSION_KEYS,
    SESSION_KEYS,
    USER_KEYS,
    kept_metadata,
    name_in,
    object_in,
)
from ingest.traces.documents import chunks_in, chunks_of_tool, returned_chunks
from ingest.traces.errors import error_line
from ingest.traces.facts import SpanFacts, to_span
from ingest.traces.identity import nanoseconds
from ingest.traces.numbers import decimal, whole
from ingest.traces.texts import answer_in, parsed, question_in
from ingest.traces.votes import unclear_scorer

SOURCE = "langsmith"
_KINDS = {
    "llm": "llm",
    "chat_model": "llm",
    "chain": "chain",
    "agent": "agent",
    "retriever": "retriever",
    "reranker": "reranker",
    "tool": "tool",
    "embedding": "embedding",
    "prompt": "prompt",
    "parser": "prompt",
    "evaluator": "evaluator",
}
_OFFLOADED = "content of LangSmith runs is stored elsewhere"
_MODEL_KEYS = ("ls_model_name", "model_name", "model")


class LangSmithAdapter:
    """Reads one run or feedback record a record; LangSmith's session_id is a project and never a session."""

    name = "langsmith"
    description = "LangSmith: run dumps v1 and v2, bulk-export Parquet, feedback records"
    family = "langsmith"

    def detects(self, sample: Sequence[Any]) -> float:
        """Return how surely the records are LangSmith runs or feedback."""
        return surest(_confidence, sample)

    def read(self, records: Iterable[Record]) -> Iterator[Outcome]:
        """Yield a span of each run and a vote of each feedback record."""
        for record in records:
            yield from guarded(_outcomes, record, "a LangSmith run")

    def assemble(self, trace: Trace) -> Iterator[Interaction | FeedbackEvent | Skip | Caution]:
        """Yield the interaction of one trace of runs."""
        return assemble(trace, SOURCE)


ADAPTER = LangSmithAdapter()


def _outcomes(value: Any) -> Iterator[Outcome]:
    if _is_run(value):
        yield from _read_run(value)
    elif isinstance(value, dict) and is_feedback(value):
        yield from _votes(feedback_event(value, SOURCE))
    else:
        yield Skip("neither a run nor feedback")


def _votes(vote: FeedbackEvent | None) -> Iterator[Outcome]:
    if vote is None:
        yield Skip("feedback without a value or a target")
        return
    yield vote
    caution = unclear_scorer(vote)
    if caution is not None:
        yield caution


def _is_run(value: Any) -> bool:
    return isinstance(value, dict) and "run_type" in value and bool(value.get("id"))


def _confidence(value: Any) -> float:
    if _is_run(value):
        return 0.95 if "dotted_order" in value or "trace_id" in value else 0.7
    return 0.9 if isinstance(value, dict) and is_feedback(value) else 0.0


def _read_run(run: dict[str, Any]) -> Iterator[Outcome]:
    entered, output = parsed(run.get("inputs")), parsed(run.get("outputs"))
    yield _span_of(run, entered, output)
    if not entered and (run.get("inputs_s3_urls") or run.get("s3_urls")):
        yield Caution(
            "payload-offloaded", f"{_OFFLOADED} (inputs_s3_urls): export with inputs and outputs to read them."
        )
    yield from stats_events(run, SOURCE)
    children = parsed(run.get("child_runs"))
    for child in children if isinstance(children, list) else ():
        if _is_run(child):
            above = {"trace_id": run.get("trace_id") or run["id"], "parent_run_id": run["id"]}
            yield from _read_run(above | {key: value for key, value in child.items() if value is not None})


def _span_of(run: dict[str, Any], entered: Any, output: Any) -> Span:
    extra = object_in(run.get("extra"))
    metadata = {**object_in(extra.get("metadata")), **object_in(run.get("metadata"))}
    kind = _KINDS.get(str(run.get("run_type")).lower(), "chain")
    end_ns = nanoseconds(run.get("end_time"))
    facts = SpanFacts(
        kind=kind,
        name=str(run.get("name") or ""),
        parent=_parent_of(run),
        end_ns=end_ns,
        session_id=name_in(metadata, SESSION_KEYS) or name_in(run, ("thread_id",)),
        prompt_version=name_in(metadata, (*PROMPT_VERSION_KEYS, "lc_hub_commit_hash")),
        latency_ms=_latency_ms(run),
        error=error_line(run.get("error") or _preview_of_error(run)),
        skip="evaluation run (of a dataset example)" if run.get("reference_example_id") else None,
        metadata=_kept(run, metadata),
        aliases=[str(run["id"])] if _parent_of(run) else [],  # feedback on a step may name no trace
    )
    _read_texts(facts, entered, output)
    if kind == "llm":
        _read_model(facts, run, extra, metadata, output)
    return to_span(
        facts,
        trace_id=str(run.get("trace_id") or run["id"]),
        span_id=str(run["id"]),
        started_ns=nanoseconds(run.get("start_time")),
        version_ns=end_ns,
        user_id=name_in(metadata, USER_KEYS),
    )


def _read_texts(facts: SpanFacts, entered: Any, output: Any) -> None:
    if facts.kind in {"retriever", "reranker"}:
        facts.query = question_in(entered)
        facts.chunks = chunks_in(output, facts.kind)
    elif facts.kind == "tool":
        facts.query = question_in(entered)
        facts.chunks = chunks_of_tool(facts.name, output)
    elif facts.kind in {"chain", "agent", "llm"}:
        facts.question = question_in(entered)
        facts.answer = answer_in(output)
        facts.chunks = returned_chunks(output) if facts.kind != "llm" else []


def _read_model(
    facts: SpanFacts, run: dict[str, Any], extra: dict[str, Any], metadata: dict[str, Any], output: Any
) -> None:
    facts.model = name_in(metadata, _MODEL_KEYS) or name_in(object_in(extra.get("invocation_params")), _MODEL_KEYS)
    usage = object_in(metadata.get("usage_metadata")) or object_in(object_in(output).get("usage_metadata"))
    facts.input_tokens = whole(run.get("prompt_tokens") or usage.get("input_tokens")) or None
    facts.output_tokens = whole(run.get("completion_tokens") or usage.get("output_tokens")) or None
    facts.cost = decimal(run.get("total_cost")) or None


def _parent_of(run: dict[str, Any]) -> str:
    parent = run.get("parent_run_id")
    if isinstance(parent, str) and parent:
        return parent
    above = parsed(run.get("parent_run_ids"))
    return str(above[-1]) if isinstance(above, list) and above else ""


def _preview_of_error(run: dict[str, Any]) -> Any:
    preview = run.get("error_preview")
    return preview or ("error" if str(run.get("status")).lower() == "error" else None)


def _latency_ms(run: dict[str, Any]) -> float | None:
    latency_s = decimal(run.get("latency_seconds"))
    return latency_s * 1000 if latency_s is not None else None


def _kept(run: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    kept = kept_metadata(metadata, without=("usage_metadata", "revision_id"))
    tags = [tag for tag in parsed(run.get("tags")) or () if isinstance(tag, str) and ":" not in tag]
    return kept | ({"tags": tags} if tags and not _parent_of(run) else {})

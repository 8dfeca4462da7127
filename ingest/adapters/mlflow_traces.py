"""What MLflow's trace objects of schema 2 and 3 tell, and the assessments on them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from ingest.adapters.base import Span
from ingest.adapters.flat_spans import events_of, is_blank
from ingest.adapters.mlflow_reader import in_known_schema
from ingest.traces.dialects import facts_of
from ingest.traces.dialects.raw_span import RawSpan
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
from ingest.traces.identity import hex_id, nanoseconds
from ingest.traces.numbers import decimal, whole
from ingest.traces.texts import answer_in, parsed, question_in, unquoted

_KINDS = {
    "LLM": "llm",
    "CHAT_MODEL": "llm",
    "CHAIN": "chain",
    "WORKFLOW": "chain",
    "TASK": "chain",
    "UNKNOWN": "chain",
    "AGENT": "agent",
    "TOOL": "tool",
    "RETRIEVER": "retriever",
    "RERANKER": "reranker",
    "EMBEDDING": "embedding",
    "PARSER": "prompt",
    "MEMORY": "prompt",
    "EVALUATOR": "evaluator",
    "GUARDRAIL": "guardrail",
}
_SESSION = ("mlflow.trace.session", *SESSION_KEYS, "session")
_USER = ("mlflow.trace.user", *USER_KEYS)
_ERROR_CODES = frozenset({"STATUS_CODE_ERROR", "ERROR"})


class MlflowTrace(NamedTuple):
    """A trace's info and spans, whichever schema and file they came in."""

    trace_id: str
    info: dict[str, Any]
    metadata: dict[str, Any]
    tags: dict[str, Any]
    spans: list[dict[str, Any]]

    @property
    def assessments(self) -> list[dict[str, Any]]:
        """What people, judges and code said of the trace."""
        found = parsed(self.info.get("assessments"))
        return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def trace_in(value: Any) -> MlflowTrace | None:
    """Return the trace in a record: a trace's JSON, or a row of a search_traces frame; None when it is neither."""
    if not isinstance(value, dict):
        return None
    whole_trace = parsed(value.get("trace")) if "trace" in value else value
    if isinstance(whole_trace, dict) and isinstance(whole_trace.get("info"), dict):
        whole_trace = in_known_schema(whole_trace)
        return _trace_of(whole_trace["info"], object_in(whole_trace.get("data")).get("spans"))
    if (alone := _spans_alone(value)) and (named := _attribute(_attributes(alone[0]), "mlflow.traceRequestId")):
        return _trace_of({"trace_id": named}, alone)
    is_frame = ("trace_id" in value or "request_id" in value) and isinstance(parsed(value.get("spans")), list)
    has_info = any(key in value for key in ("execution_duration", "execution_time_ms", "trace_metadata"))
    return _trace_of(dict(value), value.get("spans")) if is_frame and has_info else None


def _spans_alone(value: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the spans of a trace's artifact, which has no info, or a span that stands for itself."""
    listed = value.get("spans") if value.keys() <= {"spans", "request", "response"} else [value]
    spans = [span for span in listed if isinstance(span, dict)] if isinstance(listed, list) else []
    is_own = all(isinstance(span.get("start_time_unix_nano", span.get("start_time")), int) for span in spans)
    return spans if is_own else []


def _trace_of(info: dict[str, Any], spans: Any) -> MlflowTrace | None:
    if not ("request_id" in info or "trace_id" in info):
        return None
    listed = [span for span in parsed(spans) or () if isinstance(span, dict)] if parsed(spans) else []
    stated = str(info.get("trace_id") or info.get("request_id") or "")
    in_spans = next((found for span in listed if (found := _ids(span).trace_id)), "")
    return MlflowTrace(
        hex_id(stated) or in_spans,
        info,
        _dict_in(info.get("trace_metadata")) or _dict_in(info.get("request_metadata")),
        _dict_in(info.get("tags")),
        listed,
    )


def _dict_in(value: Any) -> dict[str, Any]:
    found = parsed(value)
    if isinstance(found, list):  # schema 2 in protobuf's JSON: a list of {key, value}
        return {str(item.get("key")): item.get("value") for item in found if isinstance(item, dict)}
    return {key: held for key, held in found.items() if not is_blank(held)} if isinstance(found, dict) else {}


class _SpanIds(NamedTuple):
    trace_id: str
    span_id: str
    parent_id: str


def _ids(span: Mapping[str, Any]) -> _SpanIds:
    context = object_in(span.get("context"))
    return _SpanIds(
        hex_id(span.get("trace_id") or context.get("trace_id")),
        hex_id(span.get("span_id") or context.get("span_id")),
        hex_id(span.get("parent_span_id") or span.get("parent_id")),
    )


def info_span(trace: MlflowTrace) -> Span:
    """Return a pseudo span of the trace's info: session, user, tags; its cut previews only where spans are missing."""
    info, metadata = trace.info, trace.metadata
    called_with = _root_inputs(trace)
    usage = object_in(metadata.get("mlflow.trace.tokenUsage"))
    started_ns = nanoseconds(info.get("request_time")) or nanoseconds(info.get("timestamp_ms"))
    duration = info.get("execution_duration_ms") or info.get("execution_time_ms") or info.get("execution_duration")
    facts = SpanFacts(
        kind="trace",
        name=str(trace.tags.get("mlflow.traceName") or ""),
        session_id=name_in(metadata, _SESSION) or name_in(trace.tags, _SESSION) or name_in(called_with, _SESSION),
        prompt_version=name_in(metadata, PROMPT_VERSION_KEYS) or name_in(trace.tags, PROMPT_VERSION_KEYS),
        input_tokens=whole(usage.get("input_tokens")),
        output_tokens=whole(usage.get("output_tokens")),
        latency_ms=_milliseconds(duration),
        aliases=_aliases(trace),
        metadata=_kept(trace),
    )
    if not trace.spans:
        facts.question = question_in(_preview(trace, "request", "mlflow.traceInputs"))
        facts.answer = answer_in(_preview(trace, "response", "mlflow.traceOutputs"))
        facts.error = "error" if str(info.get("state") or info.get("status")).upper() == "ERROR" else None
    return to_span(
        facts,
        trace_id=trace.trace_id,
        span_id=f"trace:{trace.trace_id}",
        started_ns=started_ns,
        version_ns=started_ns,
        user_id=name_in(metadata, _USER) or name_in(trace.tags, _USER) or name_in(called_with, _USER),
    )


def _preview(trace: MlflowTrace, name: str, metadata_key: str) -> Any:
    info = trace.info
    return unquoted(info.get(name) or info.get(f"{name}_preview") or trace.metadata.get(metadata_key))


def _milliseconds(duration: Any) -> float | None:
    if isinstance(duration, str) and duration.endswith("s"):  # protobuf's JSON of a duration
        seconds = decimal(duration[:-1])
        return seconds * 1000 if seconds is not None else None
    return decimal(duration)


def _root_inputs(trace: MlflowTrace) -> dict[str, Any]:
    root = next((span for span in trace.spans if not _ids(span).parent_id), {})
    called = object_in(_attribute(_attributes(root), "mlflow.spanInputs"))
    request = object_in(called.get("request")) or called  # an agent says who asks beside what is asked
    return {**object_in(request.get("custom_inputs")), **object_in(request.get("context")), **called}


def _aliases(trace: MlflowTrace) -> list[str]:
    stated = (trace.info.get(key) for key in ("client_request_id", "trace_id", "request_id"))
    return [text for value in stated if isinstance(value, str) and (text := value.strip())]


def _kept(trace: MlflowTrace) -> dict[str, Any]:
    kept = kept_metadata({key: value for key, value in trace.tags.items() if not key.startswith("mlflow.")})
    own = {key: value for key, value in trace.metadata.items() if not key.startswith("mlflow.")}
    expectations = {
        str(item.get("assessment_name") or item.get("name")): _expected(item)
        for item in trace.assessments
        if isinstance(item.get("expectation"), dict)
    }
    return kept | kept_metadata(own) | ({"expectations": expectations} if expectations else {})


def _expected(assessment: dict[str, Any]) -> Any:
    expectation = assessment["expectation"]
    if expectation.get("value") is not None:
        return expectation["value"]
    return unquoted(object_in(expectation.get("serialized_value")).get("value"))


def span_of(trace: MlflowTrace, span: dict[str, Any]) -> Span:
    """Return the staged form of one MLflow span; other instrumentations' attributes on it are read too."""
    ids = _ids(span)
    attributes = _attributes(span)
    started_ns = _time_of(span, "start_time")
    end_ns = _time_of(span, "end_time")
    raw = RawSpan(
        trace.trace_id, ids.span_id, ids.parent_id, str(span.get("name") or ""), started_ns, end_ns,
        attributes=attributes,
    )  # fmt: skip
    merged = facts_of(raw)
    facts = merged.facts
    if "mlflow.spanType" in attributes or not facts.kind:
        _read_mlflow(facts, attributes)
    facts.error = _error_of(span) or facts.error
    return to_span(
        facts,
        trace_id=trace.trace_id,
        span_id=ids.span_id,
        started_ns=started_ns,
        version_ns=end_ns,
        user_id=merged.user_id,
    )


def _time_of(span: Mapping[str, Any], name: str) -> int:
    stated = (nanoseconds(span.get(key)) for key in (f"{name}_unix_nano", name, f"{name}_ns"))
    return next((time_ns for time_ns in stated if time_ns), 0)


def _read_mlflow(facts: SpanFacts, attributes: dict[str, Any]) -> None:
    facts.kind = _KINDS.get(str(_attribute(attributes, "mlflow.spanType")).upper(), "chain")
    entered = _attribute(attributes, "mlflow.spanInputs")
    output = _attribute(attributes, "mlflow.spanOutputs")
    if facts.kind in {"retriever", "reranker"}:
        facts.query = facts.query or question_in(entered)
        facts.chunks = facts.chunks or chunks_in(output, facts.kind)
    elif facts.kind == "tool":
        facts.query = question_in(entered)
        facts.chunks = chunks_of_tool(facts.name, output)
    elif facts.kind in {"chain", "agent", "llm"}:
        facts.question = question_in(entered) or facts.question
        facts.answer = answer_in(output) or facts.answer
        facts.chunks = returned_chunks(output) if facts.kind != "llm" else []
    if facts.kind == "llm":
        _read_model(facts, attributes, object_in(output))


def _read_model(facts: SpanFacts, attributes: dict[str, Any], output: dict[str, Any]) -> None:
    usage = object_in(_attribute(attributes, "mlflow.chat.tokenUsage")) or object_in(output.get("usage"))
    facts.input_tokens = whole(_either(usage, "input_tokens", "prompt_tokens")) or facts.input_tokens
    facts.output_tokens = whole(_either(usage, "output_tokens", "completion_tokens")) or facts.output_tokens
    facts.model = name_in({"model": _attribute(attributes, "mlflow.llm.model")}, ("model",)) or facts.model
    facts.model = facts.model or name_in(output, ("model",))
    facts.cost = decimal(object_in(_attribute(attributes, "mlflow.llm.cost")).get("total_cost")) or facts.cost


def _either(values: dict[str, Any], newer: str, older: str) -> Any:
    return values.get(newer) if values.get(newer) is not None else values.get(older)


def _attributes(span: Mapping[str, Any]) -> dict[str, Any]:
    return {key: held for key, held in _dict_in(span.get("attributes")).items() if held is not None}


def _attribute(attributes: dict[str, Any], name: str) -> Any:
    """Return an attribute of MLflow's own, every one of which is JSON text."""
    value = attributes.get(name)
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return value


def _error_of(span: Mapping[str, Any]) -> str | None:
    status = span.get("status")
    stated = status if isinstance(status, dict) else span
    code = stated.get("code") or stated.get("status_code")
    message = stated.get("message") or stated.get("description") or stated.get("status_message")
    if str(code).upper() not in _ERROR_CODES:
        return None
    exception = next((held for name, held in events_of(parsed(span.get("events"))) if name == "exception"), {})
    told = exception.get("exception.message") or message
    return error_line(told, exception.get("exception.type")) or "error"

"""Made-up OTLP traces of all sorts, and lines between them that are spelled in other ways or broken."""

import json
import random
from pathlib import Path
from typing import Any

from tests.ingest.test_trace_assembly import batch, span


def pick(source: random.Random, *values: Any) -> Any:
    return values[source.randrange(len(values))]


TEXTS = (
    *("where is it?", "there", " padded ", "", "null", "{}", "[]", "  ", "Grüße 日本", 'line\nbreak "quoted" \\ slash'),
    *("mail ann@corp.example or +44 20 7946 0958", "user-1 asks", '{"question": "what?"}', '{"answer": "that"}'),
    *(
        '{"documents": [{"id": "k9", "text": "handed on", "metadata": {"doc_id": "d9"}}]}',
        "{not json",
        "4711",
        "\u3000x",
    ),
    *("content='printed' additional_kwargs={}", "<generator object answer at 0x7f3a>", "<b>bold</b>"),
    *('[{"role": "user", "content": "said in a list"}]', '"quoted"', '{"role": "assistant", "content": "spoken"}'),
)
NAMES = ("sess-1", "user-1", "user-2@corp.example", " v1 ", "", "unknown", "null", 17)
KINDS = ("CHAIN", "CHAIN", "RETRIEVER", "LLM", "LLM", "AGENT", "EMBEDDING", "chain", "TOOL", "RERANKER", "PROMPT")
ODD_KINDS = ("EVALUATOR", "GUARDRAIL", "UNKNOWN", "", "Llm", 7)


def random_document(source: random.Random, rank: int) -> dict[str, Any]:
    text = f"text {source.randrange(6)}"
    fields = {
        "id": pick(source, f"k{rank}", f"k{source.randrange(4)}", "é", ""),
        "content": pick(source, text, text, text, "", "  "),
        "score": pick(source, 0.5, 1.0, 3, "0.25", 1e-7, 123456789012.5),
        "metadata": pick(source, '{"doc_id": "d1"}', '{"source": "s"}', "{}", "none"),
    }
    if source.random() < 0.2:
        del fields[pick(source, *fields)]
    return {f"retrieval.documents.{rank}.document.{name}": value for name, value in fields.items()}


def random_attributes(source: random.Random, kind: Any, *, is_odd: bool) -> dict[str, Any]:
    attributes: dict[str, Any] = {"openinference.span.kind": kind} if kind != "" else {}
    for key, values in {
        "session.id": NAMES,
        "user.id": ("user-1", "user-1", "user-2", 'a "user"'),
        "input.value": TEXTS,
        "output.value": TEXTS,
        "input.mime_type": ("application/json", "text/plain"),
        "output.mime_type": ("application/json", "text/plain"),
        "metadata": ('{"thread_id": "t1", "tenant": "acme"}', '{"user_id": "user-7", "n": 1, "f": 1.0}', "{}", "x"),
        "tag.tags": (["a", "b"], []),
        "llm.model_name": NAMES,
        "llm.prompt_template.version": NAMES,
        "llm.prompt_template.template": ("{context}",),
        "llm.token_count.prompt": (12, 12.0, 2**60, "7"),
        "llm.token_count.completion": (40, 0),
        "llm.cost.total": (0.25, 1, "0.5", 2.5e-5),
        "retrieval.query": TEXTS,
    }.items():
        if source.random() < (0.7 if key in {"input.value", "output.value"} else 0.3):
            attributes[key] = pick(source, *values)
    if kind == "RETRIEVER" or source.random() < 0.05:
        for rank in range(source.randrange(4)):
            attributes |= random_document(source, rank)
    for side, role in (("input", "user"), ("output", "assistant")):
        for number in range(source.randrange(3) if kind == "LLM" else 0):
            said = f"llm.{side}_messages.{number}.message."
            attributes[f"{said}role"] = pick(source, role, role, "system", "assistant")
            attributes[f"{said}content"] = pick(source, *TEXTS)
    if is_odd:
        attributes |= pick(
            source,
            {"gen_ai.operation.name": "chat"},
            {"llm.input_messages.0.message.contents.0.message_content.text": "in parts"},
            {"annotations.0.annotation.name": "user_feedback", "annotations.0.annotation.score": 1},
            {"metadata.tenant": "flat"},
            {"http.response.status_code": 502},
            {"reranker.query": "ranked by this?"},
        )
    return attributes


def random_trace(source: random.Random, number: int, *, oddity: float) -> list[dict[str, Any]]:
    size = source.randrange(1, 6)
    spans = []
    for at in range(size):
        is_odd = source.random() < oddity
        kind = "CHAIN" if at == 0 and source.random() < 0.9 else pick(source, *(ODD_KINDS if is_odd else KINDS))
        parent = "" if at == 0 else str(source.randrange(1, at + 1))
        made = span(
            str(at + 1),
            parent,
            at=source.randrange(3) if is_odd else at,
            lasting=source.randrange(9),
            trace_id=f"{number + 1:032x}",
            error="timed out" if is_odd and source.random() < 0.3 else "",
            name=pick(source, "step", "rerank", "answer me@corp.example") if is_odd else "step",
            **random_attributes(source, kind, is_odd=is_odd),
        )
        spans.append(made | (pick(source, *ODD_FIELDS) if is_odd else {}))
    source.shuffle(spans)
    return spans


ODD_FIELDS: tuple[dict[str, Any], ...] = (
    {},
    {"parentSpanId": "ffffffffffffffff"},
    {"parentSpanId": "0" * 16},
    {"droppedAttributesCount": 3},
    {"startTimeUnixNano": 1_795_997_562_000_000_123, "endTimeUnixNano": 0},
    {"startTimeUnixNano": "0"},
    {"status": {"code": "STATUS_CODE_ERROR", "message": "no"}},
    {"events": [{"name": "exception", "attributes": [{"key": "exception.message", "value": {"stringValue": "x"}}]}]},
    {"links": [{"traceId": "1" * 32, "spanId": "2" * 16}]},
    {"flags": 256, "traceState": "a=b", "kind": "SPAN_KIND_INTERNAL"},
    {"attributes": []},
    {"attributes": None},
    {"name": None},
    {"spanId": "00000000000000AB"},
)


def write_random_log(path: Path, seed: int, count: int, *, oddity: float) -> Path:
    """Write traces of all sorts, some torn over lines, lines in other spellings between them."""
    source = random.Random(seed)  # noqa: S311 - made-up traces
    torn: list[dict[str, Any]] = []
    lines: list[bytes] = []
    for number in range(count):
        spans = random_trace(source, number, oddity=oddity)
        if source.random() < oddity:
            torn.append(spans.pop())
        resource = pick(
            source, {"service__name": "bot"}, {"service__name": "bot"}, {}, {"service__name": "x@corp.example"}
        )
        lines.append(json.dumps(batch(*spans, **resource), ensure_ascii=False).encode())
        if torn and source.random() < 0.5:
            lines.append(json.dumps(batch(torn.pop())).encode())
    lines.extend(json.dumps(batch(late)).encode() for late in torn)
    lines[len(lines) // 2 : len(lines) // 2] = ODD_LINES if oddity else []
    path.write_bytes(b"\n".join(lines))
    return path


def usual(**changes: Any) -> dict[str, Any]:
    texts: dict[str, Any] = {"input.value": "asked in an odd line?", "output.value": "answered"}
    return span("1", trace_id="e" * 32, openinference__span__kind="CHAIN", **texts) | changes


NO_NUMBER = {"key": "llm.token_count.prompt", "value": {"intValue": "x"}}
MODEL_CALL = [{"key": "openinference.span.kind", "value": {"stringValue": "LLM"}}]
NO_TEXT = {"key": "input.value", "value": {"stringValue": 5}}
ODD_LINES = [
    b"",
    b"   ",
    b"no json at all",
    b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "cut',
    json.dumps({"resourceSpans": []}).encode(),
    json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": []}]}]}).encode(),
    json.dumps({"resource_spans": batch(usual())["resourceSpans"]}).encode(),
    json.dumps(batch(usual(traceId="4711"))).encode(),
    json.dumps(batch(usual(traceId="0" * 32), usual(traceId="d" * 32))).encode(),
    json.dumps(batch(usual(traceId="c" * 32, spanId=""))).encode(),
    json.dumps(batch(usual(traceId="A" * 32))).encode(),
    json.dumps(batch(usual(traceId="b" * 32, attributes=[NO_NUMBER, *MODEL_CALL]))).encode(),
    json.dumps(batch(usual(traceId="9" * 32, attributes=[NO_TEXT]))).encode(),
    json.dumps(batch(usual(traceId="8" * 32, attributes=[{"key": "a", "value": {}}, {"key": "b"}]))).encode(),
    json.dumps(batch(usual(traceId="7" * 32, extra={"a": 1}))).encode(),
    json.dumps(batch(usual(traceId="6" * 32)) | {"resourceLogs": []}).encode(),
    json.dumps(batch(usual(traceId="5" * 32, name="lone \ud83d surrogate"))).encode(),
    json.dumps(batch(usual(traceId="4" * 32, name="bad"))).encode().replace(b"bad", b"b\xffd"),
    b"\xef\xbb\xbf" + json.dumps(batch(usual(traceId="3" * 32))).encode(),
    json.dumps(batch(usual(traceId="2" * 32, endTimeUnixNano="9" * 19))).encode() + b"\r",
    b"2026-11-30 INFO " + json.dumps(batch(usual(traceId="f" * 32))).encode(),
]

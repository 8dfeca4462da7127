"""Lines in the collector's own spelling, read column by column, give what the full readers make of them."""

import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.adapters.base import Record, Span, UsualLines
from ingest.adapters.otlp import ADAPTER, OtlpAdapter
from ingest.loading import ingest
from ingest.log_store import LogStore
from ingest.privacy import SALT_NAME
from ingest.reading.parsing import parse_line
from ingest.settings import PrivacySettings
from ingest.traces import plain_turns
from ingest.traces.facts import payload_text
from tests.ingest.ingest_support import rows, tables
from tests.ingest.test_fast_reading import assert_same_store
from tests.ingest.test_trace_assembly import batch, span

SAMPLES = (
    *("otlp_openinference_full", "otlp_openinference_langchain", "otlp_openinference_llamaindex"),
    *("otlp_openinference_http_root", "otlp_genai_semconv_langchain", "otlp_genai_events_traces"),
    *("otlp_openllmetry_langchain", "otlp_langfuse_sdk", "otlp_stream_cancelled_oi", "otlp_stream_cancelled_ga"),
)
TRACES = "SELECT * EXCLUDE (ingest_id) FROM traces ORDER BY trace_id"
ACCOUNT = {"read", "made", "skipped", "quarantined", "interactions", "feedback", "redactions", "spans_new", "warnings"}


class Watched:
    """How many lines and turns were read the quick way."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.usual = self.left = self.plain = 0
        read_lines, add_turns = OtlpAdapter.read_lines, plain_turns.add_turns

        def watched_lines(adapter: OtlpAdapter, lines: Any) -> UsualLines:
            found = read_lines(adapter, lines)
            self.usual += len(lines) - len(found.left)
            self.left += len(found.left)
            return found

        def watched_turns(made: Any, traces: Any, source: str, **options: Any) -> None:
            self.plain += len(traces)
            add_turns(made, traces, source, **options)

        monkeypatch.setattr(OtlpAdapter, "read_lines", watched_lines)
        for module in ("traces.plain_turns", "usual_traces"):
            monkeypatch.setattr(f"ingest.{module}.add_turns", watched_turns)


def store_after(log: Path, folder: Path, privacy: PrivacySettings) -> tuple[dict[str, Any], dict[str, Any]]:
    store = LogStore(folder / "logs.duckdb")
    folder.mkdir()
    (folder / SALT_NAME).write_text("5a" * 32, encoding="ascii")
    report = ingest([log], store=store, privacy=privacy, workers=1)
    found = tables(store) | {
        "traces": rows(store, TRACES),
        "aliases": rows(store, "FROM interaction_aliases ORDER BY ALL"),
    }
    return found, report.model_dump(include=ACCOUNT)


def assert_same_both_ways(
    log: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, privacy: PrivacySettings | None = None
) -> Watched:
    """Ingest a log with and without the quick readers and compare the stores; return how the quick ones fared."""
    privacy = privacy or PrivacySettings()
    with monkeypatch.context() as patched:
        patched.setattr(OtlpAdapter, "read_lines", lambda _, lines: UsualLines([], {}, [], list(range(len(lines)))))
        patched.setattr(OtlpAdapter, "turn_source", "")
        slow = store_after(log, folder / "slow", privacy)
    watched = Watched(monkeypatch)
    assert_same_store(slow, store_after(log, folder / "fast", privacy))
    return watched


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


@pytest.mark.parametrize("oddity", [0.0, 0.15], ids=["plain", "odd"])
@pytest.mark.parametrize("seed", range(3))
def test_traces_of_all_sorts_give_the_same_tables_and_account(
    seed: int, oddity: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = write_random_log(tmp_path / "log.jsonl", seed, 400, oddity=oddity)
    watched = assert_same_both_ways(log, tmp_path, monkeypatch)
    assert watched.usual > 250
    assert watched.plain > 60
    assert bool(watched.left) is bool(oddity)


@pytest.mark.parametrize("privacy", [PrivacySettings(redact=False), PrivacySettings(patterns={"ticket": "text [0-9]"})])
def test_they_do_whatever_is_redacted(
    privacy: PrivacySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = write_random_log(tmp_path / "log.jsonl", 7, 200, oddity=0.1)
    assert_same_both_ways(log, tmp_path, monkeypatch, privacy)


def multiplied(sample: Path, place: Path, times: int) -> Path:
    """Write a sample several times over, each time with trace ids of its own, a few spans a line."""
    resources = [entry for line in sample.open("rb") for entry in json.loads(line)["resourceSpans"]]
    with place.open("w", encoding="utf-8") as stream:
        for number, entry in itertools.product(range(times), resources):
            spans = [made for scope in entry["scopeSpans"] for made in scope["spans"]]
            for first in range(0, len(spans), 6):
                some = [made | {"traceId": f"{number:02x}{made['traceId'][2:]}"} for made in spans[first : first + 6]]
                message = {"resourceSpans": [entry | {"scopeSpans": [{"spans": some}]}]}
                stream.write(json.dumps(message) + "\n")
    return place


@pytest.mark.parametrize("name", SAMPLES)
def test_what_tools_write_gives_the_same_tables(
    name: str, shared_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = multiplied(shared_folder / "logs" / f"{name}.jsonl", tmp_path / "log.jsonl", 5)
    watched = assert_same_both_ways(log, tmp_path, monkeypatch)
    assert watched.usual > watched.left


def read_in_full(line: bytes) -> list[Any]:
    parsed = parse_line(line)
    return [] if parsed.fault else list(ADAPTER.read([Record("log", 1, parsed.value)]))


def as_compared(outcomes: list[Any]) -> list[str]:
    spans = (outcome for outcome in outcomes if isinstance(outcome, Span))
    rest = (repr(outcome) for outcome in outcomes if not isinstance(outcome, Span))
    return sorted([*(f"{span[:2]} {span[3:6]} {payload_text(span.payload)}" for span in spans), *rest])


@given(
    seed=st.integers(0, 40),
    at=st.floats(0, 1),
    length=st.integers(0, 30),
    put=st.one_of(st.binary(max_size=6), st.sampled_from([b"null", b'"', b"{}", b"[]", b"1", b'"x"', b"\\u0000"])),
)
def test_a_damaged_line_is_left_or_read_as_in_full(seed: int, at: float, length: int, put: bytes) -> None:
    source = random.Random(seed)  # noqa: S311 - made-up traces
    line = json.dumps(batch(*random_trace(source, 1, oddity=0.1), service__name="bot")).encode()
    start = int(at * len(line))
    line = line[:start] + put.replace(b"\n", b"") + line[start + length :]
    found = ADAPTER.read_lines([line])
    if not found.left:
        assert as_compared([*found.spans, *found.rest]) == as_compared(read_in_full(line))

"""Lines in the collector's own spelling, read column by column, give what the full readers make of them."""

import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest import reading_jobs
from ingest.adapters.base import Record, Span, UsualLines
from ingest.adapters.otlp import ADAPTER, OtlpAdapter
from ingest.loading import ingest
from ingest.log_store import LogStore
from ingest.privacy import SALT_NAME
from ingest.reading.parsing import parse_line
from ingest.settings import PrivacySettings
from ingest.spans.packs import dissolve_packs
from ingest.traces import plain_turns
from ingest.traces.facts import payload_text
from tests.ingest.ingest_support import rows, tables
from tests.ingest.random_traces import random_trace, write_random_log
from tests.ingest.test_fast_reading import assert_same_store
from tests.ingest.test_trace_assembly import batch

AlikeReader: Any = getattr(reading_jobs, "AlikeReader")  # noqa: B009 - not exported
"""None where the extension is not built."""

SAMPLES = (
    *("otlp_openinference_full", "otlp_openinference_langchain", "otlp_openinference_llamaindex"),
    *("otlp_openinference_http_root", "otlp_genai_semconv_langchain", "otlp_genai_events_traces"),
    *("otlp_openllmetry_langchain", "otlp_langfuse_sdk", "otlp_stream_cancelled_oi", "otlp_stream_cancelled_ga"),
)
TRACES = "SELECT * EXCLUDE (ingest_id, digest) FROM traces ORDER BY trace_id"
ACCOUNT = {"read", "made", "skipped", "quarantined", "interactions", "feedback", "redactions", "spans_new", "warnings"}


class Watched:
    """How many lines and turns were read the quick way."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.usual = self.left = self.plain = self.alike = 0
        read_lines, add_turns = OtlpAdapter.read_lines, plain_turns.add_turns

        def watched_lines(adapter: OtlpAdapter, lines: Any) -> UsualLines:
            found = read_lines(adapter, lines)
            self.usual += len(lines) - len(found.left)
            self.left += len(found.left)
            return found

        def watched_turns(made: Any, traces: Any, source: str, **options: Any) -> None:
            self.plain += len(traces)
            add_turns(made, traces, source, **options)

        if AlikeReader is not None:
            self._watch_blocks(monkeypatch)
        monkeypatch.setattr(OtlpAdapter, "read_lines", watched_lines)
        for module in ("traces.plain_turns", "spans.usual_traces"):
            monkeypatch.setattr(f"ingest.{module}.add_turns", watched_turns)

    def _watch_blocks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        read_alike = AlikeReader.read

        def watched_blocks(reader: Any, content: bytes) -> Any:
            found = read_alike(reader, content)
            if found is not None:
                self.usual += found.lines
                self.plain += found.traces.num_rows
                self.alike += found.traces.num_rows
            return found

        monkeypatch.setattr(AlikeReader, "read", watched_blocks)


def store_after(log: Path, folder: Path, privacy: PrivacySettings) -> tuple[dict[str, Any], dict[str, Any]]:
    store = LogStore(folder / "logs.duckdb")
    folder.mkdir()
    (folder / SALT_NAME).write_text("5a" * 32, encoding="ascii")
    report = ingest([log], store=store, privacy=privacy, workers=1)
    with store.unit() as connection:
        dissolve_packs(connection, "true")
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
        if AlikeReader is not None:
            patched.setattr(AlikeReader, "read", lambda *_: None)
        slow = store_after(log, folder / "slow", privacy)
    watched = Watched(monkeypatch)
    assert_same_store(slow, store_after(log, folder / "fast", privacy))
    return watched


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

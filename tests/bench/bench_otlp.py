"""Measure ingest of OpenTelemetry traces against ingest of the same interactions through a mapping, in one run.

Run it as `python -m tests.bench.bench_otlp [--rows 1000000]`; OTLP should make at least a third of the mapping's
interactions a second.
"""

import argparse
import json
import random
import shutil
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any

from ingest.loading import ingest
from ingest.log_store import LogStore
from ingest.settings import PrivacySettings
from ingest.worker_processes import tell_arrow_of_no_pandas
from tests.bench.bench_ingest import CHUNKS, MAPPING, Timed, ingest_once, interaction_row, timed, words

TRACES_A_LINE = 8


def pairs(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    """Return attributes in OTLP's spelling."""
    kinds = {str: "stringValue", int: "intValue", float: "doubleValue"}
    return [
        {"key": key, "value": {kinds[type(value)]: str(value) if isinstance(value, int) else value}}
        for key, value in attributes.items()
        if value is not None
    ]


def spans_of(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the chain, retriever and model span of one interaction."""
    number = int(row["request_id"][4:])
    started_ns = int(datetime.fromisoformat(row["ts"]).timestamp()) * 10**9 + number % 10**9
    common = {"session.id": row["conv"], "user.id": row["uid"]}
    documents = {
        f"retrieval.documents.{at}.document.{key}": value
        for at, chunk in enumerate(row["sources"])
        for key, value in {
            "id": chunk["chunk"],
            "content": chunk["text"],
            "score": chunk["similarity"],
            "metadata": json.dumps({"doc_id": chunk["doc"]}),
        }.items()
    }
    model = {
        "llm.model_name": row["llm"],
        "llm.prompt_template.version": row["prompt_tag"],
        "llm.token_count.prompt": row["tok_in"],
        "llm.token_count.completion": row["tok_out"],
        "llm.cost.total": row["usd"],
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": row["query"],
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": row["reply"],
    }
    said = {"input.value": row["query"], "output.value": row["reply"]}
    return [
        _span(number, 2, started_ns, {**common, "input.value": row["query"], **documents}, "RETRIEVER"),
        _span(number, 3, started_ns + 10**6, {**common, **model}, "LLM"),
        _span(number, 1, started_ns, {**common, **said}, "CHAIN"),
    ]


def _span(number: int, place: int, started_ns: int, attributes: dict[str, Any], kind: str) -> dict[str, Any]:
    ids = {"traceId": f"{number + 1:032x}", "spanId": f"{number * 4 + place:016x}"}
    parent = {"parentSpanId": f"{number * 4 + 1:016x}"} if place > 1 else {}
    times = {"startTimeUnixNano": str(started_ns), "endTimeUnixNano": str(started_ns + 5 * 10**6)}
    all_attributes = pairs({**attributes, "openinference.span.kind": kind})
    return {
        **ids,
        **parent,
        "name": kind.lower(),
        "kind": 1,
        **times,
        "attributes": all_attributes,
        "status": {"code": 1},
    }


def write_logs(folder: Path, rows: int) -> None:
    """Write the same interactions as plain JSONL and as OTLP JSON lines of eight traces each."""
    source = random.Random(7)  # noqa: S311 - made-up text
    chunks = [
        {"chunk": f"kb-{at // 5:05d}#{at % 5}", "doc": f"kb-{at // 5:05d}", "text": words(source, 45)}
        for at in range(CHUNKS)
    ]
    texts = [words(source, 12) for _ in range(5000)]
    answers = [words(source, 30) for _ in range(5000)]
    resource = {"attributes": pairs({"service.name": "support-bot"})}
    waiting: list[dict[str, Any]] = []
    with (
        (folder / "log.jsonl").open("w", encoding="utf-8") as plain,
        (folder / "otlp.jsonl").open("w", encoding="utf-8") as otlp,
    ):
        for at in range(rows):
            spoken = (texts[source.randrange(5000)], answers[source.randrange(5000)])
            scored = [{**chunk, "similarity": round(source.random(), 6)} for chunk in source.sample(chunks, 3)]
            row = interaction_row(at, spoken, scored)
            plain.write(json.dumps(row) + "\n")
            waiting.extend(spans_of(row))
            if at % TRACES_A_LINE == TRACES_A_LINE - 1 or at == rows - 1:
                scopes = [{"scope": {"name": "bench"}, "spans": waiting}]
                otlp.write(json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": scopes}]}) + "\n")
                waiting = []


def ingest_otlp(log: Path, folder: Path) -> None:
    """Ingest the traces."""
    report = ingest([log], store=LogStore(folder / "logs.duckdb"), privacy=PrivacySettings(redact=False))
    sys.stderr.write(f"  {report.summary()}\n")


def _line(name: str, step: Timed, rows: int, base: Timed) -> str:
    rate, share = rows / step.seconds, base.seconds / step.seconds
    return f"{name:32} {step.seconds:7.1f} s  {rate:9,.0f}/s  x{share:5.2f}  {step.peak_mib:6.0f} MiB\n"


def main() -> None:
    """Run the benchmark and print interactions a second, and OTLP's share of the mapping's."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=1_000_000)
    rows = options.parse_args().rows
    tell_arrow_of_no_pandas()  # as the command does
    folder = Path(tempfile.mkdtemp())
    try:
        write_logs(folder, rows)
        mapping = folder / "mapping.yaml"
        mapping.write_text(MAPPING, encoding="utf-8")
        plain = timed(lambda: ingest_once(folder / "log.jsonl", mapping, folder / "plain", redact=False))
        otlp = timed(lambda: ingest_otlp(folder / "otlp.jsonl", folder / "otlp"))
        again = timed(lambda: ingest_otlp(folder / "otlp.jsonl", folder / "otlp"))
        sizes = [(folder / name).stat().st_size / 1e6 for name in ("log.jsonl", "otlp.jsonl")]
        sys.stdout.write(f"{rows:,} interactions of three chunks: {sizes[0]:.0f} MB plain, {sizes[1]:.0f} MB OTLP\n")
        sys.stdout.write(_line("ingest through a mapping", plain, rows, plain))
        sys.stdout.write(_line("ingest of OTLP (at least 0.33)", otlp, rows, plain))
        sys.stdout.write(_line("ingest of OTLP again", again, rows, plain))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()

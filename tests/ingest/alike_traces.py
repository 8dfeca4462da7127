"""Traces as most applications write them, which have the same spans again and again."""

import json
import random
from typing import Any

from tests.ingest.test_trace_assembly import batch, span

QUESTIONS = (
    *(
        "Where is it?",
        "Wo ist es, bitte? Grüße",
        "日本語の質問",
        'two\nlines, "quoted" and \\ back',
        "refund?",
        "null",
        "",
    ),
    *('{"question": "inside?"}', '[{"role": "user", "content": "in a list"}]', " padded ", "tab\there", "\u3000wide"),
    *("mail ann@corp.example", "user-1 asks", "{not json", "redacted-by-litellm", "a slash \\/ and \u20ac"),
)
ANSWERS = ("There.", "Dort, wo Sie stehen.", 'It says "no".\n', "no", "{}", '{"answer": "that"}', "ok \U0001f600", "")


def usual_trace(source: random.Random, number: int, *, oddity: float) -> list[dict[str, Any]]:
    """Return a chain, a retriever and a model call as most applications write them, now and then with an odd value."""

    def pick(usual: str, others: tuple[str, ...]) -> str:
        return others[source.randrange(len(others))] if source.random() < oddity else usual

    question = pick(f"How do I get refund {number}?", QUESTIONS)
    answer = pick(f"Write to us, number {number}.", ANSWERS)
    whose: dict[str, Any] = {
        "trace_id": f"{number + 1:032x}",
        "session.id": pick(f"s{number // 3}", (" s1 ", "", "ann@corp.example", "é")),
        "user.id": f"user-{number % 5}",
    }
    documents: dict[str, Any] = {
        f"retrieval.documents.{rank}.document.{name}": value
        for rank in range(2 + number % 2)
        for name, value in {
            "id": pick(f"k{(number + rank) % 9}", ("k1", "é1", " k2", "")),
            "content": pick(f"passage {(number + rank) % 9} of ours", ("", 'with "quotes" and \\', "Grüße", "null")),
            "score": (number + rank) / 7 if source.random() > oddity else source.choice([1.0, 1e-7, 123456789012.5]),
            "metadata": pick('{"doc_id": "d1"}', ('{"source": "a\\"b"}', "{}", "none", '{"n": 1}')),
        }.items()
    }
    model: dict[str, Any] = {
        "llm.model_name": pick("scripted", ("unknown", " m ", "")),
        "llm.token_count.prompt": 12 + number,
        "llm.cost.total": 0.25,
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": question,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": pick(answer, ("Write to us, number", answer + " More.", "")),
    }
    texts: dict[str, Any] = {"input.value": question, "output.value": answer}
    documents["input.value"] = pick(question, ("condensed query", "refund"))
    return [
        span("2", "1", at=1, openinference__span__kind="RETRIEVER", **whose, **documents),
        span("3", "1", at=2, openinference__span__kind="LLM", **whose, **model),
        span("1", lasting=5, openinference__span__kind="CHAIN", **whose, **texts),
    ]


def as_lines(traces: list[list[dict[str, Any]]], a_line: int, **spelling: Any) -> list[bytes]:
    spans = [made for trace in traces for made in trace]
    some = (spans[first : first + a_line] for first in range(0, len(spans), a_line))
    return [json.dumps(batch(*part, service__name="bot"), **spelling).encode() for part in some]


SPELLINGS: tuple[dict[str, Any], ...] = ({}, {"ensure_ascii": False}, {"separators": (",", ":")})

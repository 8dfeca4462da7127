"""promptfoo: tests as a JSON list; facts become assertions, an out-of-scope question asserts a refusal."""

from collections.abc import Iterator
from typing import Any

from evalsets.eval_set import EvalSet
from evalsets.exchange.base import (
    EVERYTHING,
    ExchangeFormat,
    Files,
    Foreign,
    Texts,
    json_document,
    main_file,
    own,
    read_rows,
    texts_for,
    travelled,
)
from evalsets.items import Item

_OPEN, _CLOSE = "{% raw %}", "{% endraw %}"


def _literal(text: str) -> str:
    # promptfoo renders texts as templates; what looks like one must be told to stay as it is.
    return f"{_OPEN}{text}{_CLOSE}" if any(mark in text for mark in ("{{", "{%", "{#")) else text


def _plain(text: str) -> str:
    return text.removeprefix(_OPEN).removesuffix(_CLOSE) if text.startswith(_OPEN) else text


def _asserted(item: Item) -> Iterator[dict[str, Any]]:
    for fact in item.answer_facts:
        if len(fact) == 1:
            yield {"type": "icontains", "value": _literal(fact[0])}
        else:
            yield {"type": "icontains-any", "value": [_literal(one) for one in fact]}
    for phrase in item.forbidden:
        yield {"type": "not-icontains", "value": _literal(phrase)}
    if not item.is_answerable:
        yield {"type": "is-refusal"}
    elif item.expected and not item.answer_facts:
        yield {"type": "factuality", "value": _literal(item.expected)}


def _write(eval_set: EvalSet, texts: Texts) -> dict[str, bytes]:
    rows = [
        {
            "description": _literal(item.id),
            "vars": {
                "question": _literal(item.question),
                "expected": _literal(item.expected),
                # One text: a list among the variables would make promptfoo run the test once for each entry.
                "context": _literal("\n\n".join(texts_for(item, texts))),
            },
            "assert": list(_asserted(item)),
            "metadata": own(item),
        }
        for item in eval_set.items
    ]
    return {"tests.json": json_document(rows)}


def _read(files: Files) -> list[Foreign]:
    name, raw = main_file(files)
    return [_case(row) for row in read_rows(raw, name)]


def _case(row: dict[str, Any]) -> Foreign:
    given = row.get("vars") or {}
    asserted = [each for each in row.get("assert") or () if isinstance(each, dict)]
    facts: list[str | list[str]] = [_plain(each["value"]) for each in asserted if each.get("type") == "icontains"]
    facts += [[_plain(one) for one in each["value"]] for each in asserted if each.get("type") == "icontains-any"]
    return Foreign(
        question=_plain(str(given.get("question") or given.get("query") or given.get("input") or "")),
        expected=_plain(str(given.get("expected") or _factuality(asserted))),
        facts=facts,
        forbidden=[_plain(each["value"]) for each in asserted if each.get("type") == "not-icontains"],
        id=_plain(str(row.get("description") or "")),
        own=travelled(row.get("metadata")),
    )


def _factuality(asserted: list[dict[str, Any]]) -> str:
    wanted = ("factuality", "equals", "contains", "similar")
    return next((str(each.get("value") or "") for each in asserted if each.get("type") in wanted), "")


FORMAT = ExchangeFormat(
    "promptfoo", "tests.json", "promptfoo", "assertions, and vars.expected", _write, _read, EVERYTHING
)

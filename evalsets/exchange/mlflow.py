"""MLflow: records of an evaluation dataset; `expectations.expected_response` is the expected answer."""

import json
from typing import Any

from evalsets.eval_set import EvalSet, wire_item
from evalsets.exchange.base import (
    EVERYTHING,
    OWN_KEY,
    ExchangeFormat,
    Files,
    Foreign,
    Texts,
    json_document,
    main_file,
    read_rows,
    text_of,
)
from evalsets.items import Item


def _write(eval_set: EvalSet, texts: Texts) -> dict[str, bytes]:
    return {"mlflow-records.json": json_document([_record(item, texts) for item in eval_set.items])}


def _record(item: Item, texts: Texts) -> dict[str, Any]:
    gold = [{"doc_uri": id_} | ({"content": texts[id_]} if id_ in texts else {}) for id_ in item.gold_chunk_ids]
    expectations = {
        "expected_response": item.expected,
        # Only one wording fits there; the alternatives travel in the tag.
        "expected_facts": [fact[0] for fact in item.answer_facts],
        "expected_retrieved_context": gold,
    }
    return {
        "inputs": {"question": item.question},
        "expectations": {name: value for name, value in expectations.items() if value},
        # A tag holds text, so the item travels as JSON.
        "tags": {OWN_KEY: json.dumps(wire_item(item), ensure_ascii=False, sort_keys=True)},
    }


def _read(files: Files) -> list[Foreign]:
    name, raw = main_file(files)
    return [_case(row) for row in read_rows(raw, name)]


def _case(row: dict[str, Any]) -> Foreign:
    expected = row.get("expectations") or {}
    gold = expected.get("expected_retrieved_context") or ()
    return Foreign(
        question=text_of(row.get("inputs"), "question", "input", "query"),
        expected=str(expected.get("expected_response") or ""),
        gold_chunk_ids=[str(chunk["doc_uri"]) for chunk in gold if isinstance(chunk, dict) and chunk.get("doc_uri")],
        facts=[str(fact) for fact in expected.get("expected_facts") or ()],
        own=_own(row.get("tags")),
    )


def _own(tags: Any) -> dict[str, Any] | None:
    written = tags.get(OWN_KEY) if isinstance(tags, dict) else None
    try:
        found = json.loads(written) if isinstance(written, str) else written
    except json.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


FORMAT = ExchangeFormat(
    "mlflow", "mlflow-records.json", "MLflow", "expectations.expected_response", _write, _read, EVERYTHING
)

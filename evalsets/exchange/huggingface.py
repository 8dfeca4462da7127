"""Hugging Face datasets: a folder with a card and one JSON lines file a split, every row with the same columns."""

import json
from typing import Any

from evalsets.eval_set import EvalSet, wire_item
from evalsets.exchange.base import EVERYTHING, ExchangeFormat, Files, Foreign, Texts, json_lines, read_rows, texts_for
from evalsets.items import Item, Split


def _write(eval_set: EvalSet, texts: Texts) -> dict[str, bytes]:
    by_split: dict[str, list[dict[str, Any]]] = {"dev": [], "holdout": []}
    for item in eval_set.items:
        by_split[(item.split or Split.DEV).value].append(_row(item, texts))
    files = {f"data/{name}.jsonl": json_lines(rows) for name, rows in by_split.items() if rows}
    return files | {"README.md": _card(eval_set, list(files)).encode()}


def _row(item: Item, texts: Texts) -> dict[str, Any]:
    return {
        "id": item.id,
        "question": item.question,
        "expected": item.expected,
        "mode": item.mode.value,
        "gold_chunk_ids": list(item.gold_chunk_ids),
        "gold_texts": texts_for(item, texts),
        "answer_facts": [list(fact) for fact in item.answer_facts],
        "tags": list(item.tags),
        # Rows must agree on their columns, so the rest travels as one text.
        "errata": json.dumps(wire_item(item), ensure_ascii=False, sort_keys=True),
    }


def _card(eval_set: EvalSet, files: list[str]) -> str:
    splits = "".join(f"  - split: {name.split('/')[1].removesuffix('.jsonl')}\n    path: {name}\n" for name in files)
    title = json.dumps(eval_set.name, ensure_ascii=False)
    return (
        f"---\npretty_name: {title}\nconfigs:\n- config_name: default\n  data_files:\n{splits}---\n\n"
        f"# {eval_set.name}\n\nVersion {eval_set.version} of an eval set for a RAG assistant: "
        f"{len(eval_set.items)} items. "
        "`question` and `expected` are the case; `gold_chunk_ids` name the passages that hold the answer.\n"
    )


def _read(files: Files) -> list[Foreign]:
    rows = [row for name, raw in files.items() if name.endswith(".jsonl") for row in read_rows(raw, name)]
    return [
        Foreign(
            question=str(row.get("question") or ""),
            expected=str(row.get("expected") or ""),
            gold_chunk_ids=row.get("gold_chunk_ids") or (),
            facts=row.get("answer_facts") or (),
            tags=row.get("tags") or (),
            id=str(row.get("id") or ""),
            own=json.loads(row["errata"]) if row.get("errata") else None,
            fields={"mode": row["mode"]} if row.get("mode") else None,
        )
        for row in rows
    ]


FORMAT = ExchangeFormat("huggingface", "data/dev.jsonl", "Hugging Face datasets", "expected", _write, _read, EVERYTHING)

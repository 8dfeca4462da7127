"""Ragas: single-turn samples as JSON lines; `reference` is the expected answer."""

from evalsets.eval_set import EvalSet
from evalsets.exchange.base import (
    ESSENTIAL,
    ExchangeFormat,
    Files,
    Foreign,
    Texts,
    json_lines,
    main_file,
    read_rows,
    texts_for,
)


def _write(eval_set: EvalSet, texts: Texts) -> dict[str, bytes]:
    rows = [
        {
            "user_input": item.question,
            "reference": item.expected,
            "reference_context_ids": list(item.gold_chunk_ids),
            "reference_contexts": texts_for(item, texts),
        }
        for item in eval_set.items
    ]
    return {"ragas.jsonl": json_lines(rows)}


def _read(files: Files) -> list[Foreign]:
    name, raw = main_file(files)
    return [
        Foreign(
            question=str(row.get("user_input") or ""),
            expected=str(row.get("reference") or ""),
            gold_chunk_ids=[str(id_) for id_ in row.get("reference_context_ids") or ()],
        )
        for row in read_rows(raw, name)
    ]


FORMAT = ExchangeFormat("ragas", "ragas.jsonl", "Ragas", "reference", _write, _read, ESSENTIAL)

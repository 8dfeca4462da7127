"""Inspect: samples as JSON lines; `target` is the expected answer."""

from evalsets.eval_set import EvalSet
from evalsets.exchange.base import (
    EVERYTHING,
    ExchangeFormat,
    Files,
    Foreign,
    Texts,
    json_lines,
    main_file,
    own,
    read_rows,
    texts_for,
    travelled,
)


def _write(eval_set: EvalSet, texts: Texts) -> dict[str, bytes]:
    rows = [
        {
            "id": item.id,
            "input": item.question,
            "target": item.expected,
            "metadata": own(item) | {"gold_texts": texts_for(item, texts)},
        }
        for item in eval_set.items
    ]
    return {"samples.jsonl": json_lines(rows)}


def _read(files: Files) -> list[Foreign]:
    name, raw = main_file(files)
    return [
        Foreign(
            question=_text_of_input(row.get("input")),
            expected=_first(row.get("target")),
            id=str(row.get("id") or ""),
            own=travelled(row.get("metadata")),
        )
        for row in read_rows(raw, name)
    ]


def _text_of_input(value: object) -> str:
    if isinstance(value, list):
        asked = [turn.get("content") for turn in value if isinstance(turn, dict) and turn.get("role") == "user"]
        return str(asked[-1]) if asked else ""
    return str(value or "")


def _first(target: object) -> str:
    return (
        str(target[0]) if isinstance(target, list) and target else "" if isinstance(target, list) else str(target or "")
    )


FORMAT = ExchangeFormat("inspect", "samples.jsonl", "Inspect", "target", _write, _read, EVERYTHING)

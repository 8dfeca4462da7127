"""OpenAI evals: samples as JSON lines; `ideal` is the expected answer."""

from typing import Any

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
    travelled,
)


def _write(eval_set: EvalSet, _texts: Texts) -> dict[str, bytes]:
    rows = [
        {
            "input": [{"role": "user", "content": item.question}],
            "ideal": item.expected,
            "metadata": own(item),
        }
        for item in eval_set.items
    ]
    return {"samples.jsonl": json_lines(rows)}


def _read(files: Files) -> list[Foreign]:
    name, raw = main_file(files)
    return [_case(row) for row in read_rows(raw, name)]


def _case(row: dict[str, Any]) -> Foreign:
    ideal, asked = row.get("ideal"), row.get("input")
    if isinstance(asked, list):
        asked = next((turn.get("content") for turn in reversed(asked) if turn.get("role") == "user"), "")
    # Several ideal answers are alternatives: any one of them passes.
    several = [str(one) for one in ideal] if isinstance(ideal, list) else []
    return Foreign(
        question=str(asked or ""),
        expected=several[0] if several else str(ideal or ""),
        facts=[several] if len(several) > 1 else [],
        own=travelled(row.get("metadata")),
    )


FORMAT = ExchangeFormat("openai-evals", "samples.jsonl", "OpenAI evals", "ideal", _write, _read, EVERYTHING)

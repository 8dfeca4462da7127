"""LangSmith: examples as JSON lines; `outputs` is the expected answer, never what a system said."""

import uuid

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
    text_of,
    texts_for,
    travelled,
)

_NAMESPACE = uuid.UUID("6f0c6c1e-5a1d-4f7e-9d0a-5d2b0f3c9a11")


def _write(eval_set: EvalSet, texts: Texts) -> dict[str, bytes]:
    rows = [
        {
            "id": str(uuid.uuid5(_NAMESPACE, f"{eval_set.name}/{item.id}")),
            "inputs": {"question": item.question},
            "outputs": {"answer": item.expected, "contexts": texts_for(item, texts)},
            "metadata": own(item),
            "split": [item.split.value if item.split else "base"],
        }
        for item in eval_set.items
    ]
    return {"examples.jsonl": json_lines(rows)}


def _read(files: Files) -> list[Foreign]:
    name, raw = main_file(files)
    return [
        Foreign(
            question=text_of(row.get("inputs"), "question", "input", "query"),
            expected=text_of(row.get("outputs"), "answer", "output", "expected"),
            own=travelled(row.get("metadata")),
        )
        for row in read_rows(raw, name)
    ]


FORMAT = ExchangeFormat("langsmith", "examples.jsonl", "LangSmith", "outputs", _write, _read, EVERYTHING)

"""DeepEval: goldens as a JSON list; `expected_output` is the expected answer, `context` the gold texts."""

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


def _write(eval_set: EvalSet, texts: Texts) -> dict[str, bytes]:
    rows = [
        {
            "input": item.question,
            "expected_output": item.expected,
            "context": texts_for(item, texts),
            "name": item.id,
            "additional_metadata": own(item),
        }
        for item in eval_set.items
    ]
    return {"goldens.json": json_document(rows)}


def _read(files: Files) -> list[Foreign]:
    name, raw = main_file(files)
    return [
        Foreign(
            question=str(row.get("input") or ""),
            expected=str(row.get("expected_output") or ""),
            id=str(row.get("name") or ""),
            own=travelled(row.get("additional_metadata") or row.get("additionalMetadata")),
        )
        for row in read_rows(raw, name)
    ]


FORMAT = ExchangeFormat("deepeval", "goldens.json", "DeepEval", "expected_output", _write, _read, EVERYTHING)

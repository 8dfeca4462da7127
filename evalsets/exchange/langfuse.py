"""Langfuse: dataset items as JSON lines; `expectedOutput` is the expected answer."""

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


def _write(eval_set: EvalSet, texts: Texts) -> dict[str, bytes]:
    rows = [
        {
            "datasetName": eval_set.name,
            # An id is unique in a whole project there, so it names its set too.
            "id": f"{eval_set.name}:{item.id}",
            "input": {"question": item.question},
            "expectedOutput": {"answer": item.expected, "contexts": texts_for(item, texts)},
            "metadata": own(item),
        }
        for item in eval_set.items
    ]
    return {"dataset-items.jsonl": json_lines(rows)}


def _read(files: Files) -> list[Foreign]:
    name, raw = main_file(files)
    return [
        Foreign(
            question=text_of(row.get("input"), "question", "input", "query"),
            expected=text_of(row.get("expectedOutput", row.get("expected_output")), "answer", "output"),
            own=travelled(row.get("metadata")),
        )
        for row in read_rows(raw, name)
    ]


FORMAT = ExchangeFormat("langfuse", "dataset-items.jsonl", "Langfuse", "expectedOutput", _write, _read, EVERYTHING)

"""Phoenix: a dataset as its upload takes it, three lists side by side; `outputs` holds the expected answer."""

import json
from typing import Any

from evalsets.errors import BadInputError
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
    text_of,
    texts_for,
    travelled,
)


def _write(eval_set: EvalSet, texts: Texts) -> dict[str, bytes]:
    document = {
        "action": "create",
        "name": eval_set.name,
        "description": f"{eval_set.name} version {eval_set.version}, {eval_set.content_hash}".rstrip(", "),
        "inputs": [{"question": item.question} for item in eval_set.items],
        "outputs": [{"answer": item.expected, "contexts": texts_for(item, texts)} for item in eval_set.items],
        "metadata": [own(item) for item in eval_set.items],
    }
    return {"phoenix-dataset.json": json_document(document)}


def _read(files: Files) -> list[Foreign]:
    name, raw = main_file(files)
    document = json.loads(raw.decode("utf-8-sig"))
    if not isinstance(document, dict) or not isinstance(document.get("inputs"), list):
        raise BadInputError(f"{name} is no Phoenix dataset: it needs the lists inputs, outputs and metadata.")
    asked = document["inputs"]
    expected, metadata = (_as_long(document.get(key), len(asked)) for key in ("outputs", "metadata"))
    return [
        Foreign(
            question=text_of(given, "question", "input", "query"),
            expected=text_of(wanted, "answer", "output"),
            own=travelled(more),
        )
        for given, wanted, more in zip(asked, expected, metadata, strict=True)
    ]


def _as_long(values: Any, length: int) -> list[Any]:
    listed = list(values or ())
    return listed + [None] * (length - len(listed))


FORMAT = ExchangeFormat("phoenix", "phoenix-dataset.json", "Phoenix", "outputs", _write, _read, EVERYTHING)

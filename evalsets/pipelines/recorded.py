"""Recorded responses: a JSONL file with what a pipeline retrieved and answered, one line an item."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from evalsets.errors import BadInputError, FaultsError
from evalsets.items import Item
from evalsets.pipelines.base import Asked, Pipeline
from evalsets.pipelines.faults import CallFailedError
from evalsets.pipelines.native_forms import RETRIEVED_KEYS, to_answer, to_retrieved

_ID_KEYS = ("id", "item_id")


class RecordedPipeline(Pipeline):
    """Hands back what stands in the recording; an item without a line ends as an error, never as missing."""

    kind: ClassVar[str] = "recorded"
    steps = ("ask",)
    is_inline = True

    def __init__(self, path: Path, *, name: str = "") -> None:
        """Read the recording; every faulty line is named at once."""
        self.name = name or path.stem
        self._path = path
        raw = _read(path)
        self._content = hashlib.sha256(raw).hexdigest()[:16]
        self._rows = _parse(raw, path)

    def settings(self) -> dict[str, Any]:
        """Return the digest of the recording."""
        return {"recording": self._content}

    def ask(self, item: Item, k: int) -> Asked:
        """Return the recorded answer and the first `k` recorded chunks."""
        row = self._rows.get(item.id)
        if row is None:
            raise CallFailedError(f"{self._path.name} has no line with the id {item.id!r}")
        if error := row.get("error"):
            raise CallFailedError(f"recorded error: {error}")
        retrieved = to_retrieved(next((row[key] for key in RETRIEVED_KEYS if row.get(key) is not None), ()))
        first_k = retrieved._replace(chunks=retrieved.chunks[:k], natives=retrieved.natives[:k])
        return Asked(to_answer(row if "answer" in row or "response" in row else None), first_k)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInputError(f"cannot read the responses {str(path)!r}: {error.strerror}. Name a JSONL file.") from error


def _parse(raw: bytes, path: Path) -> dict[str, Mapping[str, Any]]:
    rows: dict[str, Mapping[str, Any]] = {}
    faults: list[str] = []
    # Split at line feeds alone: an answer may hold other line separators, such as U+2028.
    for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line.decode())
        except ValueError as error:
            faults.append(f"line {number}: not JSON ({error})")
            continue
        faults += _keep(row, number, rows)
    if faults:
        raise FaultsError(f"{path} has {len(faults)} faulty line(s):", faults)
    return rows


def _keep(row: Any, number: int, rows: dict[str, Mapping[str, Any]]) -> list[str]:
    item_id = next((row[key] for key in _ID_KEYS if row.get(key)), None) if isinstance(row, dict) else None
    if item_id is None:
        return [f"line {number}: no 'id'; a line is an object with id, retrieved and answer"]
    if str(item_id) in rows:
        return [f"line {number}: the id {item_id!r} stands on an earlier line too"]
    rows[str(item_id)] = row
    return []

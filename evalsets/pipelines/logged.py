"""What production answered when each case was logged: the check that failures do fail."""

from typing import Any, ClassVar

from evalsets.chunks import Chunk
from evalsets.items import Item
from evalsets.pipelines.base import Answer, Asked, Pipeline, Retrieved
from evalsets.pipelines.faults import CallFailedError


class LoggedPipeline(Pipeline):
    """Hands back the answer and chunk ids kept with each item; chunk texts come from the corpus when one is given."""

    kind: ClassVar[str] = "logged"
    steps = ("ask",)
    is_inline = True
    name = "logged"

    def __init__(self, texts: dict[str, str] | None = None) -> None:
        """Take chunk texts by id, for the metrics that read what was retrieved."""
        self._texts = texts or {}

    def settings(self) -> dict[str, Any]:
        """Return nothing: what was logged stands in the set."""
        return {}

    def ask(self, item: Item, k: int) -> Asked:
        """Return what production retrieved and answered."""
        if item.logged is None:
            raise CallFailedError(f"item {item.id!r} holds no logged answer")
        chunks = tuple(Chunk(id_, self._texts.get(id_, "")) for id_ in item.logged.retrieved_chunk_ids[:k])
        return Asked(Answer(item.logged.answer), Retrieved(chunks, "chunk"))

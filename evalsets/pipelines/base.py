"""What every pipeline is to the runner: named steps over an item, a fingerprint, and what a step hands back."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from evalsets.chunks import Chunk
from evalsets.items import Item


class Retrieved(NamedTuple):
    """What a pipeline retrieved: chunks in rank order, and the same in its own form to hand on to `answer`."""

    chunks: tuple[Chunk, ...]
    form: str = "chunk"
    """Which form the pipeline's own chunks had: chunk, id, dict, langchain or llamaindex."""
    natives: tuple[Any, ...] = ()


class Answer(NamedTuple):
    """What a pipeline answered; counts and cost as the pipeline itself reports them, None when it does not."""

    text: str
    cited_ids: tuple[str, ...] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    latency_s: float | None = None
    """The latency a recording or an endpoint states; measured by the runner when None."""


class Asked(NamedTuple):
    """What one `ask` returned: both halves at once."""

    answer: Answer
    retrieved: Retrieved


class Pipeline(ABC):
    """A system under evaluation.

    Either `retrieve` then `answer`, or one `ask`; `steps` says which. A step may be a plain or an async method: the
    runner awaits the one and runs the other on its thread pool, unless `is_inline` says that it is quick enough to run
    in place. A step raises a CallFailedError (or anything else) when it fails.
    """

    kind: ClassVar[str]
    steps: tuple[str, ...] = ("retrieve", "answer")
    is_inline: bool = False
    name: str = ""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Return what the fingerprint is made of: JSON-ready, without secrets."""

    @property
    def fingerprint(self) -> str:
        """Return a short digest of kind and settings: two runs with the same one called the same pipeline."""
        return digest({"kind": self.kind, **self.settings()})

    def retrieve(self, item: Item, k: int) -> Any:
        """Return Retrieved for the item's question, at most `k` chunks wanted."""
        raise NotImplementedError

    def answer(self, item: Item, retrieved: Retrieved) -> Any:
        """Return the Answer to the item's question over what was retrieved."""
        raise NotImplementedError

    def ask(self, item: Item, k: int) -> Any:
        """Return Asked: answer and retrieved chunks from one call."""
        raise NotImplementedError

    async def close(self) -> None:  # noqa: B027 - most pipelines hold nothing to release
        """Release connections."""


def digest(value: Any) -> str:
    """Return the first 16 hex digits of the SHA-256 of a JSON-ready value."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def chunk_ids(chunks: Sequence[Chunk]) -> tuple[str, ...]:
    """Return the ids of chunks in rank order."""
    return tuple(chunk.chunk_id for chunk in chunks)

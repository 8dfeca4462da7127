"""Cases the metric tests score, made from the few fields that matter to each."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from evalsets.chunks import Chunk
from evalsets.items import Item, Mode, Source
from evalsets.metrics.base import ScoredCase


def item(**fields: Any) -> Item:
    essential = {
        "id": "one",
        "question": "How long?",
        "mode": Mode.RETRIEVAL_MISS,
        "added_on": date(2026, 11, 1),
        "source": Source.PRODUCTION,
    }
    return Item.model_validate({**essential, **fields})


def chunks(*ids: str, text: str = "") -> tuple[Chunk, ...]:
    return tuple(Chunk(chunk_id, text) for chunk_id in ids)


def ranked(retrieved: Sequence[str], gold: Sequence[str]) -> ScoredCase:
    return ScoredCase(item=item(gold_chunk_ids=tuple(gold)), retrieved=chunks(*retrieved))


def answered(answer: str | None, *, texts: Sequence[str] = (), **fields: Any) -> ScoredCase:
    retrieved = tuple(Chunk(f"c{position}", text) for position, text in enumerate(texts))
    return ScoredCase(item=item(**fields), retrieved=retrieved, answer=answer)
